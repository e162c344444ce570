"""The calculator of training memory: `TrainingMemoryRequest` to `TrainingMemoryReport`."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.catalog import Catalog
from knowledge.errors import InputError, NotKnown
from knowledge.names import near, normal
from knowledge.rows import Model
from tools.contracts.base import SourceRef
from tools.contracts.training import TrainingMemoryReport, TrainingMemoryRequest
from tools.memory.card import Card
from tools.memory.plan import TIGHT_SHARE
from tools.memory.request import resolve_model, resolve_target
from tools.memory.shape import shape_of
from tools.memory.weights import GIB
from tools.notes import Notes
from tools.training_memory.activations import Step, lora_targets
from tools.training_memory.frameworks import resolve_framework
from tools.training_memory.limits import fit_options
from tools.training_memory.parallelism import resolve_division
from tools.training_memory.plan import Copies, TrainingJob, plan_training
from tools.training_memory.recipe import resolve_method, resolve_optimizer, resolve_precision
from tools.training_memory.step import StepSettings, settle_rank, settle_step
from tools.training_memory.trainers import Trainer

# Rule of thumb of 16-bit mixed precision with AdamW (Rajbhandari et al., ZeRO, 2020): weights 2, gradients 2,
# fp32 copy 4, two moments 8 for a trained parameter; the weight alone for a frozen one.
_STATE_BYTES, _FROZEN_BYTES = 16.0, 2.0
_COPIES = {
    "": Copies(),
    "sft": Copies(),
    "pretrain": Copies(),
    "dpo": Copies(frozen=1.0, batch_factor=2.0),
    "kto": Copies(frozen=1.0, batch_factor=2.0),
    "orpo": Copies(batch_factor=2.0),
    "simpo": Copies(batch_factor=2.0),
    "grpo": Copies(frozen=1.0, rollout=1.0),
    "ppo": Copies(frozen=2.0, trained=1.0, rollout=1.0),
}
# Measured over estimated peak, 5th and 95th percentile of 299 rows: samples shorter than the limit make large
# batches take less, copies of the loss make them take more.
_RANGE, _RANGE_LARGE_BATCH = (0.72, 1.62), (0.35, 2.1)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A request resolved: the job for `plan_training` and what the report says of it."""

    model: Model
    job: TrainingJob
    card: Card | None
    gpu_count: int


def estimate_training_memory(request: TrainingMemoryRequest, catalog: Catalog) -> TrainingMemoryReport:
    """Peak GPU memory of a training step on the fullest GPU, GiB. Raises `InputError` and `NotKnown`."""
    notes = Notes()
    resolved = resolve(request, catalog, notes)
    plan = plan_training(resolved.job)
    job, card = resolved.job, resolved.card
    below, above = _RANGE_LARGE_BATCH if job.step.tokens > 2 * job.step.sequence else _RANGE
    margin = card.usable - plan.peak if card else None
    fits = None if margin is None else margin >= 0
    tight = card is not None and margin is not None and margin < TIGHT_SHARE * card.usable
    return TrainingMemoryReport(
        model=resolved.model.model_id,
        gpu=card.name if card else "",
        gpu_count=resolved.gpu_count,
        method=job.method,
        precision=job.precision.name,
        optimizer=job.optimizer.name,
        parameters_gib=plan.parameters,
        gradients_gib=plan.gradients,
        optimizer_gib=plan.optimizer,
        activations_gib=plan.activations,
        logits_gib=plan.logits,
        overhead_gib=plan.overhead,
        peak_gib_per_gpu=plan.peak,
        peak_gib_per_gpu_low=plan.peak * below,
        peak_gib_per_gpu_high=plan.peak * above,
        trainable_params_b=plan.trainable / 1e9,
        total_params_b=job.shape.total / 1e9,
        states_gib=_states_gib(job, plan.trainable),
        nominal_gib_per_gpu=card.nominal if card else None,
        host_memory_gib=plan.host,
        usable_gib_per_gpu=card.usable if card else None,
        fits=fits,
        verdict=None if fits is None else "does_not_fit" if not fits else "tight" if tight else "fits",
        margin_gib=margin,
        limits=fit_options(job, resolved.model, card, catalog),
        assumptions=tuple(notes.assumptions),
        warnings=tuple(notes.warnings),
        sources=(SourceRef(title=resolved.model.source, as_of=resolved.model.as_of),),
    )


def _states_gib(job: TrainingJob, trainable: float) -> float | None:
    """The rule of thumb for 16-bit mixed precision with AdamW, all GPUs together."""
    if job.precision.base is not None or job.optimizer.name != "adamw":
        return None
    frozen = job.shape.total - trainable if job.method in ("full", "pretrain", "freeze") else job.shape.total
    return (_STATE_BYTES * trainable + _FROZEN_BYTES * frozen) / GIB


def resolve(request: TrainingMemoryRequest, catalog: Catalog, notes: Notes) -> Resolved:
    """Names looked up and defaults filled in. Raises `InputError` or `NotKnown`."""
    model, _ = resolve_model(request.model, request.params_b, catalog, notes)
    shape = shape_of(model)
    if not shape.known_layout:
        raise NotKnown("model", model.model_id, f"the layers of {model.model_id} are not known")
    card, instance_gpus = resolve_target(request.gpu, request.instance_type, catalog, notes)
    method, reason = resolve_method(request.method, request.precision)
    if reason:
        notes.assume("method", method, reason)
    objective = normal(request.objective) or (
        normal(request.method) if normal(request.method) in ("dpo", "grpo", "ppo") else ""
    )
    if objective not in _COPIES:
        raise InputError("objective", request.objective, "sft, dpo, grpo or ppo", near(objective, _COPIES))
    optimizer, reason = resolve_optimizer(request.optimizer)
    if reason:
        notes.assume("optimizer", optimizer.name, reason)
    framework, reason = resolve_framework(
        request.framework, request.parallelism + (" zero" if request.zero_stage else "")
    )
    if reason:
        notes.assume("framework", framework.name, reason)
    trainer = framework.trainer
    precision, reason = resolve_precision(request.precision, method, trainer.keeps_master, catalog, model)
    if reason:
        notes.assume("precision", precision.name, reason)
    sharded = method in ("full", "pretrain", "freeze") or trainer.shards_by_default
    division, count, reason = resolve_division(
        request, request.gpu_count or instance_gpus, sharded, trainer.shards_by_default
    )
    if reason:
        notes.assume("parallelism", f"zero{division.zero}", reason)
    settled = settle_step(request, framework, shape.total, division.pipeline, division.context, notes)
    job = TrainingJob(
        shape=shape,
        method=method,
        precision=precision,
        optimizer=optimizer,
        division=division,
        step=_step(request, trainer, settled, precision.activation_bytes, notes),
        trainer=trainer,
        rank=settle_rank(request, method, notes),
        targets=lora_targets(request.lora_targets),
        copies=_COPIES[objective],
    )
    return Resolved(model, job, card, count)


def _step(
    request: TrainingMemoryRequest, trainer: Trainer, settled: StepSettings, width: float, notes: Notes
) -> Step:
    flash = request.flash_attention
    if flash is None:
        flash = True
        notes.assume("flash_attention", flash, "default_flash_attention")
    fused = request.fused_loss
    if fused is None:
        fused = trainer.fused_loss
        notes.assume("fused_loss", fused, "framework_default")
    tokens = float(settled.sequence * settled.micro_batch)
    return Step(tokens, settled.sequence, settled.checkpointing, flash, fused, width)
