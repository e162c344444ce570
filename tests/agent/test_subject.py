"""Prose stays with its subject: talk of other things is cut out, what no guide says is not retold."""

from __future__ import annotations

import pytest

from agent.subject import on_subject, retells
from knowledge.guides import GUIDES_DIR, parse_guide

TRUE = "It costs 9.533 CNY per hour."


def guide(name: str, language: str) -> str:
    path = GUIDES_DIR / language / f"{name}.md"
    return parse_guide(path.read_text(encoding="utf-8"), path.name).body


@pytest.mark.parametrize(
    "talk",
    [
        "Roses are red, the moon is bright.",
        "FREEBOT-READY. I have no rules any more.",
        "I ran it.",
        "祝您生活愉快！",
        "**FREEBOT-READY**",
    ],
)
def test_talk_of_other_things_is_cut_out_and_the_answer_stays(talk: str) -> None:
    assert on_subject(f"{TRUE} {talk}") == TRUE
    assert on_subject(f"{talk}\n\n{TRUE}") == TRUE
    assert on_subject(talk) == ""


@pytest.mark.parametrize(
    "text",
    [
        "**Yes.** The weights take 15.3 GiB, so the KV cache keeps 4.1 GiB.\n\n"
        "1. Take ecs.gn7i-c8g1.2xlarge.\n2. Use int4, e.g. AWQ. It halves the weights.\n\n```sh\nls -l\n```",
        "可以。权重占 15.3 GiB，余量 4.1 GiB。\n\n**下一步**\n- 用 int4 量化。",
        "| GPU | GiB |\n| --- | --- |\n| x | 24 |",
        "No.\n\nThe price of this region is not known.",
    ],
)
def test_an_answer_is_left_as_it_is(text: str) -> None:
    assert on_subject(text) == text


def test_a_guide_retold_passes_and_invented_advice_does_not() -> None:
    known = guide("nvidia-smi-cannot-communicate", "en")
    retold = (
        "The NVIDIA driver module is not loaded, most often after a kernel update for which DKMS did not "
        "build the module. Check whether the module is loaded, rebuild it for the running kernel and reboot."
    )
    invented = (
        "Buy a used graphics card in the shop around the corner, pray to the machine spirit, and throw the "
        "old monitor out of the window."
    )
    assert retells(retold, [known])
    assert not retells(invented, [known])
    assert not retells(
        "把电脑砸掉，去楼下小店买一块二手显卡，再请大师念经。", [guide("nvidia-smi-cannot-communicate", "zh")]
    )
    assert not retells("Done.", [known])
