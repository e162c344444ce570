"""Start files of an inference option: flags that say exactly what the plan says."""

from __future__ import annotations

import re

from jinja2 import Environment

from knowledge.catalog import Catalog
from tools.contracts.launch import LaunchFile
from tools.contracts.memory import MemoryReport
from tools.contracts.sizing import Option, SizingRequest
from tools.memory.engines import CHECKED_VLLM

# Formats that need files of their own: nobody can name the right repository for every model.
_OWN_FILES = ("awq", "gptq", "gguf", "int4", "int8", "nvfp4", "mxfp4", "exl2", "aqlm")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+-]*")
_ENGINES = ("vllm", "sglang", "lmdeploy", "llama.cpp")


def serving_files(
    option: Option, request: SizingRequest, catalog: Catalog, env: Environment
) -> tuple[list[LaunchFile], list[str]]:
    """The start script (and a compose file for vLLM on one machine), and the inputs they need."""
    memory, plan = option.memory, option.plan
    if not isinstance(memory, MemoryReport) or plan.engine not in _ENGINES:
        return [], []
    model = catalog.find_model(request.model) if request.model else None
    native = model.native_dtype.split(" ")[0].lower() if model else ""
    own = option.precision.startswith(_OWN_FILES) and not native.startswith(option.precision.split("-")[0])
    # Only a catalog id may stand in a script: what a user wrote could be a command.
    repository = model.model_id if model is not None and _REPOSITORY.fullmatch(model.model_id) else ""
    values: dict[str, object] = {
        "model": "" if own else repository,
        "model_hint": f"{option.precision} files of {repository or 'the model'}",
        "gpus": option.gpu_count,
        "machines": option.count,
        "over_machines": plan.tensor_parallel * plan.pipeline_parallel > option.gpu_count,
        "tensor": plan.tensor_parallel,
        "pipeline": plan.pipeline_parallel,
        "replicas": max(1, plan.data_parallel // option.count),
        "max_model_len": memory.context_tokens,
        "max_num_seqs": plan.max_num_seqs or max(1, memory.concurrency),
        "set_max_num_seqs": plan.max_num_seqs is not None or plan.engine != "vllm",
        "share": _share(memory),
        "dtype": {"bf16": "bfloat16", "fp16": "half", "fp32": "float32"}.get(option.precision, ""),
        "kv_dtype": memory.kv_precision if memory.kv_precision.startswith("fp8") else "",
        "online_fp8": option.precision in ("fp8", "fp8-w8a16") and not native.startswith("fp8"),
        "port": 8000,
        "vllm": CHECKED_VLLM,
    }
    script = env.get_template(f"serve-{plan.engine}.sh.j2").render(values)
    files = [LaunchFile(name="serve.sh", language="bash", purpose="serve", content=script)]
    if plan.engine == "vllm" and not values["over_machines"]:
        compose = env.get_template("docker-compose.yaml.j2").render(values)
        files.append(
            LaunchFile(name="docker-compose.yaml", language="yaml", purpose="compose", content=compose)
        )
    return files, [] if values["model"] else ["model"]


def _share(memory: MemoryReport) -> float | None:
    """The share of the card that the memory plan was computed with."""
    for assumption in memory.assumptions:
        if assumption.field == "gpu_memory_utilization" and isinstance(assumption.value, float | int):
            return round(float(assumption.value), 3)
    return None
