"""A language model compares the log as it was pasted, not the piece of it that the model repeats."""

from __future__ import annotations

from agent.events import Answer
from agent.model import open_model
from agent.run import Advisor
from knowledge.catalog import Catalog
from settings import Settings
from tests.agent.model_server import ModelServer, calls, says
from tools.contracts.compare import CompareLogReport

LOG = (
    "Is this right?\n"
    "INFO 10-02 10:00:01 [api_server.py:1839] vLLM API server version 0.11.0\n"
    "INFO 10-02 10:00:02 [core.py:77] Initializing a V1 LLM engine with config: "
    "model='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16, max_seq_len=16000\n"
    "INFO 10-02 10:00:40 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 30.1 seconds\n"
    "INFO 10-02 10:01:20 [gpu_worker.py:298] Available KV cache memory: 51.38 GiB\n"
)


def test_a_model_that_repeats_one_line_still_compares_the_whole_log(catalog: Catalog) -> None:
    first = calls("compare_log", {"text": "INFO vLLM", "gpu": "A100-80GB"})
    with ModelServer(first, says("The weights take 15.0 GiB and the KV cache pool 51.4 GiB.")) as server:
        settings = Settings(openai_api_key="sk-x", openai_base_url=server.url, openai_model="scripted")
        answer = Advisor(catalog, None, open_model(settings)).answer([LOG])
    assert isinstance(answer, Answer)
    report = next(item.report for item in answer.reports if isinstance(item.report, CompareLogReport))
    assert {part.part for part in report.parts} >= {"weights", "kv_pool"}
    assert report.estimate is not None
    assert not answer.notices
    assert "51.4 GiB" in answer.text
