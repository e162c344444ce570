"""Arithmetic, ceilings and order of the speed of models that are not text decoders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.catalog import shipped_catalog
from knowledge.errors import AdvisorError, InputError, NotKnown
from tools.contracts.base import parse_request
from tools.contracts.other_speed import OtherSpeedReport, OtherSpeedRequest
from tools.other_speed import estimate_other_speed

CATALOG = shipped_catalog()
CARDS = ("T4", "A10", "L20", "V100-32GB", "A100-80GB", "H20-96GB", "L20N-48GB", "H100", "RTX-4090")
MODELS = (
    "FLUX.1-dev", "sdxl", "stable-diffusion-v1-5", "Wan2.1-T2V-1.3B", "HunyuanVideo", "whisper-large-v3",
    "bge-m3", "bge-reranker-v2-m3", "CosyVoice2-0.5B", "resnet50", "yolov8m",
)  # fmt: skip


def report(**fields: object) -> OtherSpeedReport:
    return estimate_other_speed(parse_request(OtherSpeedRequest, fields), CATALOG)


def test_the_arithmetic_of_flux_is_the_published_one() -> None:
    """74.4 TFLOP a step at 1,024 pixels: 59.5 of products, 14.9 of attention."""
    done = report(model="FLUX.1-dev", gpu="A100-80GB", steps=28)
    assert done.tflop_each / 28 == pytest.approx(74.4, rel=0.02)


def test_a_clip_with_guidance_takes_twice_the_work_of_one_without() -> None:
    one = report(model="Wan2.1-T2V-14B", gpu="L20", resolution="720p", guidance_passes=1)
    two = report(model="Wan2.1-T2V-14B", gpu="L20", resolution="720p", guidance_passes=2)
    assert two.step_s == pytest.approx(2 * (one.step_s or 0), rel=0.05)


def test_four_times_the_pixels_of_a_clip_take_more_than_four_times_as_long() -> None:
    """Attention grows with the square of the tokens."""
    small = report(model="HunyuanVideo", gpu="H20-96GB", resolution="640x360")
    large = report(model="HunyuanVideo", gpu="H20-96GB", resolution="1280x720")
    assert large.seconds_each > 5 * small.seconds_each


def test_the_hours_of_a_job_are_its_amount_over_the_rate() -> None:
    job = report(model="whisper-large-v3", gpu="A10", audio_hours=1000)
    assert job.hours == pytest.approx(1000 / job.per_s)
    assert job.hours_low is not None and job.hours_high is not None
    assert job.hours_low < (job.hours or 0) < job.hours_high


@given(
    model=st.sampled_from(MODELS),
    card=st.sampled_from(CARDS),
    batch=st.sampled_from((1, 2, 8, 32)),
    precision=st.sampled_from(("", "fp16", "fp8", "int8", "fp32")),
    engine=st.sampled_from(("", "TensorRT", "diffusers")),
)
def test_nothing_runs_above_what_the_card_can_compute_or_read(
    model: str, card: str, batch: int, precision: str, engine: str
) -> None:
    done = report(model=model, gpu=card, batch=batch, precision=precision, engine=engine)
    assert 0 < done.sustained_tflops <= done.peak_tflops
    assert done.per_s * done.tflop_each <= done.peak_tflops * 1.001
    assert 0 < done.per_s_low < done.per_s < done.per_s_high


@given(model=st.sampled_from(MODELS), card=st.sampled_from(CARDS), count=st.integers(2, 64))
def test_more_gpus_are_never_more_than_proportional(model: str, card: str, count: int) -> None:
    one, many = report(model=model, gpu=card), report(model=model, gpu=card, gpu_count=count)
    assert one.per_s < many.per_s <= count * one.per_s * 1.000001
    assert many.seconds_each == pytest.approx(one.seconds_each)


@given(model=st.sampled_from(MODELS), card=st.sampled_from(CARDS), batch=st.integers(1, 64))
def test_a_larger_batch_never_lowers_the_rate(model: str, card: str, batch: int) -> None:
    small, large = report(model=model, gpu=card, batch=batch), report(model=model, gpu=card, batch=2 * batch)
    assert large.per_s >= small.per_s * 0.999999


@given(model=st.sampled_from(MODELS[:5]), steps=st.integers(1, 200))
def test_more_steps_are_never_faster(model: str, steps: int) -> None:
    few = report(model=model, gpu="L20", steps=steps)
    assert report(model=model, gpu="L20", steps=steps + 1).seconds_each > few.seconds_each


@pytest.mark.parametrize("model", MODELS)
def test_a_card_without_measurements_is_called_an_estimate_with_a_range_of_two(model: str) -> None:
    done = report(model=model, gpu="L20N-48GB")
    assert done.evidence == "estimate_only"
    assert done.per_s_high / done.per_s_low >= 2


def test_every_model_of_these_kinds_is_answered_or_said_to_be_unknown() -> None:
    names = [row.name for row in (*CATALOG.pipelines, *CATALOG.vision_backbones)]
    names += [row.model_id for row in CATALOG.models if row.kind in ("asr", "tts", "embedding", "reranker")]
    answered = 0
    for name in names:
        try:
            answered += report(model=name, gpu="L20").per_s > 0
        except AdvisorError as error:
            assert isinstance(error, NotKnown), name
    assert answered > 0.8 * len(names)


def test_a_job_that_needs_offloading_says_so_and_widens_its_range() -> None:
    done = report(model="FLUX.1-dev", gpu="A10")
    assert done.fits is False
    assert "speed_needs_offload" in {item.code for item in done.warnings}
    assert done.per_s_high / done.per_s_low > 4


def test_a_slice_of_a_card_gets_its_share() -> None:
    whole, part = (
        report(model="bge-m3", gpu="A10"),
        report(model="bge-m3", instance_type="ecs.vgn7i-vws-m4.xlarge"),
    )
    assert part.per_s < 0.5 * whole.per_s


def test_unusable_words_name_their_field() -> None:
    for fields, field in (
        ({"model": "FLUX.1-dev", "gpu": "L20", "engine": "difusers"}, "engine"),
        ({"model": "FLUX.1-dev"}, "gpu"),
        ({"model": "FLUX.1-dv", "gpu": "L20"}, "model"),
        ({"model": "FLUX.1-dev", "gpu": "L20", "resolution": "99999x9"}, "resolution"),
    ):
        with pytest.raises(InputError) as caught:
            report(**fields)
        assert caught.value.field == field


def test_music_and_training_are_said_to_be_unmeasured() -> None:
    for fields in ({"model": "stable-audio-open"}, {"model": "FLUX.1-dev", "mode": "train-lora"}):
        with pytest.raises(NotKnown):
            report(gpu="L20", **fields)
