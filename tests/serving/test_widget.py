"""The widget in a real Chromium, on pages of another origin."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from playwright.sync_api import Browser, FrameLocator, Page, expect
from sqlalchemy import select

from serving.access import tokens
from serving.access.sites import add_site
from serving.store import Store
from serving.store.tables import Feedback
from serving.widget.routes import STATIC

pytestmark = pytest.mark.browser
Make = Callable[..., FastAPI]
Serve = Callable[..., str]
STRICT = "default-src 'none'; script-src 'nonce-r4nd0m'; frame-src {base}"


class HostPage:
    """A page of another origin; `html` and `policy` may change between visits."""

    def __init__(self) -> None:
        self.html = ""
        self.policy = ""
        self.app = FastAPI()

        @self.app.get("/")
        async def page() -> Response:
            headers = {"Content-Security-Policy": self.policy} if self.policy else {}
            body = f'<!doctype html><html lang="en"><title>desk</title><body>{self.html}</body></html>'
            return Response(body, media_type="text/html", headers=headers)


@pytest.fixture
def host() -> HostPage:
    return HostPage()


@pytest.fixture
def origin(host: HostPage, serve: Serve) -> str:
    return serve(host.app)


@pytest.fixture
def service(make_api: Make, serve: Serve) -> str:
    """The assistant, closed to everybody without key or visit."""
    return serve(make_api(cors_origins=()))


@pytest.fixture
def site(store: Store, origin: str) -> str:
    return add_site(store, "Desk", [origin]).key


@pytest.fixture
def visit(chromium: Browser, origin: str) -> Iterator[Callable[..., Page]]:
    """Opens the host page; no script error and no breach of its policy may happen on it."""
    contexts: list[Any] = []
    faults: list[str] = []

    def visit_(**options: Any) -> Page:
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda line: faults.append(line.text) if "Content Security Policy" in line.text else None,
        )
        page.goto(origin)
        return page

    yield visit_
    for context in contexts:
        context.close()
    assert faults == []


def tag(service: str, site: str, **look: str) -> str:
    data = "".join(f' data-{name}="{value}"' for name, value in look.items())
    return f'<script nonce="r4nd0m" src="{service}/embed.js?site={site}"{data} async></script>'


def frame_of(page: Page, place: int = 0) -> FrameLocator:
    return page.locator("gpu-sizing-assistant").nth(place).frame_locator("iframe")


def open_bubble(page: Page, place: int = 0) -> FrameLocator:
    page.locator("gpu-sizing-assistant").nth(place).get_by_role("button").click()
    return frame_of(page, place)


def ask(frame: FrameLocator, question: str) -> None:
    box = frame.locator("#question")
    box.fill(question)
    box.press("Enter")
    expect(frame.locator("article.assistant").last).to_contain_text("See the list", timeout=10_000)


def test_a_visitor_asks_under_a_strict_policy_and_sees_table_and_link(
    host: HostPage, visit: Callable[..., Page], service: str, site: str
) -> None:
    host.html, host.policy = tag(service, site), STRICT.format(base=service)
    page = visit()
    frame = open_bubble(page)
    expect(frame.get_by_role("log")).to_have_attribute("aria-live", "polite")
    ask(frame, "Does llama3-8b fit?")
    answer = frame.locator("article.assistant").last
    expect(answer.locator("table td").first).to_have_text("A10")
    expect(answer.locator("strong").first).to_have_text("Does llama3-8b fit?")
    link = answer.get_by_role("link")
    expect(link).to_have_attribute("href", "https://www.alibabacloud.com/help/en/ecs")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    ask(frame, "and int4?")
    assert frame.locator("article").count() == 4
    page.wait_for_timeout(200)  # what was drawn late must not wipe the thumbs away
    assert frame.locator(".tools").count() == 2
    kept = page.evaluate("[document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage)]")
    assert kept == ["", "{}", "{}"], "nothing of the assistant is left in the page's storage"


def test_a_page_that_is_not_on_the_list_cannot_show_it(
    host: HostPage, chromium: Browser, service: str, store: Store, origin: str
) -> None:
    site = add_site(store, "Desk", ["https://desk.example"]).key
    host.html = tag(service, site)
    page = chromium.new_page()
    page.goto(origin)
    page.locator("gpu-sizing-assistant").get_by_role("button").click()
    page.wait_for_timeout(500)
    assert page.frames[1].url.startswith("chrome-error://")
    page.close()


def test_two_bubbles_on_one_page_keep_apart(
    host: HostPage, visit: Callable[..., Page], service: str, site: str, store: Store, origin: str
) -> None:
    second = add_site(store, "Second", [origin]).key
    host.html = tag(service, site) + tag(service, second, label="Second desk")
    page = visit()
    bubbles = page.locator("gpu-sizing-assistant")
    expect(bubbles).to_have_count(2)
    boxes = [bubbles.nth(place).get_by_role("button").bounding_box() for place in (0, 1)]
    assert abs(boxes[0]["x"] - boxes[1]["x"]) >= 56
    ask(open_bubble(page, 0), "first question")
    page.locator("gpu-sizing-assistant").nth(0).get_by_role("button").click()
    ask(open_bubble(page, 1), "second question")
    assert "first question" not in frame_of(page, 1).locator("#log").inner_text()


def test_it_works_below_a_path_prefix_and_behind_a_proxy_that_buffers(
    host: HostPage, visit: Callable[..., Page], make_api: Make, serve: Serve, store: Store, origin: str
) -> None:
    behind = serve(make_api(root_path="/ai"))
    proxy = FastAPI()

    @proxy.api_route("/ai/{path:path}", methods=["GET", "POST"])
    async def forward(path: str, request: Request) -> Response:
        async with httpx.AsyncClient(timeout=30) as client:
            reply = await client.request(
                request.method,
                f"{behind}/{path}?{request.url.query}",
                content=await request.body(),
                headers=dict(request.headers),
            )
        headers = {name: value for name, value in reply.headers.items() if name != "content-length"}
        return Response(reply.content, reply.status_code, headers)

    site = add_site(store, "Desk", [origin]).key
    host.html = tag(f"{serve(proxy)}/ai", site)
    ask(open_bubble(visit()), "Does it fit?")


def test_language_colour_and_darkness_come_from_the_tag(
    host: HostPage, visit: Callable[..., Page], service: str, site: str
) -> None:
    host.html = tag(service, site, lang="zh", theme="dark", color="#aa2200", side="left")
    page = visit(locale="en-US", color_scheme="light")
    button = page.locator("gpu-sizing-assistant").get_by_role("button", name="咨询 GPU 实例选型")
    assert button.evaluate("node => getComputedStyle(node).backgroundColor") == "rgb(170, 34, 0)"
    assert button.bounding_box()["x"] < 100
    button.click()
    frame = frame_of(page)
    expect(frame.locator("#send")).to_have_text("发送")
    assert (
        frame.locator("body").evaluate("node => getComputedStyle(node).backgroundColor") == "rgb(20, 23, 29)"
    )


def test_on_a_phone_it_takes_the_screen_and_the_page_does_not_grow(
    host: HostPage, visit: Callable[..., Page], service: str, site: str
) -> None:
    host.html = tag(service, site)
    page = visit(viewport={"width": 390, "height": 800})
    ask(open_bubble(page), "Does it fit?")
    box = page.locator("gpu-sizing-assistant iframe").bounding_box()
    assert (box["x"], box["y"], box["width"]) == (0, 0, 390)
    assert 600 < box["height"] <= 800 - 76, "above the bubble, which closes it"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_long_talk_shows_the_first_line_of_the_newest_answer(
    host: HostPage, visit: Callable[..., Page], service: str, site: str
) -> None:
    host.html = tag(service, site)
    frame = open_bubble(visit(viewport={"width": 390, "height": 560}))
    for number in range(3):
        ask(frame, f"question {number}")
    log, newest = frame.locator("#log").bounding_box(), frame.locator("article.assistant").last.bounding_box()
    assert log["y"] - 1 <= newest["y"] < log["y"] + log["height"] - 20
    frame.locator("#log").evaluate("log => (log.scrollTop = 0)")
    ask(frame, "a reader who scrolled up")
    assert frame.locator("#log").evaluate("log => log.scrollHeight > log.clientHeight")


def test_everything_can_be_done_by_keyboard(
    host: HostPage, visit: Callable[..., Page], service: str, site: str
) -> None:
    host.html = tag(service, site)
    page = visit()
    bubble = page.locator("gpu-sizing-assistant").get_by_role("button")
    bubble.wait_for()
    page.keyboard.press("Tab")
    expect(bubble).to_be_focused()
    expect(bubble).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")
    frame = frame_of(page)
    expect(frame.locator("#question")).to_be_focused()
    page.keyboard.type("Does it fit?")
    page.keyboard.press("Enter")
    expect(frame.locator("#status")).to_have_text("Answer complete.")
    page.keyboard.press("Escape")
    expect(bubble).to_be_focused()
    expect(bubble).to_have_attribute("aria-expanded", "false")


def test_the_page_gives_context_and_learns_of_a_hand_over(
    host: HostPage, visit: Callable[..., Page], make_api: Make, serve: Serve, store: Store, origin: str
) -> None:
    cases: list[dict[str, Any]] = []
    desk = FastAPI()

    @desk.post("/cases")
    async def take(request: Request) -> None:
        cases.append(await request.json())

    service = serve(make_api(handover_url=f"{serve(desk)}/cases"))
    host.html = tag(service, add_site(store, "Desk", [origin]).key)
    page = visit()
    frame = open_bubble(page)
    page.evaluate(
        """() => {
            const host = document.querySelector("gpu-sizing-assistant");
            window.handed = [];
            addEventListener("gsa:handover", (event) => window.handed.push(event.detail));
            const context = { page: location.href, user: "u-7" };
            host.dispatchEvent(new CustomEvent("gsa:context", { detail: context }));
            host.dispatchEvent(new CustomEvent("gsa:ask", { detail: "prefilled" }));
        }"""
    )
    expect(frame.locator("#question")).to_have_value("prefilled")
    ask(frame, "Does it fit?")
    frame.get_by_role("button", name="Talk to a person").click()
    frame.locator("#contact").fill("me@example.com")
    frame.locator("#handover-send").click()
    expect(frame.locator("#status")).to_contain_text("A person will get in touch")
    page.wait_for_function("window.handed.length === 1")
    assert page.evaluate("window.handed[0].transcript[0].content") == "Does it fit?"
    ends = time.monotonic() + 5
    while not cases and time.monotonic() < ends:
        page.wait_for_timeout(50)
    assert cases[0]["context"] == {"page": f"{origin}/", "user": "u-7"}
    assert cases[0]["contact"] == "me@example.com"


def test_text_is_never_taken_for_markup(
    host: HostPage, visit: Callable[..., Page], service: str, site: str
) -> None:
    host.html = tag(service, site)
    frame = open_bubble(visit())
    ask(frame, "<img src=x onerror='document.title=1'> [x](javascript:alert(1))")
    assert frame.locator("article img").count() == 0
    assert frame.locator("article a[href^=javascript]").count() == 0
    expect(frame.locator("article.user")).to_contain_text("<img src=x")


def test_a_thumb_reaches_the_store(
    host: HostPage, visit: Callable[..., Page], service: str, site: str, store: Store
) -> None:
    host.html = tag(service, site)
    frame = open_bubble(visit())
    ask(frame, "Does it fit?")
    frame.get_by_role("button", name="Not helpful").click()
    frame.get_by_role("textbox", name="What was wrong?").fill("old price")
    frame.get_by_role("textbox", name="What was wrong?").press("Enter")
    # The form goes once the service has the comment; the thanks for the thumb alone may stand before.
    expect(frame.get_by_role("textbox", name="What was wrong?")).to_have_count(0, timeout=20_000)
    expect(frame.locator("#status")).to_have_text("Thank you.")
    with store.session() as session:
        rows = session.scalars(select(Feedback)).all()
    assert [(row.rating, row.comment) for row in rows] == [("down", "old price")]
    assert rows[0].subject.startswith(site)


def test_a_comment_that_could_not_be_kept_stays_in_its_box(
    host: HostPage, visit: Callable[..., Page], service: str, site: str
) -> None:
    host.html = tag(service, site)
    page = visit()
    frame = open_bubble(page)
    ask(frame, "Does it fit?")
    frame.get_by_role("button", name="Not helpful").click()
    expect(frame.locator("#status")).to_have_text("Thank you.", timeout=20_000)
    page.route("**/api/v1/feedback", lambda route: route.abort())
    box = frame.get_by_role("textbox", name="What was wrong?")
    box.fill("old price")
    box.press("Enter")
    expect(frame.locator("#status")).to_have_text("The assistant cannot be reached now.", timeout=20_000)
    expect(box).to_have_value("old price")


def test_a_visit_that_ended_is_renewed_without_a_word(
    host: HostPage, visit: Callable[..., Page], service: str, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(tokens.LIFETIME_S, "visit", 1)
    host.html = tag(service, site)
    page = visit()
    frame = open_bubble(page)
    page.wait_for_timeout(1300)
    ask(frame, "Does it fit?")


def test_a_bare_frame_works_without_the_script(
    host: HostPage, visit: Callable[..., Page], service: str, site: str
) -> None:
    address = f"{service}/embed?site={site}&lang=en"
    host.html = f'<iframe title="assistant" width="400" height="600" src="{address}"></iframe>'
    frame = visit().frame_locator("iframe")
    ask(frame, "Does it fit?")


def test_a_service_that_is_busy_loses_no_words(
    host: HostPage, visit: Callable[..., Page], make_api: Make, serve: Serve, store: Store, origin: str
) -> None:
    service = serve(make_api(rate_per_site=5, rate_per_address=5))
    host.html = tag(service, add_site(store, "Desk", [origin]).key)
    frame = open_bubble(visit())
    for _ in range(3):
        ask(frame, "Does it fit?")
    frame.locator("#question").fill("a long question")
    for _ in range(4):
        frame.locator("#question").press("Enter")
        frame.locator("#send", has_text="Send").wait_for()
        if "Many people" in frame.locator("#status").inner_text():
            break
        frame.locator("#question").fill("a long question")
    expect(frame.locator("#status")).to_contain_text("Many people are asking")
    expect(frame.locator("#question")).to_have_value("a long question")


def test_markdown_of_answers_becomes_the_right_elements(chromium: Browser, service: str) -> None:
    text = (
        "## Steps\n\n1. First `nvidia-smi`\n   ```sh\n   apt-get install x | y\n   ```\n"
        "2. Second\n   - inner **bold**\n\n- a\n- b\n\n| A | B |\n| --- | ---: |\n"
        "| 1 \\| 2 | https://example.com/x |\n\nlast *line*\nof text\n"
    )
    page = chromium.new_page()
    page.goto(f"{service}/embed")
    shown = page.evaluate(
        """async (text) => {
            const { markdown } = await import("./embed/markdown.js");
            const box = document.createElement("div");
            box.append(...markdown(text));
            return box.innerHTML;
        }""",
        text,
    )
    page.close()
    shown = re.sub(r' (target|rel|class)="[^"]*"', "", shown)
    assert shown == (
        "<h3>Steps</h3><ol><li>First <code>nvidia-smi</code><pre><code>apt-get install x | y</code></pre>"
        "</li>"
        "<li>Second<ul><li>inner <strong>bold</strong></li></ul></li></ol><ul><li>a</li><li>b</li></ul>"
        "<div><table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1 | 2</td>"
        '<td><a href="https://example.com/x">https://example.com/x</a></td></tr></tbody></table></div>'
        "<p>last *line* of text</p>"
    )


def test_all_of_it_weighs_at_most_forty_kilobytes_compressed() -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in STATIC.iterdir()}
    assert sum(sizes.values()) <= 40_000, json.dumps(sizes)
