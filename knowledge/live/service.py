"""The way to the API: endpoint, credentials, one signed call through the official SDK, retries."""

from __future__ import annotations

import ipaddress
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from alibabacloud_credentials.client import Client as Credentials
from alibabacloud_credentials.exceptions import CredentialException
from alibabacloud_ecs20140526.client import Client
from alibabacloud_tea_openapi.exceptions import AlibabaCloudException
from alibabacloud_tea_openapi.utils import Utils
from alibabacloud_tea_openapi.utils_models import Config, OpenApiRequest, Params
from darabonba.model import DaraModel
from darabonba.runtime import RuntimeOptions
from Tea.exceptions import TeaException
from tenacity import RetryCallState, Retrying, retry_if_exception, wait_exponential_jitter

from knowledge.errors import InputError
from knowledge.live.faults import Fault, fault_of

# A limit that was hit opens again within the next minute: waits of 1, 2, 4 … 32 s outlast it.
_ATTEMPTS = {"throttled": 7, "unreachable": 3}
_BACKOFF = wait_exponential_jitter(initial=1, max=32, jitter=1)
_LONGEST_WAIT_S = 120.0
_KEY_HELP = (
    "set ALIBABA_CLOUD_ACCESS_KEY_ID and ALIBABA_CLOUD_ACCESS_KEY_SECRET, or a profile of the aliyun command"
    " line; see docs/live-refresh.md"
)


@dataclass(frozen=True)
class Endpoint:
    """Where the API answers; an empty host is the official endpoint of each region."""

    host: str = ""
    protocol: str = "https"


OFFICIAL = Endpoint()


@dataclass(frozen=True)
class Api:
    """An interface of the vendor: its version, how it is asked, and its hosts where they follow no rule."""

    version: str
    method: str
    host_in_china: str = ""  # "": one endpoint for each region
    host_abroad: str = ""


ECS = Api("2014-05-26", "POST")
BILLING = Api("2017-12-14", "GET", "business.aliyuncs.com", "business.ap-southeast-1.aliyuncs.com")


def endpoint_of(text: str) -> Endpoint:
    """An endpoint from a host or URL. `InputError`: plain http is for a server on this machine only."""
    try:
        parts = urlsplit(text if "//" in text else f"https://{text}")
        port = parts.port
    except ValueError:
        raise InputError("endpoint", text, "a host, or https://host[:port]") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or "@" in text:
        raise InputError("endpoint", text, "a host, or https://host[:port]")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise InputError("endpoint", text, "https: plain http would show the request to others")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return Endpoint(f"{host}:{port}" if port else host, parts.scheme)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Service:
    """Signed calls with the credentials of the SDK's default chain (environment, profile files, role).

    Passing trouble is retried with growing pauses; what stays wrong is raised as a `Fault`. Wrong or missing
    credentials are an `InputError`. Keys stay inside the SDK: they are neither kept nor written anywhere.
    """

    def __init__(
        self,
        endpoint: Endpoint = OFFICIAL,
        credentials: Credentials | None = None,
        timeout_s: float = 20.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        _quiet_sdk()
        self._endpoint = endpoint
        self._credentials = credentials or Credentials()
        self._runtime = RuntimeOptions(
            connect_timeout=round(min(timeout_s, 5.0) * 1000), read_timeout=round(timeout_s * 1000)
        )
        self._sleep = sleep
        self._clients: dict[tuple[str, Api], Client] = {}

    def check_credentials(self) -> None:
        """Raises `InputError` where no credentials are configured; whether they are right is not asked."""
        try:
            self._credentials.get_credential()
        except (CredentialException, TeaException, ValueError, OSError):
            raise InputError("credentials", "none found", _KEY_HELP) from None

    def call(
        self, action: str, region: str, request: DaraModel | dict[str, object], api: Api = ECS
    ) -> dict[str, object]:
        """The answer of one action, as the API wrote it, unknown fields included."""
        retrying = Retrying(
            sleep=self._sleep,
            wait=_pause,
            stop=_enough,
            retry=retry_if_exception(lambda error: isinstance(error, Fault) and error.kind in _ATTEMPTS),
            reraise=True,
        )
        try:
            return retrying(self._once, action, region, request, api)
        except Fault as fault:
            if fault.kind == "credentials":
                raise InputError("credentials", "(not shown)", _refusal(fault)) from None
            raise

    def _once(
        self, action: str, region: str, request: DaraModel | dict[str, object], api: Api
    ) -> dict[str, object]:
        params = Params(
            action=action,
            version=api.version,
            protocol="HTTPS",
            pathname="/",
            method=api.method,
            auth_type="AK",
            style="RPC",
            req_body_type="formData",
            body_type="json",
        )
        fields = request if isinstance(request, dict) else request.to_map()
        query = OpenApiRequest(query=Utils.query(fields))
        try:
            body = self._client(region, api).call_api(params, query, self._runtime)["body"]
        except AlibabaCloudException as error:
            raise fault_of(str(error.code), error.status_code or 0, error.retry_after) from None
        except TeaException as error:
            # The SDK wraps whatever happened on the way, a timeout as well as a page that is no JSON.
            slow = "timed out" in str(error)
            raise Fault("unreachable", "timed out" if slow else "no readable answer") from None
        if not isinstance(body, dict):
            raise Fault("unreachable", "no readable answer")
        if body.get("Success") is False:  # the billing interface refuses with status 200
            raise fault_of(str(body.get("Code", "")), 200)
        return body

    def _client(self, region: str, api: Api) -> Client:
        if (region, api) not in self._clients:
            config = Config(
                credential=self._credentials,
                region_id=region,
                endpoint=self._host(region, api) or None,
                protocol=self._endpoint.protocol,
            )
            self._clients[region, api] = Client(config)
        return self._clients[region, api]

    def _host(self, region: str, api: Api) -> str:
        """A server on this machine stands in for every interface; another host named is one of ECS."""
        if api.host_in_china and self._endpoint.protocol == "https":
            return api.host_in_china if region.startswith("cn-") else api.host_abroad
        return self._endpoint.host


def _refusal(fault: Fault) -> str:
    if fault.what.startswith("InvalidTimeStamp"):
        return f"the service refused the signature ({fault.what}): is the clock of this machine right?"
    return f"the service refused them ({fault.what}); {_KEY_HELP}"


def _fault(state: RetryCallState) -> Fault:
    error = state.outcome.exception() if state.outcome is not None else None
    assert isinstance(error, Fault)  # only faults are retried
    return error


def _pause(state: RetryCallState) -> float:
    told = _fault(state).retry_after_s
    return _BACKOFF(state) if told is None else min(told, _LONGEST_WAIT_S)


def _enough(state: RetryCallState) -> bool:
    return state.attempt_number >= _ATTEMPTS[_fault(state).kind]


def _quiet_sdk() -> None:
    """The SDK's own loggers write to stderr: with DEBUG=sdk whole requests, signature and token included."""
    for name in ("darabonba-core", "credentials", "alibabacloud-tea"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
