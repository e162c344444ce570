"""Serving engines: names as people write them, and what each costs beside the arithmetic."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.errors import InputError
from knowledge.names import near, normal


@dataclass(frozen=True, slots=True)
class Engine:
    """Fixed costs and efficiencies of one engine; the figures are first values from the dev measurements."""

    name: str
    layer_us: float  # fixed cost of one layer in one step: launches, norms, small kernels
    step_ms: float  # fixed cost of one step: scheduler, sampling, host
    sequence_us: float  # per running sequence and step: sampling, detokenizing, block tables
    request_ms: float  # per request, before its first token: HTTP, tokenizer, scheduling
    bandwidth_share: float  # of the memory bandwidth that weight reads reach
    compute_share: float  # of the dense peak that large prefill matrices reach in 16 bit
    splits_tensors: bool  # tensor parallel by default; False: layer split
    batches: bool  # continuous batching; False: requests run one after another


_ENGINES = (
    Engine("vllm", 42, 0.4, 12, 12, 0.87, 0.55, True, True),
    Engine("sglang", 42, 0.4, 10, 12, 0.85, 0.55, True, True),
    Engine("tensorrt-llm", 30, 0.3, 8, 8, 0.88, 0.62, True, True),
    Engine("lmdeploy", 40, 0.4, 10, 10, 0.85, 0.55, True, True),
    Engine("llama.cpp", 80, 0.3, 60, 5, 0.80, 0.30, False, True),
    Engine("transformers", 550, 1.0, 5, 10, 0.84, 0.45, False, True),
    Engine("tgi", 60, 1.0, 15, 12, 0.82, 0.50, True, True),
    Engine("gpt-fast", 30, 0.3, 10, 5, 0.85, 0.45, True, True),
    Engine("mlc-llm", 40, 0.4, 15, 10, 0.82, 0.40, True, True),
    Engine("fastertransformer", 40, 0.4, 10, 5, 0.80, 0.55, True, True),
    Engine("exllamav2", 45, 0.4, 30, 5, 0.80, 0.40, False, True),
    Engine("deepspeed", 80, 1.0, 15, 12, 0.80, 0.50, True, True),
)  # fmt: skip
ENGINES = {engine.name: engine for engine in _ENGINES}

_ALIASES = {
    "vllm": "vllm", "sglang": "sglang", "tensorrtllm": "tensorrt-llm", "trtllm": "tensorrt-llm",
    "tensorrt": "tensorrt-llm", "tensorrtllm(nim)": "tensorrt-llm", "nim": "tensorrt-llm",
    "lmdeploy": "lmdeploy", "turbomind": "lmdeploy", "lmdeploy(turbomind)": "lmdeploy",
    "llama.cpp": "llama.cpp", "llamacpp": "llama.cpp", "llamabench": "llama.cpp", "ollama": "llama.cpp",
    "llama.cppllamabench": "llama.cpp", "lmstudio": "llama.cpp", "koboldcpp": "llama.cpp",
    "transformers": "transformers", "hftransformers": "transformers", "huggingface": "transformers",
    "hf": "transformers", "hfaccelerate": "transformers", "accelerate": "transformers",
    "pytorch": "transformers", "pytorchtransformers": "transformers", "autoawq": "transformers",
    "llmawq": "transformers", "autogptq": "transformers", "bitsandbytes": "transformers",
    "flexllmgen": "transformers", "ctranslate2": "fastertransformer",
    "tgi": "tgi", "textgenerationinference": "tgi", "gptfast": "gpt-fast",
    "gptfast(pytorchcompile)": "gpt-fast", "mlc": "mlc-llm", "mlcllm": "mlc-llm",
    "fastertransformer": "fastertransformer", "exllama": "exllamav2", "exllamav2": "exllamav2",
    "exllamav3": "exllamav2", "deepspeed": "deepspeed", "deepspeedmii": "deepspeed", "mii": "deepspeed",
    "deepseekinhouse": "sglang", "sglangbasedserver": "sglang", "bladellm": "vllm",
}  # fmt: skip


def find_engine(name: str) -> tuple[Engine, str]:
    """The engine of this name and a stable code where it stands in for another; `InputError` if unknown.

    A version at the end ("vllm 0.29", "ollama 0.33.3") is ignored; "" is vLLM.
    """
    if not name.strip():
        return ENGINES["vllm"], "default"
    key = normal(re.sub(r"[\s=]+v?\d+(\.\w+)+.*$", "", name.strip()))
    found = _ALIASES.get(key)
    if found is None:
        raise InputError("engine", name, "a known serving engine", near(name, _ALIASES))
    exact = key in (normal(found), normal(found).replace("-", ""), "hftransformers", "trtllm")
    return ENGINES[found], "" if exact else "modelled_as"
