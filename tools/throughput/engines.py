"""Serving engines: names as people write them."""

from __future__ import annotations

import re

from knowledge.errors import InputError
from knowledge.names import near, normal
from tools.throughput.coefficients import COEFFICIENTS, Engine

_ALIASES = {
    "vllm": "vllm", "sglang": "sglang", "tensorrtllm": "tensorrt-llm", "trtllm": "tensorrt-llm",
    "tensorrt": "tensorrt-llm", "tensorrtllm(nim)": "tensorrt-llm", "nim": "tensorrt-llm",
    "lmdeploy": "lmdeploy", "turbomind": "lmdeploy", "lmdeploy(turbomind)": "lmdeploy",
    "llama.cpp": "llama.cpp", "llamacpp": "llama.cpp", "llamabench": "llama.cpp", "ollama": "llama.cpp",
    "llama.cppllamabench": "llama.cpp", "lmstudio": "llama.cpp", "koboldcpp": "llama.cpp",
    "transformers": "transformers", "hftransformers": "transformers", "huggingface": "transformers",
    "hf": "transformers", "hfaccelerate": "transformers", "accelerate": "transformers",
    "pytorch": "transformers", "pytorchtransformers": "transformers", "autoawq": "autoawq",
    "llmawq": "autoawq", "autogptq": "transformers", "bitsandbytes": "transformers",
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
    engines = COEFFICIENTS.engines
    if not name.strip():
        return engines["vllm"], "default"
    key = normal(re.sub(r"[\s=]+v?\d+(\.\w+)+.*$", "", name.strip()))
    found = _ALIASES.get(key)
    if found is None:
        raise InputError("engine", name, "a known serving engine", near(name, _ALIASES))
    exact = key in (normal(found), normal(found).replace("-", ""), "hftransformers", "trtllm")
    return engines[found], "" if exact else "modelled_as"
