"""The plan for pasted logs: what states memory figures is set beside the estimate."""

from __future__ import annotations

from agent.planner.requests import mentioned
from agent.reading.types import Reading
from agent.steps import Call
from knowledge.errors import InputError
from tools.compare_log.parse import ParsedLog, parse_log


def log_comparison(reading: Reading) -> list[Call]:
    """The comparison of a start-up log, an out-of-memory trace or nvidia-smi output; nothing for a text that
    states no memory figures."""
    if _parsed(reading) is None:
        return []
    request = reading.request
    card = next(iter(mentioned(reading, "gpu")), None)
    args: dict[str, object] = {
        "text": reading.pasted_text,
        "model": request.model,
        "gpu": card.name if card else "",  # the card named, even one that the cloud does not rent
        "gpu_count": card.count if card else None,
        "weight_precision": request.precision,
        "kv_precision": request.kv_precision,
    }
    return [Call("compare_log", {key: value for key, value in args.items() if value}, "log")]


def log_is_sound(reading: Reading) -> bool:
    """Whether a pasted start-up log states figures and no failure: a guide on faults would mislead."""
    parsed = _parsed(reading)
    return parsed is not None and parsed.kind != "nvidia_smi" and not parsed.failure


def _parsed(reading: Reading) -> ParsedLog | None:
    if reading.pasted not in ("log", "nvidia_smi", "code"):
        return None
    try:
        parsed = parse_log(reading.pasted_text)
    except InputError:
        return None
    return parsed if parsed.parts or parsed.failure else None
