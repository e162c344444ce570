"""Serving engines by their fitted speed coefficients."""

from __future__ import annotations

from tools.engines import known_engine
from tools.throughput.coefficients import COEFFICIENTS, Engine


def find_engine(name: str) -> tuple[Engine, str]:
    """The engine of this name and a stable code where it stands in for another; `InputError` if unknown,
    `NotKnown` for engines of another kind.

    A version at the end ("vllm 0.29", "ollama 0.33.3") is ignored; "" is vLLM.
    """
    engines = COEFFICIENTS.engines
    if not name.strip():
        return engines["vllm"], "default"
    known, _version = known_engine(name)
    return engines[known.speed], "" if known.own_speed else "modelled_as"
