"""A loopback server that speaks the wire format of ECS: signed RPC calls in, JSON out, faults on demand."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

KEY_ID, KEY_SECRET = "LTAI5tLoopbackKeyOfTests", "loopbackSecretOfTests0123456789"
A100, TWO_A100 = "ecs.gn7e-c16g1.4xlarge", "ecs.gn7e-c16g1.8xlarge"
ZONE = "cn-hangzhou-i"
Query = dict[str, str]


@dataclass
class Reply:
    """One scripted reply: a JSON object, or raw bytes; after a delay if wanted."""

    status: int = 200
    body: dict[str, Any] | bytes = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


def refusal(status: int, code: str, **headers: str) -> Reply:
    """An error as ECS words it; the prose names the key, as the real one does for a wrong key."""
    body = {"Code": code, "Message": f"The key {KEY_ID} did not do.", "RequestId": "1234-5678"}
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


class EcsServer:
    """What the fake service sells, which faults it plays, and what it was asked."""

    def __init__(self) -> None:
        self.answers = self.truths()
        self.faults: dict[str, deque[Reply]] = defaultdict(deque)  # played before the answers, by action
        self.calls: list[tuple[str, Query]] = []
        self.delay_s = 0.0
        self._http = _Http(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    @staticmethod
    def truths() -> dict[str, Callable[[Query], dict[str, Any]]]:
        """A plain answer to every question."""
        return {
            "DescribeRegions": lambda query: regions("cn-hangzhou", "ap-southeast-1"),
            "DescribeInstanceTypes": lambda query: gpu_types(A100, TWO_A100),
            "DescribePrice": lambda query: price(query, "35.1"),
            "DescribeAvailableResource": lambda query: stock(query["InstanceType"], {ZONE: "WithStock"}),
            "DescribeSpotPriceHistory": lambda query: spot(query, [(ZONE, "2026-11-30T08:00:00Z", 7.1)]),
            "DescribeSpotAdvice": lambda query: {"AvailableSpotZones": {"AvailableSpotZone": []}},
            "QuerySavingsPlansDiscount": lambda query: discount("0.62"),
        }

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._http.server_address[1]}"

    def asked(self, action: str) -> list[Query]:
        return [query for name, query in self.calls if name == action]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def reply(self, action: str, query: Query, signed: bool) -> Reply:
        self.calls.append((action, query))
        if not signed:
            return refusal(400, "SignatureDoesNotMatch")
        if self.faults[action]:
            return self.faults[action].popleft()
        answer = self.answers[action](query)
        return answer if isinstance(answer, Reply) else Reply(200, answer)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # one packet a reply: without it every call waits 40 ms for an acknowledgement

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                query = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
                reply = server.reply(self.headers["x-acs-action"], query, _is_signed(self))
                time.sleep(reply.delay_s or server.delay_s)
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                self.send_header("content-type", "application/json;charset=utf-8")
                self.send_header("content-length", str(len(body)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST  # billing is asked with GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


class _Http(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that time out or are killed are part of the play."""


def _is_signed(request: BaseHTTPRequestHandler) -> bool:
    """Whether the ACS3-HMAC-SHA256 signature is that of the test key (as the SDK's signing rules say)."""
    match = re.fullmatch(
        r"ACS3-HMAC-SHA256 Credential=([^,]+),SignedHeaders=([^,]+),Signature=(\w+)",
        request.headers.get("authorization", ""),
    )
    if match is None or match[1] != KEY_ID:
        return False
    pairs = sorted(parse_qsl(urlsplit(request.path).query, keep_blank_values=True))
    query = "&".join(f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in pairs)
    headers = "".join(f"{name}:{request.headers[name].strip()}\n" for name in match[2].split(";"))
    canonical = (
        f"{request.command}\n/\n{query}\n{headers}\n{match[2]}\n{request.headers['x-acs-content-sha256']}"
    )
    to_sign = "ACS3-HMAC-SHA256\n" + hashlib.sha256(canonical.encode()).hexdigest()
    wanted = hmac.new(KEY_SECRET.encode(), to_sign.encode(), hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted, match[3])


# Answers, shaped as the service shapes them


def regions(*names: str) -> dict[str, Any]:
    return {"Regions": {"Region": [{"RegionId": name, "LocalName": name.title()} for name in names]}}


def gpu_types(*names: str, token: str = "", **changes: object) -> dict[str, Any]:
    base = {"CpuCoreCount": 8, "MemorySize": 30.0, "GPUAmount": 1, "GPUSpec": "NVIDIA A100", **changes}
    rows = [
        {**base, "InstanceTypeId": name, "InstanceTypeFamily": f"ecs.{name.split('.')[1].split('-')[0]}"}
        for name in names
    ]
    return {"InstanceTypes": {"InstanceType": rows}, "NextToken": token, "RequestId": "r"}


def price(query: Query, amount: str, currency: str = "CNY", discount: float = 0.0) -> dict[str, Any]:
    """An instance at `amount`, with a system disk of 0.08 in the total."""
    original = float(amount)
    trade = round(original - discount, 6)
    details = [
        {"Resource": "systemDisk", "OriginalPrice": 0.08, "DiscountPrice": 0, "TradePrice": 0.08},
        {
            "Resource": "instanceType",
            "OriginalPrice": original,
            "DiscountPrice": discount,
            "TradePrice": trade,
            "SubRules": {"Rule": []},
        },
    ]
    total = {
        "Currency": currency,
        "OriginalPrice": original + 0.08,
        "DiscountPrice": discount,
        "TradePrice": trade + 0.08,
        "DetailInfos": {"DetailInfo": details},
    }
    return {"PriceInfo": {"Price": total, "Rules": {"Rule": []}}, "RequestId": "r"}


def stock(name: str, zones: dict[str, str]) -> dict[str, Any]:
    """Zones with the status category of the type in each; another type stands beside it."""
    return {
        "AvailableZones": {
            "AvailableZone": [
                {
                    "ZoneId": zone,
                    "RegionId": zone[:-2],
                    "Status": "Available",
                    "AvailableResources": {
                        "AvailableResource": [
                            {
                                "Type": "InstanceType",
                                "SupportedResources": {
                                    "SupportedResource": [
                                        _supported("ecs.other.large", "WithStock"),
                                        _supported(name, category),
                                    ]
                                },
                            }
                        ]
                    },
                }
                for zone, category in zones.items()
            ]
        }
    }


def _supported(name: str, category: str) -> dict[str, Any]:
    status = "SoldOut" if "Without" in category else "Available"
    return {"Value": name, "Status": status, "StatusCategory": category}


def spot(query: Query, points: list[tuple[str, str, float]], next_offset: int = 0) -> dict[str, Any]:
    rows = [
        {
            "ZoneId": zone,
            "InstanceType": query["InstanceType"],
            "SpotPrice": amount,
            "OriginPrice": 35.1,
            "Timestamp": at,
            "NetworkType": "vpc",
            "IoOptimized": "optimized",
        }
        for zone, at, amount in points
    ]
    return {"Currency": "CNY", "NextOffset": next_offset, "SpotPrices": {"SpotPriceType": rows}}


def discount(rate: str) -> dict[str, Any]:
    """The share that a savings plan leaves to pay, as text; the code beside a success means nothing."""
    item = {"CommodityName": "ECS", "ModuleName": "instance", "DiscountRate": rate}
    return {"Success": True, "Code": "PARAM_ERROR", "Data": {"HostId": "h", "Items": [item]}}
