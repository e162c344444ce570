"""No long text stops the service: every reader of text takes time in proportion to its length."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from agent.attached import text_of_file
from agent.claims import claims_in
from agent.commands import commands_in, words_of
from agent.evidence import Evidence
from agent.grounding import leaks_prompt
from agent.history import turns_of
from agent.hub import ids_in
from agent.prose import clean_prose, spoken
from agent.reading import read
from agent.reading.markup import without_markup
from agent.reading.pasted import split_pasted
from agent.secrets import without_secrets
from agent.subject import on_subject, retells
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.model_import import model_from_config
from serving.redact import redact
from tools.compare_log.parse import parse_log
from tools.doors import DOORS

SHORT = 20_000  # characters; the long text has twice as many
PIECES = (
    "1", "9.", "1,", "a", "中", "A1", "1元", "$1", "预算", "-", "--- ", "1-", "[", "]", "![", "[a](", "(",
    "{", '"', "'", "`", "```", "` ", "```\n", "|", "| 1 ", "<", "<b>", "<a ", "<think>", "> ", "\n", " \n",
    "1\n", ".", "a.", "@", "a@", "eyJ", "eyJ.", "visit.", "sk-", "://", "http://a", "+86", "token ",
    "password=",
    "ecs.gn7i-", "gn7i-", "qwen2-", "A10 ", "1GiB ", "1 MiB / 1 MiB", "2024-", "1 jan ", "1:", "x", "2 x ",
    "/", "٣", "²", "ﷺ", "version 1", "model=", "Load weight end. ", "general.name=", "| 0 NVIDIA ",
    '"hidden_size":',
)  # fmt: skip


def _door(name: str) -> Callable[[str, Catalog], object]:
    door = next(door for door in DOORS if door.name == name)
    return lambda text, catalog: door.run({"name": text}, catalog)


def _vllm(text: str) -> object:
    return parse_log(f"vllm out of memory NVIDIA-SMI {text}")


READERS: dict[str, Callable[[str, Catalog], object]] = {
    "history": lambda text, _: turns_of([text]),
    "pasted": lambda text, _: split_pasted(text),
    "markup": lambda text, _: without_markup(text),
    "hub": lambda text, catalog: ids_in([text], catalog),
    "claims": lambda text, _: claims_in(text),
    "evidence": lambda text, _: Evidence((), [text[:2_000]]).ungrounded(text),
    "commands": lambda text, _: (commands_in(text), words_of(text)),
    "prose": lambda text, _: clean_prose(spoken(text), ["https://example.com/a"]),
    "subject": lambda text, _: (on_subject(text), retells(text, ["some words"])),
    "prompt": lambda text, _: leaks_prompt(text),
    "secrets": lambda text, _: (without_secrets(text, "a long key"), redact(text)),
    "log of vLLM": lambda text, _: _vllm(text),
    "log of SGLang": lambda text, _: parse_log(f"sglang {text}"),
    "log of llama.cpp": lambda text, _: parse_log(f"ggml_ {text}"),
    "file": lambda text, _: text_of_file("a.log", text.encode()),
    "config": lambda text, _: model_from_config(text, text),
    "instance name": _door("instance"),
    "gpu name": _door("gpu"),
    "model name": _door("model"),
}


def _seconds(reader: Callable[[str, Catalog], object], text: str, catalog: Catalog) -> float:
    begun = time.process_time()
    with suppress(AdvisorError):  # a text of nothing but dashes may be refused, in time
        reader(text, catalog)
    return time.process_time() - begun


@pytest.mark.parametrize("name", READERS)
def test_a_text_of_twice_the_length_takes_no_more_than_thrice_the_time(name: str, catalog: Catalog) -> None:
    reader = READERS[name]
    reader_is_loaded = _seconds(reader, "8B on A10", catalog)
    assert reader_is_loaded < 30
    for piece in PIECES:
        text = piece * (2 * SHORT // len(piece))
        long = _seconds(reader, text, catalog)
        if long > 0.3:  # below that it is good for anybody, and too short to compare
            short = _seconds(reader, text[: len(text) // 2], catalog)
            long = min(long, _seconds(reader, text, catalog))  # the machine may have been busy
            assert long < 3 * short + 0.1, f"{piece!r}: {short:.2f} s and {long:.2f} s"
            assert long < 5, f"{piece!r}: {long:.2f} s"


@pytest.mark.parametrize("piece", ["1元", "$1", "a ", "中", "- ", "`", "[", "<b>", "8B A10 "])
def test_a_talk_of_forty_long_turns_is_read_in_seconds(piece: str, catalog: Catalog) -> None:
    text = (piece * 4_000)[:4_000]
    assert _seconds(lambda turn, facts: read([turn] * 40, facts), text, catalog) < 15
