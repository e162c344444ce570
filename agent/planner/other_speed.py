"""Plans for the speed of images, video, speech, embeddings and vision: rate on each card, then its cost."""

from __future__ import annotations

import re
from typing import Any

from agent.planner import calculations, sizing
from agent.planner.requests import is_other, is_training, memory_call, models, sizing_args, target
from agent.steps import Call, Case
from tools.contracts.cost import CostReport
from tools.contracts.other_speed import OtherKind, OtherSpeedReport
from tools.contracts.sizing import Recommendation

TOOL = "estimate_other_speed"
_CARDS = 3
_DAY_HOURS = 24.0
# Units that a price is told for: an image or clip made, a million texts or images read, an hour of audio.
_PRICED: dict[OtherKind, float] = {
    "image": 1.0, "video": 1.0, "vision": 1e6, "embedding": 1e6, "reranker": 1e6,
    "asr": 3600.0, "tts": 3600.0,
}  # fmt: skip
_STEPS = re.compile(r"(?<![\d.])(\d{1,3})\s*(?:步|(?:denoising |sampling )?steps?\b)", re.IGNORECASE)
_CLIP = re.compile(
    r"(?<![\d.])(\d{1,3}(?:\.\d)?)\s*(?:秒|s|sec(?:onds?)?)[-\s]?(?:的)?\s*(?:\d{3,4}p)?\s*(?:视频|短片|videos?|clips?)",
    re.IGNORECASE,
)
_ENGINES = frozenset({"vllm", "sglang", "tensorrt-llm", "transformers"})
# Engines of this work only, as the calculator names them.
_OWN_ENGINE = re.compile(
    r"(?<![\w.-])(TensorRT(?!-?LLM)|ONNX Runtime|torch\.compile|PyTorch|diffusers|ComfyUI|xDiT|"
    r"faster-whisper|whisperx|CTranslate2|TEI|text-embeddings-inference|sentence-transformers|FlagEmbedding)(?![\w-])",
    re.IGNORECASE | re.ASCII,
)
_SIDES = re.compile(r"\d{3,4}\s*[x×*]\s*\d{3,4}|imgsz", re.IGNORECASE)


def size(case: Case) -> list[Call]:
    """As for sizing; where so much a day is to be got through, the rates of the options too."""
    calls = sizing.size(case)
    reading = case.reading
    amount = reading.items_per_day or reading.items_total or reading.request.requests_per_second
    if calls or not _asked(case) or not amount:
        return calls
    return _of_options(case) or _costs(case)


def speed(case: Case) -> list[Call]:
    """Rates on the cards named with the memory behind them; without one, on what would be recommended."""
    if not _asked(case):
        return calculations.speed(case)
    reading = case.reading
    name = models(reading)[0]
    places = target(reading, by_memory=False)[:_CARDS]
    if not case.done:
        if places == [{}]:
            least = {"min_gpu_memory_gib": reading.vram_gb} if reading.vram_gb else {}
            return [Call("recommend_instance", sizing_args(reading.request, **least))]
        rates = [_rate(case, place) for place in places]
        return rates + [Call(*memory_call(reading, name, place, case.catalog), "main") for place in places]
    return _of_options(case) or _costs(case)


def cost(case: Case) -> list[Call]:
    """What a job of this kind costs follows from its hours."""
    if _asked(case) and (case.reading.items_total or not case.reading.hours):
        return speed(case)
    return calculations.cost(case)


def _asked(case: Case) -> bool:
    """Whether the question is about running a model that is no text decoder."""
    names = models(case.reading)
    found = case.catalog.find_model(names[0]) if names else None
    trained = is_training(case.reading)  # of these kinds only networks of vision have a known training speed
    return found is not None and is_other(names[0], case.catalog) and (not trained or found.kind == "vision")


def _rate(case: Case, place: dict[str, Any]) -> Call:
    reading, request = case.reading, case.reading.request
    steps, clip = _STEPS.search(reading.question), _CLIP.search(reading.question)
    values: dict[str, Any] = {
        "model": models(reading)[0],
        "mode": "train-full" if is_training(reading) else "",
        "task": request.task if request.task in ("diffusion", "video") else "",
        "resolution": _resolution(case),
        "frames": request.frames,
        "duration_s": float(clip[1]) if clip and not request.frames else None,
        "steps": int(steps[1]) if steps and int(steps[1]) else None,
        "batch": request.batch,
        "tokens": request.context_tokens or request.input_tokens,
        "precision": request.precision,
        "engine": _engine(reading.question, request.engine),
        **_amount(case),
        **place,
    }
    return Call(TOOL, {key: value for key, value in values.items() if value})


def _resolution(case: Case) -> str:
    """The size stated; "1080p" of a camera says nothing of the size at which a network of vision reads."""
    found = case.catalog.find_model(models(case.reading)[0])
    if found is not None and found.kind == "vision" and not _SIDES.search(case.reading.question):
        return ""
    return case.reading.request.resolution


def _engine(question: str, read: str) -> str:
    own = _OWN_ENGINE.search(question)
    return own[1] if own else read if read in _ENGINES else ""


def _amount(case: Case) -> dict[str, float]:
    """The work to get through, in units of the calculator; a day's work where so much comes each day."""
    reading = case.reading
    epochs = reading.request.epochs or 1 if is_training(reading) else 1
    amount = (reading.items_total or reading.items_per_day or 0) * epochs
    window = {"window_hours": reading.window_hours or _DAY_HOURS} if reading.items_per_day else {}
    if reading.item == "audio_hour" and amount:
        return {"audio_hours": amount, **window}
    rate = reading.request.requests_per_second
    if not amount and rate:
        return {"amount": rate * _DAY_HOURS * 3600, "window_hours": _DAY_HOURS}
    samples = (reading.request.dataset_samples or 0) * epochs
    if not amount and samples and samples >= 2:
        amount = samples
    return {"amount": amount, **window} if amount else {}


def _of_options(case: Case) -> list[Call]:
    """Rates of the first options of a recommendation, one of each card."""
    found = case.done.first(Recommendation)
    if found is None or case.done.called(TOOL):
        return []
    by_card = {option.gpu_model: option for option in reversed(found.options)}
    options = [option for option in found.options if by_card[option.gpu_model] is option][:_CARDS]
    return [
        _rate(
            case,
            {
                "instance_type": item.instance_type,
                **({"precision": item.precision} if item.precision_rung else {}),
            },
        )
        for item in options
    ]


def _costs(case: Case) -> list[Call]:
    """The price of the machine behind each rate, for the hours of the job where there is one."""
    if case.done.first(CostReport) is not None:
        return []
    regions = {option.instance_type: option.region for option in _options(case)}
    calls: list[Call] = []
    for step in case.done:
        report = step.artifact
        if not isinstance(report, OtherSpeedReport):
            continue
        kind = step.call.args.get("instance_type") or _type_of(case, report)
        if kind:
            args = calculations.cost_args(case.reading, kind, regions.get(kind, ""), None)
            args.pop("hours", None)
            args |= {"work_per_hour": report.per_hour, "work_units": _PRICED[report.kind], **_hours(report)}
            calls.append(Call("estimate_cost", args, "beside" if calls else ""))
    return calls


def _hours(report: OtherSpeedReport) -> dict[str, float]:
    """The hours of the job with their range."""
    if not report.hours or not report.hours_low or not report.hours_high or report.machines is not None:
        return {}
    return {"hours": report.hours, "hours_low": report.hours_low, "hours_high": report.hours_high}


def _options(case: Case) -> tuple[Any, ...]:
    found = case.done.first(Recommendation)
    return found.options if found is not None else ()


def _type_of(case: Case, report: OtherSpeedReport) -> str:
    """The smallest type on sale with the GPUs of a rate; "" without one."""
    rows = case.catalog.with_gpu(report.gpu, "current")
    found = calculations.smallest(rows, report.gpu_count) if rows else []
    return found[0] if found and case.catalog.instance(found[0]).whole_gpus == report.gpu_count else ""
