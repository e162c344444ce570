"""Engines of this work by name: eager PyTorch, or compiled and fused kernels; the usual one of each kind."""

from __future__ import annotations

from knowledge.errors import InputError
from knowledge.names import near, normal
from tools.contracts.other_speed import OtherKind
from tools.other_speed.timing import EngineClass

_CLASSES: dict[EngineClass, tuple[str, ...]] = {
    "eager": (
        "eager", "diffusers", "ComfyUI", "transformers", "openai-whisper", "PyTorch", "sentence-transformers",
        "official", "FlagEmbedding", "timm", "ultralytics", "webui",
    ),
    "optimized": (
        "compiled", "torch.compile", "TensorRT", "TensorRT-LLM", "xDiT", "SGLang", "LightX2V", "OneFlow",
        "faster-whisper", "CTranslate2", "whisperx", "WhisperS2T", "vLLM", "TEI", "text-embeddings-inference",
        "infinity", "ONNX Runtime", "Triton",
    ),
}  # fmt: skip
_BY_NAME = {normal(name): (name, kind) for kind, names in _CLASSES.items() for name in names}
# What most people run without saying so.
_USUAL: dict[OtherKind, str] = {
    "image": "diffusers",
    "video": "diffusers",
    "asr": "faster-whisper",
    "tts": "TensorRT-LLM",
    "embedding": "TEI",
    "reranker": "TEI",
    "vision": "PyTorch",
}


def engine_of(name: str, kind: OtherKind) -> tuple[str, EngineClass]:
    """(name, class) of an engine as written; the usual one of the kind without a name."""
    found = _BY_NAME.get(normal(name or _USUAL[kind]))
    if found is None:
        known = {key: entry[0] for key, entry in _BY_NAME.items()}
        raise InputError("engine", name, "an engine of this kind of work", near(name, known))
    return found
