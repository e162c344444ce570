"""Start files of a training option: launcher, trainer settings and the DeepSpeed config of its plan."""

from __future__ import annotations

import json

import yaml
from jinja2 import Environment

from knowledge.catalog import Catalog
from tools.contracts.base import Assumption, SourceRef
from tools.contracts.launch import LaunchFile
from tools.contracts.sizing import Option, SizingRequest
from tools.contracts.training import TrainingMemoryReport, TrainingTimeReport
from tools.training_memory.step import ACCUMULATION

_STAGES = {"pretrain": "pt"}
_FINETUNING = {"lora": "lora", "qlora": "lora", "freeze": "freeze", "full": "full", "pretrain": "full"}
# Of adapters and of whole models, as in LLaMA-Factory's own examples.
_ADAPTER_RATE, _FULL_RATE = 1e-4, 1e-5
EXAMPLES = SourceRef(
    title="hiyouga/LLaMA-Factory: examples/train_lora and train_full, qwen3_lora_sft and qwen3_full_sft",
    as_of="",
)


def training_files(
    option: Option, request: SizingRequest, catalog: Catalog, env: Environment
) -> tuple[list[LaunchFile], list[str]]:
    """The launcher, LLaMA-Factory settings and a DeepSpeed config, or Megatron flags for a tensor or
    expert split."""
    memory = option.memory
    if not isinstance(memory, TrainingMemoryReport):
        return [], []
    model = catalog.find_model(request.model) if request.model else None
    tensor_split = option.plan.tensor_parallel > 1 or option.plan.expert_parallel > 1
    values: dict[str, object] = {
        "machines": option.count,
        "gpus": option.gpu_count,
        "tensor": option.plan.tensor_parallel,
        "pipeline": option.plan.pipeline_parallel,
        "expert": option.plan.expert_parallel,
        "sequence": _assumed(memory, "sequence_length", request.sequence_length or request.context_tokens),
        "micro_batch": _assumed(memory, "micro_batch", request.micro_batch or request.batch),
        "recomputes": any(
            (item.field, item.value) == ("gradient_checkpointing", "full") for item in memory.assumptions
        ),
        "accumulation": _accumulation(option, request),
        "global_batch": _global_batch(option),
        "precision": "fp16" if option.precision == "fp16" else "bf16",
        "tensor_split": tensor_split,
    }
    script = env.get_template("train.sh.j2").render(values)
    files = [LaunchFile(name="train.sh", language="bash", purpose="train", content=script)]
    needed = ["dataset"] if model else ["model", "dataset"]
    if tensor_split:
        return files, [*needed, "megatron_checkpoint"]
    settings = _settings(request, memory, model.model_id if model else "MODEL", values)
    stage = option.plan.zero_stage or 0
    if stage and option.count * option.gpu_count > 1:
        settings["deepspeed"] = "ds_config.json"
        config = json.dumps(_deepspeed(stage, str(values["precision"])), indent=2)
        files.append(
            LaunchFile(name="ds_config.json", language="json", purpose="deepspeed", content=f"{config}\n")
        )
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
    files.append(LaunchFile(name="train.yaml", language="yaml", purpose="train", content=text))
    return files, needed


def _settings(
    request: SizingRequest,
    memory: TrainingMemoryReport,
    model: str,
    values: dict[str, object],
) -> dict[str, object]:
    """LLaMA-Factory settings; batch and length are those that the memory was computed for."""
    method = memory.method
    settings: dict[str, object] = {
        "model_name_or_path": model,
        "stage": _STAGES.get(method, "sft"),
        "do_train": True,
        "finetuning_type": _FINETUNING[method],
    }
    if method in ("lora", "qlora"):
        settings |= {"lora_rank": _assumed(memory, "lora_rank", request.lora_rank), "lora_target": "all"}
    if method == "qlora":
        settings |= {"quantization_bit": 4, "quantization_method": "bnb"}
    settings |= {
        "dataset": "DATASET",
        "cutoff_len": values["sequence"],
        "output_dir": "saves/run",
        "per_device_train_batch_size": values["micro_batch"],
        "gradient_accumulation_steps": values["accumulation"],
        "learning_rate": _learning_rate(method),
        "num_train_epochs": float(request.epochs or 1),
        "gradient_checkpointing": values["recomputes"],
        "save_steps": 200,
        "logging_steps": 10,
        str(values["precision"]): True,
    }
    return settings


def _learning_rate(method: str) -> float:
    return _ADAPTER_RATE if method in ("lora", "qlora") else _FULL_RATE


def training_assumptions(option: Option, request: SizingRequest) -> tuple[Assumption, ...]:
    """Settings of `train.yaml` that decide how well the model learns and that nobody named."""
    memory = option.memory
    if not isinstance(memory, TrainingMemoryReport):
        return ()
    rate, steps = _learning_rate(memory.method), _accumulation(option, request)
    usual = "framework_example" if steps == ACCUMULATION else "default"
    return (
        Assumption(field="learning_rate", value=rate, reason="framework_example"),
        Assumption(field="gradient_accumulation", value=steps, reason=usual),
    )


def _global_batch(option: Option) -> int | None:
    """Samples of an optimizer step that the hours were computed for."""
    speed = option.speed
    if not isinstance(speed, TrainingTimeReport):
        return None
    found = next((item.value for item in speed.assumptions if item.field == "global_batch"), None)
    return found if isinstance(found, int) else None


def _accumulation(option: Option, request: SizingRequest) -> int:
    """Micro-batches of an optimizer step and rank, as in the hours."""
    batch, memory = _global_batch(option), option.memory
    if batch is None or not isinstance(memory, TrainingMemoryReport):
        return ACCUMULATION
    micro = _assumed(memory, "micro_batch", request.micro_batch or request.batch)
    return max(1, batch // (micro * max(1, option.plan.data_parallel)))


def _deepspeed(stage: int, precision: str) -> dict[str, object]:
    """The DeepSpeed config of a ZeRO stage; "auto" is filled in by the trainer."""
    zero: dict[str, object] = {"stage": stage, "overlap_comm": True, "contiguous_gradients": True}
    if stage == 3:
        zero["stage3_gather_16bit_weights_on_model_save"] = True
    return {
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto",
        "gradient_clipping": "auto",
        "bf16": {"enabled": precision == "bf16"},
        "fp16": {"enabled": precision == "fp16"},
        "zero_optimization": zero,
    }


def _assumed(memory: TrainingMemoryReport, field: str, given: int | None) -> int:
    """A value of the request, or the one that the memory report assumed."""
    if given is not None:
        return given
    found: Assumption | None = next((a for a in memory.assumptions if a.field == field), None)
    return int(found.value) if found is not None and isinstance(found.value, int) else 1
