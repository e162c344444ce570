"""Who may call: open loopback, keys, scopes, proxies, sessions, visits, rates, origins."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from knowledge.errors import InputError
from serving.__main__ import app as cli
from serving.access.keys import SCOPES, create_key, find_key, list_keys, revoke_key
from serving.access.rates import Allowance, take
from serving.access.sites import add_site, covers, origin_of, remove_site
from serving.access.tokens import Signer
from serving.store import Store

Call = Callable[..., httpx.Response]
Make = Callable[..., FastAPI]
GPU = {"json": {"name": "A10"}}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


# The open door


def test_loopback_is_open_while_no_key_exists_and_closes_with_the_first(
    make_api: Make, call: Call, store: Store
) -> None:
    app = make_api()
    assert call(app, "POST", "/api/v1/gpu", **GPU).status_code == 200
    key = create_key(store, "desk", ["chat", "tools"])
    assert call(app, "POST", "/api/v1/gpu", **GPU).status_code == 401
    assert call(app, "POST", "/api/v1/gpu", headers=bearer(key), **GPU).status_code == 200
    revoke_key(store, list_keys(store)[0].id)
    assert call(app, "POST", "/api/v1/gpu", **GPU).status_code == 401, "the door must not open again"


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("another machine", {"address": "192.168.1.9"}),
        ("a visitor behind a proxy on this machine", {"headers": {"X-Forwarded-For": "203.0.113.9"}}),
        ("a rebound DNS name", {"base_url": "http://evil.example"}),
        ("a page of another origin", {"headers": {"Origin": "https://evil.example"}}),
    ],
)
def test_the_open_door_is_for_this_machine_only(
    make_api: Make, call: Call, what: str, options: dict[str, Any]
) -> None:
    reply = call(make_api(), "POST", "/api/v1/gpu", **GPU, **options)
    assert reply.status_code == 401, what
    assert reply.headers["www-authenticate"] == "Bearer"


def test_an_openai_client_with_any_key_works_on_open_loopback(make_api: Make, call: Call) -> None:
    assert call(make_api(), "GET", "/v1/models", headers=bearer("sk-anything")).status_code == 200


def test_access_open_is_for_everybody_but_metrics(make_api: Make, call: Call) -> None:
    app = make_api(access="open")
    assert call(app, "POST", "/api/v1/gpu", address="203.0.113.5", **GPU).status_code == 200
    assert call(app, "GET", "/metrics", address="203.0.113.5").status_code == 403


def test_health_needs_no_key(make_api: Make, call: Call, store: Store) -> None:
    create_key(store, "desk", ["chat"])
    app = make_api()
    for path in ("/healthz", "/readyz", "/openapi.json", "/api/docs", "/embed.js"):
        assert call(app, "GET", path, address="203.0.113.5").status_code == 200, path


# Keys


def test_a_key_is_kept_as_a_hash_only(store: Store) -> None:
    key = create_key(store, "desk", ["chat"])
    secret = key.split("_", 2)[2]
    content = b"".join(path.read_bytes() for path in Path(store.engine.url.database).parent.glob("desk.db*"))
    assert secret.encode() not in content
    assert find_key(store, key).name == "desk"
    assert find_key(store, f"{key[:-1]}{'a' if key[-1] != 'a' else 'b'}") is None


@pytest.mark.parametrize("scope", SCOPES)
def test_a_key_opens_its_scopes_and_no_other(make_api: Make, call: Call, store: Store, scope: str) -> None:
    app = make_api()
    headers = bearer(create_key(store, scope, [scope]))
    requests = {
        "chat": ("POST", "/v1/chat/completions", {"json": {"messages": [{"role": "user", "content": "x"}]}}),
        "tools": ("POST", "/api/v1/gpu", GPU),
        "metrics": ("GET", "/metrics", {}),
        "page": ("GET", "/", {}),
    }
    for name, (method, path, options) in requests.items():
        status = call(app, method, path, headers=headers, **options).status_code
        assert (status == 403) is (name != scope), f"{scope} key on {path}: {status}"


def test_a_key_ends_at_its_day(make_api: Make, call: Call, store: Store) -> None:
    headers = bearer(create_key(store, "short", ["tools"], days=-1))
    reply = call(make_api(), "POST", "/api/v1/gpu", headers=headers, **GPU)
    assert reply.status_code == 401


def test_an_unknown_scope_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="scope"):
        create_key(store, "desk", ["root"])


def test_keys_are_made_listed_and_revoked_by_the_command_line() -> None:
    def run(*words: str) -> str:
        done = CliRunner().invoke(cli, words, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output.strip()

    key = run("keys", "create", "desk", "--scope", "chat", "--days", "30")
    assert re.fullmatch(r"gsa_[0-9a-f]{12}_\S{40,}", key)
    assert key.split("_", 2)[2] not in run("keys", "list")
    run("keys", "revoke", key.split("_")[1])
    assert "revoked" in run("keys", "list")
    tag = run("sites", "add", "Desk", "--origin", "https://desk.example")
    assert re.fullmatch(r'<script src="http://127.0.0.1:7860/embed.js\?site=site_\w+" async></script>', tag)


# Proxies, sessions


def test_a_trusted_proxy_may_name_the_user_and_nobody_else(make_api: Make, call: Call, store: Store) -> None:
    create_key(store, "closed", ["chat"])
    app = make_api(trusted_proxies=("10.0.0.0/8",), identity_header="X-Remote-User")
    headers = {"X-Remote-User": "li", "X-Forwarded-For": "203.0.113.9"}
    assert call(app, "POST", "/api/v1/gpu", address="10.1.2.3", headers=headers, **GPU).status_code == 200
    assert call(app, "POST", "/api/v1/gpu", address="203.0.113.7", headers=headers, **GPU).status_code == 401


def test_a_forged_address_does_not_escape_the_limit_by_address(make_api: Make, call: Call) -> None:
    app = make_api(access="open", rate_per_address=5, trusted_proxies=("10.0.0.1",))
    statuses = [
        call(app, "POST", "/api/v1/gpu", address="10.0.0.1", headers=headers, **GPU).status_code
        for headers in ({"X-Forwarded-For": f"198.51.100.{number}, 203.0.113.9"} for number in range(8))
    ]
    assert statuses.count(429) >= 2


def test_the_page_asks_for_a_login_and_the_session_ends_with_its_key(
    make_api: Make, call: Call, store: Store
) -> None:
    app = make_api()
    key = create_key(store, "li", ["page"])
    asked = call(app, "GET", "/", headers={"Accept": "text/html"})
    assert (asked.status_code, asked.headers["location"]) == (303, "/login?next=/")
    assert call(app, "POST", "/login", data={"key": "gsa_000000000000_nonsense"}).status_code == 401
    reply = call(app, "POST", "/login?next=/%2F/evil.example", data={"key": key})
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    headers = {"Cookie": cookie.partition(";")[0]}
    assert call(app, "GET", "/", headers=headers).status_code == 404, "let in: there is no page in this test"
    foreign = {**headers, "Origin": "https://evil.example"}
    assert call(app, "POST", "/gradio_api/queue/join", headers=foreign).status_code == 401
    revoke_key(store, list_keys(store)[0].id)
    assert call(app, "GET", "/", headers=headers).status_code == 401


# Visits


def visit(call: Call, app: FastAPI, site: str, origin: str, **body: str) -> httpx.Response:
    return call(
        app,
        "POST",
        "/api/v1/visits",
        json={"site": site, **body},
        headers={"Origin": origin},
        address="198.51.100.1",
    )


def test_a_site_key_becomes_a_short_visit_bound_to_the_origin(
    make_api: Make, call: Call, ask: Call, store: Store
) -> None:
    app = make_api()
    site = add_site(store, "Desk", ["https://desk.example"])
    given = visit(call, app, site.key, "https://desk.example")
    assert given.status_code == 201
    assert given.json()["expires_in"] <= 900
    assert given.headers["access-control-allow-origin"] == "https://desk.example"
    token = bearer(given.json()["token"])
    at = {"address": "198.51.100.1"}
    assert ask(app, "hi", headers={**token, "Origin": "https://desk.example"}, **at).status_code == 200
    assert ask(app, "hi", headers={**token, "Origin": "http://127.0.0.1:7860"}, **at).status_code == 200, (
        "the frame"
    )
    assert ask(app, "hi", headers={**token, "Origin": "https://evil.example"}, **at).status_code == 401
    assert ask(app, "hi", headers=token, **at).status_code == 401, "not a browser"
    tools = call(app, "POST", "/api/v1/gpu", headers={**token, "Origin": "https://desk.example"}, **at, **GPU)
    assert tools.status_code == 403, "a visit is for the chat alone"


def test_a_foreign_page_gets_no_visit(make_api: Make, call: Call, store: Store) -> None:
    app = make_api()
    site = add_site(store, "Desk", ["https://desk.example", "https://*.shop.example"])
    assert visit(call, app, site.key, "https://evil.example").status_code == 403
    assert visit(call, app, site.key, "https://shop.example.evil.com").status_code == 403
    assert visit(call, app, site.key, "null").status_code == 403
    assert visit(call, app, "site_unknown", "https://desk.example").status_code == 403
    frame = "http://127.0.0.1:7860"
    assert visit(call, app, site.key, frame, embedder="https://evil.example").status_code == 403
    assert visit(call, app, site.key, frame, embedder="https://a.shop.example").status_code == 201
    remove_site(store, site.key)
    assert visit(call, app, site.key, "https://desk.example").status_code == 403


def test_only_the_site_may_hold_the_frame(make_api: Make, call: Call, store: Store) -> None:
    app = make_api(frame_ancestors=("https://intranet.example",))
    site = add_site(store, "Desk", ["https://desk.example", "https://*.shop.example"])
    framed = call(app, "GET", f"/embed?site={site.key}").headers["content-security-policy"]
    assert framed.endswith("frame-ancestors https://desk.example https://*.shop.example")
    own = call(app, "GET", "/embed").headers["content-security-policy"]
    assert own.endswith("frame-ancestors 'self' https://intranet.example")
    unknown = call(app, "GET", "/embed?site=site_no")
    assert unknown.status_code == 404
    assert unknown.headers["content-security-policy"].endswith("frame-ancestors 'none'")


@given(st.text(max_size=60))
def test_no_text_is_a_token(text: str) -> None:
    signer = Signer(b"secret")
    assert signer.read("visit", text) is None
    assert signer.read("visit", f"visit.{text}") is None


def test_a_token_ends_and_is_worth_nothing_for_another_purpose_or_secret() -> None:
    signer = Signer(b"secret")
    token = signer.sign("visit", {"site": "a"}, now=1000)
    assert signer.read("visit", token, now=1899)["site"] == "a"
    assert signer.read("visit", token, now=1901) is None
    assert signer.read("session", token, now=1001) is None
    assert Signer(b"other").read("visit", token, now=1001) is None
    assert signer.read("visit", token.replace("visit.", "visit.e", 1), now=1001) is None


@pytest.mark.parametrize(
    ("pattern", "origin", "allowed"),
    [
        ("https://desk.example", "https://desk.example", True),
        ("https://desk.example", "http://desk.example", False),
        ("https://*.desk.example", "https://a.b.desk.example", True),
        ("https://*.desk.example", "https://desk.example", False),
        ("https://*.desk.example", "https://evil.com/.desk.example", False),
        ("https://*.desk.example", "https://xdesk.example", False),
    ],
)
def test_a_wildcard_covers_hosts_below_and_nothing_else(pattern: str, origin: str, allowed: bool) -> None:
    assert covers(pattern, origin) is allowed


@pytest.mark.parametrize(
    "text", ["*", "desk.example", "https://", "https://a/b", "https://u@a", "ftp://a", "https://*"]
)
def test_an_origin_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="origin"):
        origin_of(text, "origin")


def test_an_origin_has_one_form() -> None:
    assert origin_of("HTTPS://Desk.Example:443/", "origin") == "https://desk.example"
    assert origin_of("http://[::1]:9000", "origin") == "http://[::1]:9000"


# CORS, rates, headers


def test_only_listed_origins_may_read_replies(make_api: Make, call: Call, store: Store) -> None:
    app = make_api(cors_origins=("https://tool.example",))
    add_site(store, "Desk", ["https://desk.example"])
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    for origin, allowed in (
        ("https://tool.example", True),
        ("https://desk.example", True),
        ("https://evil.example", False),
    ):
        reply = call(app, "OPTIONS", "/api/v1/chat", headers={"Origin": origin, **asked})
        assert (reply.headers.get("access-control-allow-origin") == origin) is allowed


def test_a_caller_who_asks_too_often_is_told_when_to_come_again(
    make_api: Make, call: Call, store: Store
) -> None:
    app = make_api(rate_per_key=6)
    headers = bearer(create_key(store, "desk", ["tools"]))
    replies = [call(app, "POST", "/api/v1/gpu", headers=headers, **GPU) for _ in range(7)]
    assert [reply.status_code for reply in replies].count(200) == 5
    assert 1 <= int(replies[-1].headers["retry-after"]) <= 11
    other = bearer(create_key(store, "other", ["tools"]))
    assert call(app, "POST", "/api/v1/gpu", headers=other, **GPU).status_code == 200, "others are not held up"


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(0, 5), min_size=1, max_size=40), st.integers(5, 600))
def test_no_pattern_of_calls_gets_more_than_the_rate_and_its_burst(
    store: Store, pauses: list[float], per_minute: int
) -> None:
    bucket = f"{time.time_ns()}"
    now = taken = 0.0
    for pause in pauses:
        now += pause
        taken += take(store, bucket, Allowance(per_minute), now=1e6 + now) == 0
    assert taken <= max(5, per_minute / 6) + now * per_minute / 60 + 1


def test_every_reply_has_security_headers(make_api: Make, call: Call) -> None:
    app = make_api()
    for path in ("/healthz", "/nope", "/api/v1/nope", "/embed", "/login"):
        headers = call(app, "GET", path).headers
        assert headers["x-content-type-options"] == "nosniff", path
        assert "frame-ancestors" in headers["content-security-policy"], path
        assert headers["x-request-id"], path


def test_keys_fail_closed_and_chat_goes_on_when_the_database_is_away(
    make_api: Make, call: Call, ask: Call, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_api()
    site = add_site(store, "Desk", ["https://desk.example"])
    token = visit(call, app, site.key, "https://desk.example").json()["token"]
    app.state.store.close()
    monkeypatch.setattr(app.state.store, "engine", open_nowhere())
    assert call(app, "GET", "/healthz").status_code == 200
    ready = call(app, "GET", "/readyz")
    assert ready.status_code == 503
    assert "StoreDown" in ready.json()["parts"]["database"]
    keyed = call(app, "POST", "/api/v1/gpu", headers=bearer("gsa_000000000000_x" + "y" * 40), **GPU)
    assert keyed.status_code == 503
    assert keyed.headers["retry-after"] == "5"
    headers = {**bearer(token), "Origin": "https://desk.example"}
    assert ask(app, "hi", headers=headers, address="198.51.100.1").status_code == 200, (
        "a visit needs no database"
    )


def open_nowhere() -> Any:
    from sqlalchemy import create_engine

    return create_engine("sqlite:////nonexistent/folder/desk.db")
