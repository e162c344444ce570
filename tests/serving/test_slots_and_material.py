"""Slots set by hand, pasted configs and logs through the API: the same as on the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from agent.run import Advisor
from knowledge.catalog import shipped_catalog
from serving.app import build_api
from settings import Settings

Call = Callable[..., httpx.Response]
LOG = (
    "INFO 10-02 10:00:01 [api_server.py:1839] vLLM API server version 0.11.0\n"
    "INFO 10-02 10:00:02 [core.py:77] Initializing a V1 LLM engine with config: "
    "model='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16, max_seq_len=16000\n"
    "INFO 10-02 10:00:40 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 30.1 seconds\n"
)


@pytest.fixture
def app(make_settings: Callable[..., Settings]) -> Iterator[FastAPI]:
    """The application over the built-in advisor."""
    api = build_api(Advisor(shipped_catalog()), make_settings(), None)
    yield api
    api.state.store.close()


def said(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def test_slots_set_by_hand_come_back_in_the_reading(app: FastAPI, call: Call) -> None:
    slots = {"concurrency": "20", "gpu_wanted": ["L20"]}
    body = {"messages": [said("Qwen2.5-14B inference, 8k context, 4 users", slots=slots)]}
    reply = call(app, "POST", "/api/v1/chat", json=body).json()
    assert reply["reading"]["request"]["concurrency"] == 20
    assert reply["reading"]["slots"]["gpu_wanted"]["by_hand"] is True
    assert reply["recommendation"]["options"][0]["gpu_model"] == "L20"


def test_a_message_without_words_asks_again_with_its_slots(app: FastAPI, call: Call) -> None:
    messages = [said("Qwen2.5-14B, 8k context"), {"role": "assistant", "content": "…"}]
    body = {"messages": [*messages, said("", slots={"concurrency": 20})]}
    reply = call(app, "POST", "/api/v1/chat", json=body).json()
    assert reply["reading"]["request"]["concurrency"] == 20
    assert reply["reading"]["question"] == "Qwen2.5-14B, 8k context"


def test_a_bad_slot_is_an_input_error_with_near_matches(app: FastAPI, call: Call) -> None:
    body = {"messages": [said("which GPU?", slots={"model": "quen2.5-72"})]}
    refused = call(app, "POST", "/api/v1/chat", json=body)
    assert refused.status_code == 422
    assert refused.json()["error"]["field"] == "model"
    assert "Qwen/Qwen2.5-72B-Instruct" in refused.json()["error"]["suggestions"]
    streamed = call(app, "POST", "/api/v1/chat", json={**body, "stream": True}).text
    name, data = streamed.strip().split("\n\n")[-1].split("\n", 1)
    assert name == "event: failed"
    assert json.loads(data.removeprefix("data: "))["fault"]["field"] == "model"


@pytest.mark.parametrize("slots", [{"x": 1}, {"concurrency": {"a": [1]}}, {"include_unpriced": True}])
def test_hostile_slots_are_refused_and_nothing_breaks(app: FastAPI, call: Call, slots: Any) -> None:
    body = {"messages": [said("which GPU?", slots=slots)]}
    assert call(app, "POST", "/api/v1/chat", json=body).status_code == 422


@pytest.mark.parametrize(
    "raw",
    [
        '{"ttft_ms": 1e999}',
        '{"ttft_ms": NaN}',
        '{"model": "\\ud800"}',
        '{"\\ud800": 1}',
        '{"regions": ["\\ud83d"]}',
    ],
)
@pytest.mark.parametrize("stream", ["true", "false"])
def test_what_no_encoder_takes_is_refused_as_well(app: FastAPI, call: Call, raw: str, stream: str) -> None:
    body = (
        f'{{"messages": [{{"role": "user", "content": "which GPU?", "slots": {raw}}}], "stream": {stream}}}'
    )
    reply = call(
        app, "POST", "/api/v1/chat", content=body.encode(), headers={"content-type": "application/json"}
    )
    assert reply.status_code == (200 if stream == "true" else 422)
    assert "fault" in reply.text or "error" in reply.text


@pytest.mark.parametrize("path", ["/api/v1/chat", "/v1/chat/completions"])
def test_a_pasted_log_is_compared_in_both_forms(app: FastAPI, call: Call, path: str) -> None:
    reply = call(app, "POST", path, json={"messages": [said(f"fine on one A100?\n{LOG}")]}).json()
    text = reply["text"] if "text" in reply else reply["choices"][0]["message"]["content"]
    assert "| weights | 15.0 GiB | 15.0 GiB |" in text


def test_a_pasted_config_is_sized(app: FastAPI, call: Call) -> None:
    config = {
        "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
    }  # fmt: skip
    body = {"messages": [said(f"what GPU does this need? {json.dumps(config)}")]}
    reply = call(app, "POST", "/api/v1/chat", json=body).json()
    assert reply["reading"]["request"]["model"] == "llama-9.78B (own)"
    assert "18.2 GiB" in reply["text"]


def test_a_file_of_the_page_may_weigh_more_than_a_call(app: FastAPI, call: Call) -> None:
    three_megabytes = b"x" * 3_000_000
    assert call(app, "POST", "/api/v1/chat", content=three_megabytes).status_code == 413
    assert call(app, "POST", "/gradio_api/upload", content=three_megabytes).status_code != 413
    assert call(app, "POST", "/gradio_api/upload", content=b"x" * (17 * 2**20)).status_code == 413
