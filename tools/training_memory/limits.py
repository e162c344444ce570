"""What would make a training job fit: one change at a time, each computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from knowledge.catalog import Catalog
from knowledge.rows import Model
from tools.contracts.memory import FitOption
from tools.memory.card import Card
from tools.memory.formats import format_of
from tools.training_memory.plan import TrainingJob, plan_training
from tools.training_memory.recipe import Precision, resolve_optimizer

Change = tuple[str, str, str | int, TrainingJob]


def fit_options(job: TrainingJob, model: Model, card: Card | None, catalog: Catalog) -> tuple[FitOption, ...]:
    """Changes that were computed for a job that does not fit; those that fit come first."""
    if card is None or plan_training(job).peak <= card.usable:
        return ()
    options = []
    for change, field, value, changed in _changes(job, model, card.usable, catalog):
        peak = plan_training(changed).peak
        options.append(
            FitOption(
                change=change, field=field, value=value, total_gib_per_gpu=peak, fits=peak <= card.usable
            )
        )
    return tuple(sorted(options, key=lambda option: not option.fits))


def _changes(job: TrainingJob, model: Model, usable: float, catalog: Catalog) -> Iterator[Change]:
    yield from _step_changes(job)
    yield from _division_changes(job, usable)
    if job.method in ("full", "pretrain", "freeze"):
        eight_bit, _ = resolve_optimizer("adamw_8bit")
        yield "optimizer_8bit", "optimizer", "adamw_8bit", replace(job, optimizer=eight_bit)
    if job.method == "full":
        adapters = Precision("bf16", 2.0, 2.0, 0.0, 2.0, None)
        yield "lora", "method", "lora", replace(job, method="lora", precision=adapters)
    if job.method in ("full", "lora"):
        base = format_of(catalog.precision("nf4"), model)
        quantized = Precision("bf16+nf4", 4.0, 4.0, 0.0, 2.0, base)
        yield "qlora", "method", "qlora", replace(job, method="qlora", precision=quantized)


def _step_changes(job: TrainingJob) -> Iterator[Change]:
    step = job.step
    if step.checkpointing != "full":
        recomputed = replace(job, step=replace(step, checkpointing="full"))
        yield "recompute_activations", "gradient_checkpointing", "full", recomputed
    if step.tokens > step.sequence:
        single = replace(step, tokens=float(step.sequence))
        yield "lower_micro_batch", "micro_batch", 1, replace(job, step=single)
    if step.sequence >= 1024:
        half = step.sequence // 2
        shorter = replace(step, sequence=half, tokens=step.tokens * half / step.sequence)
        yield "lower_sequence_length", "sequence_length", half, replace(job, step=shorter)


def _division_changes(job: TrainingJob, usable: float) -> Iterator[Change]:
    """Sharding over the GPUs that are there, offload, and the first doubled GPU count that fits."""
    division = job.division
    if division.shards > 1 and division.zero < 3:
        yield "shard_parameters", "zero_stage", 3, replace(job, division=replace(division, zero=3))
    if not division.offload_optimizer:
        away = replace(division, offload_optimizer=True)
        yield "offload_optimizer", "offload", "optimizer", replace(job, division=away)
    for factor in (2, 4, 8, 16, 32, 64, 128):
        ranks = division.data * factor
        wider = replace(job, division=replace(division, data=ranks, zero=3))
        if plan_training(wider).peak <= usable:
            count = division.tensor * division.pipeline * division.context * ranks
            yield "more_gpus", "gpu_count", count, wider
            return
