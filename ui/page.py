"""The Gradio page: a chat with its steps, what was understood as a form, and what is behind the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from html import escape
from pathlib import Path
from typing import Any, Protocol, TypeVar

import gradio as gr

from agent.attached import shortened, text_of_file
from agent.events import Answer, Event, Failed, Token
from agent.history import MAX_TURN_CHARS
from agent.reading.language import language_of
from agent.reading.pasted import split_pasted
from agent.reading.types import Language
from agent.writing.faults import slot_fault_text
from knowledge.catalog import Catalog
from knowledge.errors import InputError
from ui.assumptions import changes_text, form_html, name_lists
from ui.messages import Transcript
from ui.panel import empty_panel, panel_html
from ui.talk import as_message, last_words, messages_for, said, up_to_last_question, user_message
from ui.texts import EXAMPLES, LABELS

_HERE = Path(__file__).parent
STYLE = _HERE / "style.css"
SCRIPTS = (_HERE / "scroll.js", _HERE / "heads.js")
SECONDS_BETWEEN_UPDATES = 0.06  # of streamed text: each update carries the whole answer so far
CONCURRENT_ANSWERS = 16  # one page serves many at once; Gradio's own default is one
FILE_TYPES = [".json", ".gguf", ".safetensors", ".log", ".txt", ".out", ".err", ".md"]
PASTED_AS_FILE = 5_000  # characters from which a pasted text becomes a file beside the question

AppT = TypeVar("AppT")  # the web application; ui knows nothing of its kind
Talk = list[dict[str, Any]]
_i18n = gr.I18n(**LABELS)


class Asks(Protocol):
    """What the page needs of an advisor."""

    def ask(self, messages: Iterable[object]) -> AsyncIterator[Event]: ...


class Page:
    """What the page does with the talk that the browser sends. Nothing of it is kept here."""

    def __init__(self, advisor: Asks) -> None:
        self._advisor = advisor

    async def take(self, message: dict[str, Any], talk: Talk) -> tuple[Any, Talk, str]:
        """Puts a typed question with its files into the talk; a file that cannot be used is said at once."""
        text, files = str(message.get("text") or ""), list(message.get("files") or [])
        if not text.strip() and not files:
            return gr.skip(), talk, ""
        names, parts = [], []
        for path in files:
            names.append(f"📎 {Path(path).name}")
            try:
                parts.append(await asyncio.to_thread(_text_of, Path(path)))
            except InputError as error:
                told = slot_fault_text(language_of([text]), error)
                bubbles = [user_message(text, shown="\n".join([*names, text])), _reply(told)]
                return _emptied(), [*talk, *bubbles], ""
        whole = "\n".join(filter(None, [text, *parts]))
        whole = whole if len(whole) <= MAX_TURN_CHARS else shortened(whole, MAX_TURN_CHARS) or whole
        return _emptied(), [*talk, user_message(whole, shown="\n".join([*names, text]))], ""

    def example(self, picked: gr.SelectData, talk: Talk) -> Talk:
        return [*talk, user_message(str(picked.value["text"]))]

    async def answer(self, talk: Talk) -> AsyncIterator[tuple[Any, Any, Any]]:
        """The answer to the last question of the talk, as it grows; then its form and panel."""
        if not talk or talk[-1].get("role") != "user":  # a file that cannot be used is answered already
            yield gr.skip(), gr.skip(), gr.skip()
            return
        transcript = Transcript(_language(talk))
        shown_at = 0.0
        async for event in self._advisor.ask(messages_for(talk)):
            transcript.add(event)
            answered = [*talk, *map(as_message, transcript.messages())]
            if isinstance(event, Answer):
                yield answered, form_html(event), panel_html(event)
            elif not isinstance(event, Token) or time.monotonic() - shown_at > SECONDS_BETWEEN_UPDATES:
                shown_at = time.monotonic()
                yield answered, gr.skip(), gr.skip()

    async def recompute(self, change: gr.EventData, talk: Talk) -> AsyncIterator[tuple[Any, Any, Any, str]]:
        """The last question again with slots set by hand. One that cannot be used leaves all as it is."""
        slots = dict(change.slots)
        language: Language = "zh" if change.language == "zh" else "en"
        asked = [*talk, user_message("", slots, changes_text(slots, language))]
        transcript = Transcript(_language(talk))
        async for event in self._advisor.ask(messages_for(asked)):
            transcript.add(event)
            if isinstance(event, Failed) and event.fault is not None:
                yield gr.skip(), gr.skip(), gr.skip(), _fault(event)
            elif isinstance(event, Answer):
                answered = [*asked, *map(as_message, transcript.messages())]
                yield answered, form_html(event), panel_html(event), ""
            elif isinstance(event, Failed):
                yield [*asked, *map(as_message, transcript.messages())], gr.skip(), gr.skip(), ""

    def again(self, talk: Talk) -> Talk:
        return up_to_last_question(talk)

    def undo(self, talk: Talk) -> tuple[Any, Talk]:
        """Takes the last question back into the box."""
        kept = up_to_last_question(talk)
        text = said(kept[-1])[0] if kept else ""
        return gr.MultimodalTextbox(value={"text": text, "files": []}), kept[:-1]


def build_page(advisor: Asks, catalog: Catalog) -> gr.Blocks:
    """The page over an advisor. It keeps no conversation: the browser sends it with each question."""
    todo = Page(advisor)
    page: gr.Blocks
    with gr.Blocks(
        title=f"{LABELS['en']['title']} · {LABELS['zh-CN']['title']}",
        fill_width=True,
        delete_cache=(3600, 3600),  # seconds; files are deleted once read, this sweeps up the rest
    ) as page:
        with gr.Column(elem_id="head"):
            gr.Markdown(_i18n("title"), elem_id="title")
            gr.Markdown(_i18n("subtitle"), elem_id="subtitle")
        with gr.Row(equal_height=False, elem_id="columns"):
            with gr.Column(scale=5, min_width=320, elem_id="chat-column"):
                chat, box = _chat(), _box()
            with gr.Column(scale=4, min_width=320, elem_id="panel-column"):
                gr.Markdown(_i18n("details"), elem_id="details")
                script = (_HERE / "assumptions.js").read_text(encoding="utf-8")
                form = gr.HTML("", elem_id="assumptions", container=False, js_on_load=script)
                fault = gr.HTML("", elem_id="fault", container=False)
                panel = gr.HTML(empty_panel(), elem_id="panel", container=False)
        gr.HTML(name_lists(catalog), visible="hidden")
        _connect(todo, chat, box, form, fault, panel)
    return page


def _chat() -> gr.Chatbot:
    return gr.Chatbot(
        show_label=False,
        buttons=["copy"],
        allow_tags=False,
        height="min(68vh, 860px)",
        elem_id="chat",
        latex_delimiters=[],
        autoscroll=False,  # scroll.js brings the question to the top instead
        group_consecutive_messages=True,
        examples=[{"text": text} for text in EXAMPLES],
    )


def _box() -> gr.MultimodalTextbox:
    return gr.MultimodalTextbox(
        placeholder=_i18n("placeholder"),  # type: ignore[arg-type]
        show_label=False,
        container=False,
        lines=1,
        max_lines=8,
        file_types=FILE_TYPES,
        file_count="multiple",
        sources=["upload"],
        max_plain_text_length=PASTED_AS_FILE,
        submit_btn=True,
        stop_btn=False,
        autofocus=True,
        elem_id="ask",
    )


def _connect(
    todo: Page, chat: gr.Chatbot, box: gr.MultimodalTextbox, form: gr.HTML, fault: gr.HTML, panel: gr.HTML
) -> None:
    """What happens on which event."""
    hidden: dict[str, Any] = {"api_visibility": "private"}
    at_once: dict[str, Any] = {**hidden, "queue": False, "show_progress": "hidden"}
    slow: dict[str, Any] = {**hidden, "concurrency_limit": CONCURRENT_ANSWERS, "concurrency_id": "answers"}
    answering: dict[str, Any] = {**slow, "show_progress": "minimal"}
    shown = [chat, form, panel]
    starts = [
        box.submit(todo.take, [box, chat], [box, chat, fault], **hidden, show_progress="hidden"),
        chat.example_select(todo.example, [chat], [chat], **at_once),
        chat.retry(todo.again, [chat], [chat], **at_once),
    ]
    runs = []
    for start in starts:
        busy = start.then(_busy, None, [box], **at_once)
        run = busy.then(todo.answer, [chat], shown, **answering)
        run.then(_ready, None, [box], **at_once)
        runs.append(run)
    change = form.submit(todo.recompute, [chat], [*shown, fault], **answering)
    box.stop(_ready, None, [box], **at_once, cancels=[*runs, change])
    chat.undo(todo.undo, [chat], [box, chat], **at_once)
    chat.clear(lambda: ("", "", empty_panel()), None, [form, fault, panel], **at_once)


def _language(talk: Talk) -> Language:
    """The language of the user's last own words; a pasted log speaks for nobody."""
    return language_of([split_pasted(last_words(talk)).prose])


def _text_of(path: Path) -> str:
    """A file's text for the talk; the file itself is deleted, whatever it holds."""
    try:
        return text_of_file(path.name, path.read_bytes())
    finally:
        path.unlink(missing_ok=True)


def _reply(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def _emptied() -> Any:
    return gr.MultimodalTextbox(value={"text": "", "files": []})


def _busy() -> Any:
    return gr.MultimodalTextbox(submit_btn=False, stop_btn=True)


def _ready() -> Any:
    return gr.MultimodalTextbox(submit_btn=True, stop_btn=False)


def _fault(failed: Failed) -> str:
    """The sentence on a value that cannot be used, for the line under the form."""
    return f"<p role='alert'>{escape(failed.text.replace('**', ''))}</p>"


def mount_page(
    app: AppT, page: gr.Blocks, path: str = "/", root_path: str = "", max_file_bytes: int = 16 * 2**20
) -> AppT:
    """Puts the page on an app; theme, style and languages belong to the mount in Gradio 6."""
    scripts = "".join(f"<script>{item.read_text(encoding='utf-8')}</script>" for item in SCRIPTS)
    gr.mount_gradio_app(
        app,
        page,
        path=path,
        root_path=root_path or None,
        show_error=False,
        footer_links=["settings"],
        run_history=False,
        i18n=_i18n,
        max_file_size=max_file_bytes,
        theme=gr.themes.Default(
            primary_hue="orange",
            neutral_hue="slate",
            font=["system-ui", "-apple-system", "Segoe UI", "Noto Sans CJK SC", "PingFang SC", "sans-serif"],
            font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "monospace"],
        ),
        css_paths=[STYLE],
        head=scripts,
    )
    return app
