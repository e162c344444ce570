"""Serving engines by the names people write: which memory rules and which speed figures each one takes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.errors import InputError, NotKnown
from knowledge.names import near, normal


@dataclass(frozen=True, slots=True)
class EngineName:
    """A program that serves models. `memory` and `speed` name the engines whose rules and fitted figures it
    takes, its own or those of the engine inside it or most like it; "" where nothing like it is known.
    `spoken` are its names in running text, `written` further spellings of tables and options."""

    name: str
    memory: str
    speed: str
    spoken: tuple[str, ...]
    written: tuple[str, ...] = ()

    @property
    def own_memory(self) -> bool:
        return self.name == self.memory

    @property
    def own_speed(self) -> bool:
        return self.name == self.speed


_TABLE = (
    EngineName("vllm", "vllm", "vllm", ("vllm",), ("vllm(fork)", "vllm(intel)")),
    EngineName("bladellm", "vllm", "vllm", ("bladellm",)),
    # Xinference takes vLLM first where a GPU has it.
    EngineName("xinference", "vllm", "vllm", ("xinference", "xorbits inference")),
    EngineName(
        "sglang", "sglang", "sglang", ("sglang",), ("deepseek in-house", "sglang-based server")
    ),
    EngineName(
        "tensorrt-llm", "tensorrt-llm", "tensorrt-llm", ("tensorrt-llm", "trt-llm"), ("tensorrt",)
    ),
    EngineName(
        "nim", "tensorrt-llm", "tensorrt-llm", ("nvidia nim",), ("nim", "tensorrt-llm (nim)")
    ),
    EngineName("lmdeploy", "lmdeploy", "lmdeploy", ("lmdeploy", "turbomind"), ("lmdeploy (turbomind)",)),
    EngineName("tgi", "tgi", "tgi", ("tgi", "text-generation-inference")),
    EngineName(
        "llama.cpp", "llama.cpp", "llama.cpp", ("llama.cpp", "llamacpp"),
        ("llama-bench", "llama.cpp llama-bench", "llama-server"),
    ),
    EngineName("ik_llama.cpp", "llama.cpp", "llama.cpp", ("ik_llama.cpp",)),
    EngineName("ollama", "llama.cpp", "llama.cpp", ("ollama",)),
    EngineName("lm studio", "llama.cpp", "llama.cpp", ("lm-studio",)),
    EngineName("koboldcpp", "llama.cpp", "llama.cpp", ("koboldcpp",)),
    # Its experts lie in the host's memory and run on the CPU: no rule of a GPU engine holds.
    EngineName("ktransformers", "", "", ("ktransformers",)),
    EngineName(
        "transformers", "transformers", "transformers", ("transformers",),
        (
            "huggingface", "huggingface transformers", "hf", "hf transformers", "pytorch",
            "pytorch transformers", "accelerate", "hf accelerate", "accelerate big-model inference",
        ),
    ),
    EngineName("fastchat", "transformers", "transformers", ("fastchat",)),
    EngineName("autogptq", "transformers", "transformers", (), ("gptq-for-llama", "gptq-for-llama (triton)")),
    EngineName("bitsandbytes", "transformers", "transformers", ()),
    EngineName("flexllmgen", "transformers", "transformers", ("flexllmgen",)),
    EngineName("autoawq", "autoawq", "autoawq", (), ("llm-awq",)),
    EngineName("exllamav2", "transformers", "exllamav2", ("exllama", "exllamav2", "exllamav3")),
    EngineName("gpt-fast", "transformers", "gpt-fast", ("gpt-fast",), ("gpt-fast (pytorch compile)",)),
    EngineName("mlc-llm", "transformers", "mlc-llm", ("mlc-llm", "mlc")),
    EngineName("fastertransformer", "transformers", "fastertransformer", ("fastertransformer",)),
    EngineName("ctranslate2", "transformers", "fastertransformer", ("ctranslate2",)),
    EngineName("deepspeed", "transformers", "deepspeed", ("deepspeed-mii",), ("deepspeed", "mii")),
)  # fmt: skip
_BY_SPELLING = {normal(text): row for row in _TABLE for text in (row.name, *row.spoken, *row.written)}
_VERSION = re.compile(r"^(.*?)[\s:=@]*v?(\d+(?:\.\d+)+.*)?$", re.DOTALL)
# Separators of a spoken name may be left out or written otherwise: "trt llm", "TRT-LLM".
_SPOKEN = re.compile(
    r"(?<![a-z])(?:"
    + "|".join(
        re.escape(text).replace(r"\-", r"[-_\s]?").replace(r"\ ", r"[-_\s]?").replace(r"\.", r"[.\s]?")
        for text in sorted((text for row in _TABLE for text in row.spoken), key=len, reverse=True)
    )
    + r")(?![a-z])"
)


def known_engine(text: str) -> tuple[EngineName, str]:
    """The engine of a name and the version written behind it ("vllm 0.11.0"), "" without one.

    Raises `InputError` with near matches for a name nobody knows, `NotKnown` for an engine whose memory and
    speed are of another kind.
    """
    match = _VERSION.match(text.strip())
    bare, version = (match[1], match[2] or "") if match else (text, "")
    found = _BY_SPELLING.get(normal(bare))
    if found is None:
        raise InputError(
            "engine",
            text,
            "a known serving engine",
            near(bare, {key: row.name for key, row in _BY_SPELLING.items()}),
        )
    if not found.memory:
        raise NotKnown("engine", found.name, f"no figures of {found.name}: it computes in part on the CPU")
    return found, version


def spoken_engine(text: str) -> tuple[str, tuple[int, int]] | None:
    """Name and place of the first engine that lower-case running text names, also of one without figures."""
    match = _SPOKEN.search(text)
    if match is None:
        return None
    plain = re.sub(r"[.\s_-]", "", match[0])
    row = next(row for row in _TABLE if plain in {re.sub(r"[.\s_-]", "", text) for text in row.spoken})
    return row.name, match.span()
