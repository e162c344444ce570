"""The Gradio page: a chat with its steps, and a panel with what stands behind the answer."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TypeVar

import gradio as gr

from agent.events import Answer, Token
from agent.reading.language import language_of
from agent.run import Advisor
from ui.messages import Transcript
from ui.panel import empty_panel, panel_html
from ui.texts import EXAMPLES, LABELS

STYLE = Path(__file__).with_name("style.css")
SCRIPT = Path(__file__).with_name("scroll.js")
SECONDS_BETWEEN_UPDATES = 0.06  # of streamed text: each update carries the whole answer so far
CONCURRENT_ANSWERS = 16  # one page serves many at once; Gradio's own default is one

AppT = TypeVar("AppT")  # the web application; ui knows nothing of its kind
_i18n = gr.I18n(**LABELS)


def build_page(advisor: Advisor) -> gr.Blocks:
    """The page over an advisor. It keeps no conversation: the browser sends it with each question."""

    async def answer(message: Any, history: list[Any]) -> AsyncIterator[tuple[Any, Any]]:
        text = message if isinstance(message, str) else str((message or {}).get("text", ""))
        transcript = Transcript(language_of([text]))
        shown_at = 0.0
        async for event in advisor.ask([*history, {"role": "user", "content": text}]):
            transcript.add(event)
            if isinstance(event, Answer):
                yield transcript.messages(), panel_html(event)
            elif not isinstance(event, Token) or time.monotonic() - shown_at > SECONDS_BETWEEN_UPDATES:
                shown_at = time.monotonic()
                yield transcript.messages(), gr.skip()

    page: gr.Blocks
    with gr.Blocks(title=f"{LABELS['en']['title']} · {LABELS['zh-CN']['title']}", fill_width=True) as page:
        with gr.Column(elem_id="head"):
            gr.Markdown(_i18n("title"), elem_id="title")
            gr.Markdown(_i18n("subtitle"), elem_id="subtitle")
        with gr.Row(equal_height=False, elem_id="columns"):
            with gr.Column(scale=5, min_width=320, elem_id="chat-column"):
                panel = gr.HTML(empty_panel(), render=False, elem_id="panel", container=False)
                gr.ChatInterface(
                    answer,
                    chatbot=gr.Chatbot(
                        show_label=False,
                        buttons=["copy"],
                        allow_tags=False,
                        height="min(68vh, 860px)",
                        elem_id="chat",
                        latex_delimiters=[],
                        autoscroll=False,  # scroll.js brings the question to the top instead
                        group_consecutive_messages=True,
                    ),
                    textbox=gr.Textbox(
                        placeholder=_i18n("placeholder"),
                        show_label=False,
                        container=False,
                        lines=1,
                        max_lines=8,
                        submit_btn=True,
                        stop_btn=True,
                        autofocus=True,
                        elem_id="ask",
                    ),
                    examples=list(EXAMPLES),
                    examples_label=_i18n("examples"),
                    additional_outputs=panel,
                    concurrency_limit=CONCURRENT_ANSWERS,
                    api_name="chat",
                    fill_height=False,
                )
            with gr.Column(scale=4, min_width=320, elem_id="panel-column"):
                gr.Markdown(_i18n("details"), elem_id="details")
                panel.render()  # type: ignore[no-untyped-call]
    return page


def mount_page(app: AppT, page: gr.Blocks, path: str = "/", root_path: str = "") -> AppT:
    """Puts the page on an app; theme, style and languages belong to the mount in Gradio 6."""
    gr.mount_gradio_app(
        app,
        page,
        path=path,
        root_path=root_path or None,
        show_error=False,
        footer_links=["settings"],
        run_history=False,
        i18n=_i18n,
        theme=gr.themes.Default(
            primary_hue="orange",
            neutral_hue="slate",
            font=["system-ui", "-apple-system", "Segoe UI", "Noto Sans CJK SC", "PingFang SC", "sans-serif"],
            font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "monospace"],
        ),
        css_paths=[STYLE],
        head=f"<script>{SCRIPT.read_text(encoding='utf-8')}</script>",
    )
    return app
