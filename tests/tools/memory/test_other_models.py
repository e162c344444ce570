"""Diffusion, video, speech, encoders and vision: published peaks, units in words, and honest refusals."""

from __future__ import annotations

import pytest

from knowledge.catalog import shipped_catalog
from knowledge.errors import InputError, NotKnown
from tools.contracts.other import OtherMemoryReport, OtherMemoryRequest
from tools.other_memory import estimate_other_memory
from tools.other_memory.words import length, offload_plan, pixels


def report(**fields: object) -> OtherMemoryReport:
    return estimate_other_memory(OtherMemoryRequest.model_validate(fields), shipped_catalog())


@pytest.mark.parametrize(
    ("fields", "measured", "tolerance"),
    [
        ({"model": "FLUX.1-dev", "resolution": "1024x1024"}, 34.7, 0.05),
        ({"model": "sdxl", "precision": "fp16"}, 10.47, 0.1),
        ({"model": "z-image-turbo", "mode": "train-lora", "gradient_checkpointing": True}, 12.87, 0.2),
        ({"model": "Wan-AI/Wan2.1-T2V-14B"}, 56 * 1e9 / 2**30, 0.2),
        ({"model": "openai/whisper-large-v2", "batch": 8}, 5.95, 0.05),
        (
            {
                "model": "detectron2/COCO-Detection/faster_rcnn_R_50_FPN_3x",
                "mode": "train",
                "resolution": "short side 800",
                "batch": 2,
            },
            3.0,
            0.1,
        ),
    ],
)
def test_published_peaks_are_met(fields: dict[str, object], measured: float, tolerance: float) -> None:
    assert report(**fields).peak_gib_per_gpu == pytest.approx(measured, rel=tolerance)


def test_one_huge_batch_of_an_encoder_is_seen_to_need_over_100_gib() -> None:
    found = report(model="BAAI/bge-m3", gpu="V100-32GB", batch=64, tokens=8192)
    assert found.peak_gib_per_gpu > 100
    assert found.fits is False


def test_parts_sum_to_the_peak_and_grow_with_pixels_frames_and_batch() -> None:
    base = report(model="Wan2.1-T2V-14B", resolution="832x480", frames=81)
    assert sum(base.parts_gib.values()) == pytest.approx(base.peak_gib_per_gpu)
    assert (
        report(model="Wan2.1-T2V-14B", resolution="1280x720", frames=81).peak_gib_per_gpu
        > base.peak_gib_per_gpu
    )
    assert (
        report(model="Wan2.1-T2V-14B", resolution="832x480", frames=121).peak_gib_per_gpu
        > base.peak_gib_per_gpu
    )
    for batch in (2, 8):
        assert report(model="resnet50", mode="train", batch=batch).peak_gib_per_gpu > (
            report(model="resnet50", mode="train", batch=batch // 2).peak_gib_per_gpu
        )


@pytest.mark.parametrize(
    "name", ["resnext50_32x4d", "resnext-101-64x4d", "mask_rcnn_X_50", "se_resnext101", "wide_resnet50_2"]
)
def test_a_backbone_that_is_not_known_is_never_taken_for_another(name: str) -> None:
    with pytest.raises(InputError) as error:
        report(model=name, mode="train")
    assert error.value.field == "model"


@pytest.mark.parametrize(
    ("name", "backbone"),
    [
        ("detectron2/COCO-Keypoints/keypoint_rcnn_X_101_32x8d_FPN_3x", "ResNeXt-101 32x8d"),
        ("mask_rcnn_X_101", "ResNeXt-101 32x8d"),
        ("mmsegmentation/deeplabv3plus R-50-D8", "ResNet-50"),
        ("resnext101", "ResNeXt-101 32x8d"),
    ],
)
def test_the_backbone_that_a_longer_name_means_is_said(name: str, backbone: str) -> None:
    found = report(model=name, mode="train")
    said = [item.value for item in found.assumptions if item.field == "model"]
    assert said in ([backbone], []) and (said or name == "resnext101")
    assert found.model == backbone


def test_offload_takes_less_than_none_and_by_layers_less_than_by_model() -> None:
    peaks = [
        report(model="flux", offload=offload).peak_gib_per_gpu
        for offload in ("none", "model cpu offload", "sequential cpu offload")
    ]
    assert peaks == sorted(peaks, reverse=True)


def test_what_would_fit_an_a10_is_named_for_flux() -> None:
    found = report(model="flux", gpu="A10")
    assert found.fits is False
    assert {option.change for option in found.limits if option.fits} >= {"weights_4bit", "offload_layers"}


def test_an_unknown_model_of_a_known_size_gets_a_stated_generic_shape() -> None:
    found = report(model="SuperVideo-7B", task="text-to-video")
    assert any(item.reason == "generic_denoiser" for item in found.assumptions)


@pytest.mark.parametrize("name", ["NoSuchPainter", "flax.1-dev-pro-ultra"])
def test_an_unknown_model_is_refused_with_near_names(name: str) -> None:
    with pytest.raises(InputError):
        report(model=name)


def test_a_text_decoder_is_not_answered_as_a_picture_model() -> None:
    with pytest.raises(NotKnown):
        report(model="Qwen/Qwen3-8B")


def test_sizes_lengths_and_offloads_are_read_as_people_write_them() -> None:
    assert pixels("720p") == (1280, 720)
    assert pixels("1024×768") == (1024, 768)
    assert pixels("512") == (512, 512)
    assert length("81 frames") == (81, None)
    assert length("5 秒") == (None, 5.0)
    assert length("13 min audio") == (None, 780.0)
    assert offload_plan("16 blocks swapped").blocks == 16
    for wrong in ("huge", "10x"):
        with pytest.raises(InputError):
            pixels(wrong)
