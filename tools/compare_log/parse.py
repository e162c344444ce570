"""Figures and flags in start-up logs of vLLM, SGLang and llama.cpp, out-of-memory traces and nvidia-smi."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from knowledge.errors import InputError
from tools.contracts.compare import LogKind

Value = float | int | str

_NUMBER = r"(?<![\d.,])(-?\d[\d,]{0,14}(?:\.\d{1,12})?)"  # bounded: a log may hold a line of digits alone
_SIZE = r"(?<![\d.])(\d{1,9}(?:\.\d{1,6})? [KMG]i?B)"

_CACHE_NEEDED = (
    rf"{_NUMBER} GiB KV cache is needed, which is larger than the available KV cache memory \({_NUMBER} GiB\)"
)
_NO_CACHE = (
    r"No available memory for the cache blocks"
    r"|larger than the maximum number of tokens that can be stored in KV cache"
)
_VLLM_WORDS = (
    r"\bvllm\b|GPU KV cache|Available KV cache|# GPU blocks|Model loading took|KV cache is needed"
    r"|No available memory for the cache|desired GPU memory utilization"
)
_SMI_ROW = r"(\d{1,8})\s{0,4}MiB\s{0,4}/\s{0,4}(\d{1,8})\s{0,4}MiB"
_LONGEST_LINE = 12_000  # characters; vLLM prints its whole configuration in one line of some thousand


@dataclass(slots=True)
class ParsedLog:
    """What a log states. `parts` are GiB per GPU or tokens; `flags` are request fields by name."""

    kind: LogKind
    engine: str = ""
    version: str = ""
    parts: dict[str, float] = field(default_factory=dict)
    flags: dict[str, Value] = field(default_factory=dict)
    failure: str = ""


def parse_log(text: str) -> ParsedLog:
    """The figures of a log; its kind is told by its own words. Raises `InputError` where nothing is known."""
    text = "\n".join(line[:_LONGEST_LINE] for line in text.splitlines())
    if re.search(r"llm_load_|llama_model_loader|load_tensors:|llama_kv_cache|llama_new_context|ggml_", text):
        parsed = _read(text, ParsedLog("llama.cpp", "llama.cpp"), _LLAMA_PARTS, _LLAMA_FLAGS)
    elif re.search(r"Load weight end|mem_fraction_static|max_total_num_tokens|\bsglang\b", text, re.I):
        parsed = _read(text, ParsedLog("sglang", "sglang"), _SGLANG_PARTS, _SGLANG_FLAGS)
    elif re.search(_VLLM_WORDS, text, re.I):
        parsed = _read(text, ParsedLog("vllm", "vllm"), _VLLM_PARTS, _VLLM_FLAGS)
    elif re.search(r"out of memory|OutOfMemoryError", text, re.I):
        parsed = ParsedLog("out_of_memory")
    elif re.search(r"NVIDIA-SMI|MiB\s{0,4}/\s{0,4}\d{1,8}\s{0,4}MiB", text):
        parsed = ParsedLog("nvidia_smi")
    else:
        raise InputError("text", text[:80], "a log of vLLM, SGLang or llama.cpp, an OOM trace or nvidia-smi")
    _read_out_of_memory(text, parsed)
    _read_nvidia_smi(text, parsed)
    _finish(text, parsed)
    if not (parsed.parts or parsed.failure or parsed.flags):
        raise InputError("text", text[:80], "a log that states memory figures")
    return parsed


Rule = tuple[str, str, Callable[[str], Value]]


def _gib(text: str) -> float:
    return float(text.replace(",", ""))


def _mib(text: str) -> float:
    return float(text.replace(",", "")) / 1024


def _whole(text: str) -> int:
    return int(float(text.replace(",", "").replace("_", "")))


def _plain(text: str) -> str:
    return text.strip("'\" ")


_VLLM_PARTS: tuple[Rule, ...] = (
    (
        "weights",
        rf"(?:Model loading took|Loading model weights took|model weights take)\s*{_NUMBER}\s*Gi?B",
        _gib,
    ),
    ("libraries", rf"non_torch_memory takes\s*{_NUMBER}\s*Gi?B", _gib),
    ("activation", rf"activation peak memory takes\s*{_NUMBER}\s*Gi?B", _gib),
    ("kv_pool", rf"reserved for KV Cache is\s*{_NUMBER}\s*Gi?B", _gib),
    ("kv_pool", rf"Available KV cache memory:\s*{_NUMBER}\s*Gi?B", _gib),
    ("kv_tokens", rf"GPU KV cache size:\s*{_NUMBER}\s*tokens", _gib),
    ("graphs", rf"Graph capturing finished in .{{0,60}}?took\s*{_NUMBER}\s*Gi?B", _gib),
    ("usable", rf"total_gpu_memory \(\s*{_NUMBER}\s*Gi?B\)", _gib),
    ("usable", rf"Free memory on device.{{0,40}}?\(\s*[\d.]{{1,12}}/{_NUMBER}\s*GiB\)", _gib),
    ("blocks", rf"# (?:GPU|cuda) blocks:\s*{_NUMBER}", _gib),
)
_VLLM_FLAGS: tuple[Rule, ...] = (
    (
        "version",
        r"(?:API server version|LLM engine \(v|vLLM version|version)\s*[:=]?\s*v?(\d+\.\d+[\w.]*)",
        _plain,
    ),
    ("model", r"(?:model='|'model': '|model_tag='|\bmodel=)([^'\s,)]+)", _plain),
    ("tensor_parallel", r"tensor_parallel_size['\"]?[=:]\s*(\d{1,12})", _whole),
    ("pipeline_parallel", r"pipeline_parallel_size['\"]?[=:]\s*(\d{1,12})", _whole),
    ("max_model_len", r"(?:max_seq_len|max_model_len)['\"]?[=:]\s*(\d{1,12})", _whole),
    ("max_num_seqs", r"max_num_seqs['\"]?[=:]\s*(\d{1,12})", _whole),
    ("max_batched_tokens", r"max_num_batched_tokens['\"]?[=:]\s*(\d{1,12})", _whole),
    ("gpu_memory_utilization", r"gpu_memory_utilization['\"]?\s*[=:(]+\s*(0?\.\d+|1(?:\.0+)?)", _gib),
    ("kv_precision", r"kv_cache_dtype['\"]?[=:]\s*['\"]?(\w+)", _plain),
    ("weight_precision", r"quantization['\"]?[=:]\s*['\"]?([\w-]+)", _plain),
    ("dtype", r"\bdtype['\"]?[=:]\s*['\"]?(?:torch\.)?(\w+)", _plain),
    ("enforce_eager", r"enforce_eager['\"]?[=:]\s*(True|False)", _plain),
    ("block_size", r"block_size['\"]?[=:]\s*(\d{1,12})", _whole),
)
_SGLANG_PARTS: tuple[Rule, ...] = (
    ("weights", rf"Load weight end\..{{0,200}}?mem usage={_NUMBER}\s*GB", _gib),
    ("kv_tokens", rf"#tokens:\s*{_NUMBER}", _gib),
    ("kv_tokens", rf"max_total_num_tokens={_NUMBER}", _gib),
    ("key_cache", rf"K size:\s*{_NUMBER}\s*GB", _gib),
    ("value_cache", rf"V size:\s*{_NUMBER}\s*GB", _gib),
    ("kv_pool", rf"KV size:\s*{_NUMBER}\s*GB", _gib),
    ("graphs", rf"Capture cuda graph end\..{{0,200}}?mem usage={_NUMBER}\s*GB", _gib),
    ("libraries", rf"Init torch distributed ends\. mem usage={_NUMBER}\s*GB", _gib),
)
_SGLANG_FLAGS: tuple[Rule, ...] = (
    ("version", r"sglang[ -=v]+(\d+\.\d+[\w.]*)", _plain),
    ("model", r"model_path='([^']+)'", _plain),
    ("tensor_parallel", r"tp_size=(\d{1,12})", _whole),
    ("pipeline_parallel", r"pp_size=(\d{1,12})", _whole),
    ("max_model_len", r"(?:context_length|context_len)=(\d{1,12})", _whole),
    ("gpu_memory_utilization", r"mem_fraction_static=(0?\.\d+)", _gib),
    ("max_num_seqs", r"max_running_requests=(\d{1,12})", _whole),
    ("max_batched_tokens", r"chunked_prefill_size=(\d{1,12})", _whole),
    ("kv_precision", r"kv_cache_dtype='(\w+)'", _plain),
    ("weight_precision", r"quantization='([\w-]+)'", _plain),
)
_LLAMA_PARTS: tuple[Rule, ...] = (("usable", rf"total VRAM: {_NUMBER} MiB", _mib),)
_LLAMA_SUMS = {
    "weights": rf"(?:CUDA|ROCm)\d+(?: model)? buffer size\s*=\s*{_NUMBER}\s*MiB",
    "kv_cache": rf"(?:CUDA|ROCm)\d+ KV buffer size\s*=\s*{_NUMBER}\s*MiB",
    "activation": rf"(?:CUDA|ROCm)\d+ compute buffer size\s*=\s*{_NUMBER}\s*MiB",
}
_LLAMA_FLAGS: tuple[Rule, ...] = (
    ("version", r"\bbuild:?\s*=?\s*(\d{3,5})", _plain),
    ("model", r"general\.basename str\s*=\s*(.+)", _plain),
    ("model", r"general\.name\s*=\s*(.+)", _plain),
    ("model", r"general\.name str\s*=\s*(.+)", _plain),
    ("file_type", r"(?:file type|ftype|model ftype)\s*=\s*([\w .-]+)", _plain),
    ("max_model_len", r"n_ctx\s*=\s*(\d{1,12})", _whole),
    ("max_batched_tokens", r"n_ubatch\s*=\s*(\d{1,12})", _whole),
    ("kv_precision", r"K \((\w+)\)", _plain),
)


def line_patterns() -> list[str]:
    """The pattern of every figure, flag and failure that a line may state, over all engines."""
    rules = (*_VLLM_PARTS, *_VLLM_FLAGS, *_SGLANG_PARTS, *_SGLANG_FLAGS, *_LLAMA_PARTS, *_LLAMA_FLAGS)
    return [*(pattern for _, pattern, _ in rules), *_LLAMA_SUMS.values(), _CACHE_NEEDED, _NO_CACHE, _SMI_ROW]


def _read(text: str, parsed: ParsedLog, parts: tuple[Rule, ...], flags: tuple[Rule, ...]) -> ParsedLog:
    """Fills parts and flags; of several ranks the fullest weights and the smallest pool count."""
    for name, pattern, convert in parts:
        found = [float(convert(match)) for match in re.findall(pattern, text, re.I)]
        if found:
            value = min(found) if name in ("kv_pool", "kv_tokens", "usable", "blocks") else max(found)
            parsed.parts.setdefault(name, value)
    for name, pattern, convert in flags:
        match = re.search(pattern, text, re.I)
        if match and name not in parsed.flags:
            parsed.flags[name] = convert(match[1])
    return parsed


def _read_out_of_memory(text: str, parsed: ParsedLog) -> None:
    """PyTorch's out-of-memory sentence, old and new form."""
    if not re.search(r"out of memory|OutOfMemoryError|No available memory for the cache", text, re.I):
        return
    parsed.failure = parsed.failure or "out_of_memory"
    text = re.sub(r"\s+", " ", text)  # terminals wrap the sentence
    for name, pattern in (
        ("tried_to_allocate", rf"Tried to allocate {_SIZE}"),
        ("usable", rf"total capacity of {_SIZE}"),
        ("usable", rf"{_SIZE} total capacity"),
        ("free", rf"of which {_SIZE} is free"),
        ("free", rf"{_SIZE} free"),
        ("in_use", rf"this process has {_SIZE} memory in use"),
        ("allocated", rf"{_SIZE} is allocated by PyTorch"),
        ("allocated", rf"{_SIZE} already allocated"),
        ("reserved_unallocated", rf"{_SIZE} is reserved by PyTorch but unallocated"),
    ):
        match = re.search(pattern, text)
        if match:
            parsed.parts.setdefault(name, _size_gib(match[1]))


def _size_gib(text: str) -> float:
    number, unit = text.split()
    return float(number) / {"K": 2**20, "M": 2**10, "G": 1}[unit[0]]


def _read_nvidia_smi(text: str, parsed: ParsedLog) -> None:
    """The fullest GPU of nvidia-smi's table, its name and the number of GPUs."""
    rows = re.findall(_SMI_ROW, text)
    if not rows:
        return
    used, total = max(rows, key=lambda row: int(row[0]))
    parsed.parts.setdefault("total", int(used) / 1024)
    parsed.parts.setdefault("nvidia_smi_total", int(total) / 1024)
    names = re.findall(
        r"^\|\s+\d+\s+((?:NVIDIA|Tesla|GeForce|GRID)[\w .-]*?)\s{2,}(?:On|Off|WDDM)?", text, re.M
    )
    if names:
        parsed.flags.setdefault("gpu", names[0].strip())
    parsed.flags.setdefault("gpu_count", len(rows))


def _finish(text: str, parsed: ParsedLog) -> None:
    """Figures made of others, and failures in the engines' own words."""
    parts = parsed.parts
    parsed.version = str(parsed.flags.pop("version", ""))
    if "key_cache" in parts and "value_cache" in parts:
        parts.setdefault("kv_pool", parts.pop("key_cache") + parts.pop("value_cache"))
    if "blocks" in parts:
        size = float(parsed.flags.get("block_size", 16))
        parts.setdefault("kv_tokens", parts.pop("blocks") * size)
    if parsed.kind == "llama.cpp":
        for name, pattern in _LLAMA_SUMS.items():
            found = [_mib(match) for match in re.findall(pattern, text)]
            if found:
                parts[name] = sum(found)
    needed = re.search(_CACHE_NEEDED, text)
    if needed:
        parsed.failure = "cache_below_max_model_len"
        parts["kv_cache_needed"], parts["kv_pool"] = _gib(needed[1]), _gib(needed[2])
    elif re.search(_NO_CACHE, text):
        parsed.failure = "no_room_for_cache"
    elif re.search(r"is less than desired GPU memory utilization", text):
        parsed.failure = "other_process_holds_memory"
