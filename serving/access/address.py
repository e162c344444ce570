"""Where a request comes from, proxies considered; what a browser says its page's origin is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import Scope as AsgiScope

from knowledge.errors import InputError

Network = IPv4Network | IPv6Network
_LOCAL_NAMES = {"localhost", "127.0.0.1", "[::1]"}
_FORWARDING = ("x-forwarded-for", "forwarded", "x-real-ip", "via")


@dataclass(frozen=True)
class Address:
    """A client's address. `local`: a program or browser on this very machine, with no proxy between and no
    foreign host name (a rebound DNS name would bring one). `by_proxy`: a trusted proxy says so."""

    host: str
    local: bool
    by_proxy: bool


def networks(names: Sequence[str]) -> tuple[Network, ...]:
    """Addresses and networks of `TRUSTED_PROXIES`. Raises `InputError`."""
    try:
        return tuple(ip_network(name, strict=False) for name in names)
    except ValueError as error:
        raise InputError("TRUSTED_PROXIES", ", ".join(names), f"addresses or networks: {error}") from None


def address_of(scope: AsgiScope, proxies: Sequence[Network]) -> Address:
    """The client of a request. `X-Forwarded-For` counts only when a trusted proxy wrote it: of its addresses
    the last one that is no trusted proxy."""
    headers = Headers(scope=scope)
    peer = (scope.get("client") or ("", 0))[0]
    if not _within(peer, proxies):
        forwarded = any(name in headers for name in _FORWARDING)
        return Address(peer, not forwarded and _is_loopback(peer) and _local_host(headers), by_proxy=False)
    chain = [part.strip() for part in ",".join(headers.getlist("x-forwarded-for")).split(",") if part.strip()]
    client = next((part for part in reversed(chain) if not _within(part, proxies)), peer)
    return Address(client, local=False, by_proxy=True)


def own_origins(scope: AsgiScope, public_url: str) -> frozenset[str]:
    """Origins that are this service itself, as a browser on its pages would send them."""
    if public_url:
        return frozenset({"/".join(public_url.split("/")[:3]).lower()})
    host = Headers(scope=scope).get("host", "").lower()
    return frozenset({f"http://{host}", f"https://{host}"})


def _local_host(headers: Headers) -> bool:
    host = headers.get("host", "").lower()
    name = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
    return name in _LOCAL_NAMES


def _is_loopback(text: str) -> bool:
    try:
        return ip_address(text).is_loopback
    except ValueError:
        return False


def _within(text: str, proxies: Sequence[Network]) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return any(address in network for network in proxies)
