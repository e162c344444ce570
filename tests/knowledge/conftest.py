"""Fixtures of the live data: the loopback service and a client of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from knowledge.catalog import Catalog
from knowledge.live.overlay import Overlay
from knowledge.live.reports import SyncReport
from tests.knowledge.ecs_server import KEY_ID, KEY_SECRET, EcsServer

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
Refresh = Callable[..., SyncReport]
PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EcsServer]:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)  # the SDK would send loopback calls there too
    running = EcsServer()
    yield running
    running.close()


@pytest.fixture
def pauses() -> list[float]:
    """Seconds that the client would have waited between tries."""
    return []


@pytest.fixture
def ecs(server: EcsServer, pauses: list[float]):
    return client(server, pauses)


def client(
    server: EcsServer,
    pauses: list[float],
    key_id: str = KEY_ID,
    secret: str = KEY_SECRET,
    timeout_s: float = 5,
):
    """The real SDK, pointed at the loopback server."""
    from alibabacloud_credentials.models import Config

    from knowledge.live.ecs import Ecs
    from knowledge.live.service import Credentials, Endpoint, Service

    keys = Credentials(Config(type="access_key", access_key_id=key_id, access_key_secret=secret))
    return Ecs(Service(Endpoint(server.host, "http"), keys, timeout_s=timeout_s, sleep=pauses.append))


@pytest.fixture
def refresh(ecs, tmp_path: Path, catalog: Catalog) -> Refresh:
    """A refresh of one family in one region; the clock stands at noon unless told otherwise."""
    from knowledge.live.plan import wish_of
    from knowledge.live.store import Store
    from knowledge.live.sync import sync

    def run(
        *only: str,
        purchase=("payg",),
        region=("cn-hangzhou",),
        family="gn7e",
        at=NOON,
        api=ecs,
        force=False,
        account_prices=False,
    ):
        wish = wish_of(catalog, region, (family,) if family else (), only, purchase)
        with Store(tmp_path) as store:
            return sync(api, store, catalog, wish, now=lambda: at, force=force, account_prices=account_prices)

    return run


@pytest.fixture
def live(tmp_path: Path) -> Catalog:
    """A catalog that reads the overlay of the test, every time anew."""
    catalog = Catalog()
    catalog.live = Overlay(tmp_path, check_every_s=0)
    return catalog
