"""Files as text of the talk: a config.json, the head of a model file or a log stands in the talk as if it had
been pasted, so that a conversation still travels whole with the client's messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath

from agent.reading.pasted import split_pasted
from knowledge.errors import InputError
from knowledge.model_files import FileWeights, safetensors_header, safetensors_index
from knowledge.model_import import MAX_BYTES, config_of_gguf
from tools.compare_log.telling import telling_lines

MAX_TEXT_BYTES = 2_000_000  # of a log
_LONGEST_LIST = 1_200  # entries: as many layers as a model may have, and some
_NEVER_READ = frozenset(
    {"id2label", "label2id", "ignore", "modules_to_not_convert", "auto_map", "task_specific_params"}
)
_ACCEPTED = "a config.json, a safetensors index, the head of a .safetensors or .gguf file, or a log as text"


def text_of_file(name: str, data: bytes) -> str:
    """What stands in the talk for an uploaded file. Nothing of it is run, nothing that it names is fetched.

    Raises `InputError` for a file of another kind, a damaged one, or one that is too large.
    """
    shown = PurePath(name.replace("\\", "/")).name[:80] or "file"
    if not data.strip():
        raise InputError("file", shown, "a file that is not empty")
    if data[:4] == b"GGUF":
        return _json_text({"model_name": PurePath(shown).stem, **config_of_gguf(data)})
    if shown.lower().endswith(".safetensors"):
        return _weights_text(shown, safetensors_header(data))
    text = _decoded(shown, data)
    values = _object(text)
    if values is not None and "weight_map" in values:
        return _weights_text(shown, safetensors_index(data))
    if values is not None:
        if len(data) > MAX_BYTES:
            raise InputError(shown, f"{len(data)} bytes", f"at most {MAX_BYTES} bytes")
        return _json_text(_small(values))
    if len(data) > MAX_TEXT_BYTES:
        raise InputError(shown, f"{len(data)} bytes", f"at most {MAX_TEXT_BYTES} bytes of text")
    return f"```\n{text.replace('```', '')}\n```"


def shortened(text: str, most: int) -> str | None:
    """A long message with what matters of it, in at most `most` characters: the keys of a config.json that
    are read, the lines of a log that state figures. None where it is neither, or still too long."""
    pasted = split_pasted(text)
    if pasted.kind == "config":
        values = _object(pasted.text)
        short = f"{pasted.prose.strip()[:2_000]}\n{_json_text(_small(values))}" if values else ""
    elif pasted.kind in ("log", "nvidia_smi", "code"):
        lines = telling_lines(text)
        ends = (most - 4_000) // 3
        short = f"{text[:ends]}\n…\n{lines[:ends]}\n…\n{text[-ends:]}" if lines else ""
    else:
        return None
    return short if 0 < len(short) <= most else None


def _decoded(name: str, data: bytes) -> str:
    for encoding in ("utf-8-sig", "utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\x00" not in text:
            return text
    raise InputError("file", name, _ACCEPTED)


def _object(text: str) -> dict[str, object] | None:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _small(values: Mapping[str, object]) -> dict[str, object]:
    """A config without the parts that say nothing of its memory: label tables, long lists."""
    small: dict[str, object] = {}
    for key, value in values.items():
        if key in _NEVER_READ or (isinstance(value, list) and len(value) > _LONGEST_LIST):
            continue
        small[key] = _small(value) if isinstance(value, dict) else value
    return small


def _json_text(values: Mapping[str, object]) -> str:
    return f"```json\n{json.dumps(values, ensure_ascii=False, indent=1)}\n```"


def _weights_text(name: str, weights: FileWeights) -> str:
    """Weights whose shapes are not told: their size, and the parameters they are at 16 bits each."""
    gigabytes = weights.tensor_bytes / 1e9
    if weights.parameters:
        return f"{name}: {weights.parameters / 1e9:.3f}B parameters, {gigabytes:.2f} GB on disk."
    size = f"{weights.tensor_bytes / 2e9:.3f}B parameters"
    return f"{name}: {size}, from {gigabytes:.2f} GB on disk at 16 bits each."
