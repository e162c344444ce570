"""What images, clips, audio and texts take and cost: the figure first, its arithmetic, range and sources."""

from __future__ import annotations

import re

import pytest

from agent.events import Answer
from agent.evidence import Evidence
from agent.reading.conversation import read
from agent.run import Advisor
from knowledge.catalog import Catalog

QUESTIONS = (
    ("how many images per minute does FLUX on one L20 give", r"about [\d.]+ images per minute"),
    ("SDXL 在 A10 上一分钟能出多少张图", r"约每分钟 [\d.]+ 张"),
    ("Whisper large-v3 转写 1000 小时音频要多久、多少钱", r"约 [\d.]+ 倍实时"),
    (
        "transcribe 500 hours of audio with whisper large-v3-turbo on a T4: how long and what cost?",
        r"times real",
    ),
    ("embed 10M documents with bge-m3: how long and cost", r"about [\d,]+ texts/s"),
    ("bge-m3 每秒能处理多少条", r"约每秒 [\d,]+ 条"),
    ("Wan2.1 14B 720p 视频生成一条要多久", r"约 \d+ 分钟一条"),
    ("how long does one Wan2.1 14B 720p clip take on an A100", r"min per clip"),
    ("bge-reranker-v2-m3 on A10: how many pairs per second?", r"pairs/s"),
    ("CosyVoice2 在 L20 上的实时率是多少", r"倍实时"),
    ("how fast is YOLOv8m on T4, fps?", r"images/s"),
    ("how fast is YOLO11m on T4 with TensorRT batch 1, fps, for 1080p cameras?", r"about [12]\d\d images/s"),
    ("Flux.1-dev on A100 with torch.compile, 28 steps, seconds per image?", r"images per minute"),
)


def said(advisor: Advisor, *turns: str) -> Answer:
    result = advisor.answer(list(turns))
    assert isinstance(result, Answer)
    return result


def headline(text: str) -> str:
    """The first bold line that tells a rate."""
    return next(
        line for line in text.splitlines() if line.startswith("**") and ("about" in line or "约" in line)
    )


@pytest.mark.parametrize(("question", "figure"), QUESTIONS)
def test_the_figure_asked_for_stands_first_with_range_arithmetic_and_sources(
    advisor: Advisor, question: str, figure: str
) -> None:
    text = said(advisor, question).text
    assert re.search(figure, headline(text)), headline(text)
    assert "–" in headline(text) or re.search(r"to \d|到 ?\d", headline(text))
    assert "Arithmetic" in text or "**计算**" in text
    assert "**Sources**" in text or "**来源**" in text


@pytest.mark.parametrize(("question", "figure"), QUESTIONS)
def test_every_rate_hour_and_price_of_these_answers_is_in_a_report(
    advisor: Advisor, question: str, figure: str
) -> None:
    result = said(advisor, question)
    evidence = Evidence([item.report for item in result.reports], [question])
    own = re.split(r"\*\*(?:Worth knowing|经验|Mind|注意)\*\*", result.text)[0]  # advice speaks for itself
    assert [claim.text for claim in evidence.ungrounded(own) if claim.kind != "date"] == []


def test_a_card_without_measurements_is_called_an_estimate(advisor: Advisor) -> None:
    assert "estimate only" in headline(said(advisor, "images per minute of SDXL on an A10").text)
    assert "estimate only" not in headline(said(advisor, "how long per clip: HunyuanVideo 720p on H20").text)


def test_hours_of_audio_are_not_hours_of_renting(advisor: Advisor, catalog: Catalog) -> None:
    question = "Whisper large-v3 转写 1000 小时音频要多久、多少钱"
    reading = read([question], catalog)
    assert (reading.items_total, reading.item, reading.hours) == (1000, "audio_hour", None)
    assert "9,533" not in said(advisor, question).text


def test_the_job_costs_its_hours_times_the_price(advisor: Advisor) -> None:
    text = said(advisor, "generate 10000 images with SDXL on A10, how long and how much").text
    job = next(line for line in text.splitlines() if line.startswith("**Job.**"))
    hours, price, total = (
        float(re.search(pattern, job)[1].replace(",", ""))  # type: ignore[index]
        for pattern in (r"= ([\d.]+) h", r"× ([\d.]+) CNY/h", r"\*\*([\d,]+) CNY\*\*")
    )
    assert total == pytest.approx(hours * price, rel=0.01)


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("whisper large-v3 转写客服录音，每天3000小时音频，要几张卡", r"需要 \d+ 台"),
        ("2000 clips/night in an 8h window with Wan2.1 1.3B 480p, how many GPUs", r"Machines: \d+"),
    ],
)
def test_a_days_work_is_turned_into_machines(advisor: Advisor, question: str, count: str) -> None:
    assert re.search(count, said(advisor, question).text)


def test_steps_and_length_of_a_clip_said_in_the_question_count(advisor: Advisor) -> None:
    text = said(advisor, "FLUX.1-dev 20 steps on L20: images per minute?").text
    assert "20 steps" in text
    text = said(advisor, "Wan2.1 14B 720p 在 A100 上生成 3 秒视频要多久").text
    assert "时长 3.1 秒" in text


def test_one_image_is_no_amount(catalog: Catalog) -> None:
    assert read(["SDXL 生成一张图要多久"], catalog).items_total is None
