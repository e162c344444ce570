"""Chunks and tokens: what cannot be cut apart cannot be lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from knowledge.guides import Guide, GuideSource, load_guides
from retrieval.chunk import chunk_guide, pack, sections
from retrieval.texts import focus, gist, highlight
from retrieval.words import Tokenizer, stem, text_language


def _guide(body: str, language: str = "en") -> Guide:
    return Guide(
        id="a-guide",
        language=language,
        title="A guide",
        category="driver_cuda",
        symptoms=("some error",),
        sources=(GuideSource(title="A document"),),
        body=body.ljust(80),
    )


def test_a_code_block_is_never_cut() -> None:
    code = "```bash\n" + "\n\n".join(f"command {number}" for number in range(60)) + "\n```"
    chunks = list(chunk_guide(_guide(f"## How to check\n\nFirst.\n\n{code}\n\nThen.")))
    assert any(code in chunk.text for chunk in chunks)


def test_chunks_stay_near_the_length_that_embeds_well() -> None:
    for guide in load_guides():
        limit = 400 if guide.language == "en" else 200
        plain = [chunk for chunk in chunk_guide(guide) if "```" not in chunk.text and chunk.heading]
        long = [chunk for chunk in plain if len(chunk.text) > 2.2 * limit]
        assert len(long) <= max(1, len(plain) // 5), guide.id


def test_every_word_of_a_guide_is_in_some_chunk() -> None:
    for guide in load_guides():
        joined = " ".join(f"{chunk.heading} {chunk.text}" for chunk in chunk_guide(guide))
        words = guide.body.replace("#", " ").split()
        assert not [word for word in words if word not in joined], guide.id


def test_chunk_ids_are_stable_and_distinct() -> None:
    guides = load_guides()
    first = [chunk.id for guide in guides for chunk in chunk_guide(guide)]
    second = [chunk.id for guide in guides for chunk in chunk_guide(guide)]
    assert first == second
    assert len(set(first)) == len(first)


def test_an_edit_changes_only_the_chunk_it_touches() -> None:
    body = "\n\n".join(f"## Part {number}\n\nText of part {number} is here." for number in range(5))
    before = {chunk.id for chunk in chunk_guide(_guide(body))}
    after = {chunk.id for chunk in chunk_guide(_guide(body.replace("part 3 is here", "part 3 moved")))}
    assert len(before - after) == 1
    assert len(after - before) == 1


@given(st.text(max_size=400), st.integers(20, 200))
def test_packing_loses_no_word(text: str, limit: int) -> None:
    joined = "".join(pack(text, limit))
    assert "".join(joined.split()) == "".join(text.split())


def test_sections_keep_their_headings() -> None:
    assert sections("intro\n## One\na\n### Two\nb") == [("", "intro"), ("One", "a"), ("Two", "b")]


def test_names_and_codes_stay_whole_and_give_their_parts() -> None:
    tokens = Tokenizer().tokens("ecs.gn7i-c8g1.2xlarge fails with NCCL_SOCKET_IFNAME and Xid 79")
    assert "ecs.gn7i-c8g1.2xlarge" in tokens
    assert "gn7i" in tokens
    assert "nccl_socket_ifname" in tokens
    assert "79" in tokens


def test_chinese_is_cut_into_words_and_names_of_the_catalog_stay_whole() -> None:
    tokens = Tokenizer(["乌兰察布"]).tokens("升级内核后显卡驱动失效，乌兰察布有货吗")
    assert "驱动" in tokens
    assert "内核" in tokens
    assert "乌兰察布" in tokens


def test_stemming_joins_forms_and_leaves_names() -> None:
    assert stem("drivers") == stem("driver")
    assert stem("running") == stem("runs") == "run"
    assert stem("failed") == stem("fails")
    assert stem("gn7i") == "gn7i"


def test_the_language_of_a_question_is_its_own() -> None:
    assert text_language("nvidia-smi 报错 couldn't communicate 怎么办") == "zh"
    assert text_language("Why does nvidia-smi fail?") == "en"


@given(st.text(max_size=300))
def test_no_text_breaks_the_tokenizer(text: str) -> None:
    assert all(token for token in Tokenizer().tokens(text))


def test_a_long_log_is_cut_to_its_error_lines() -> None:
    log = "\n".join(f"INFO step {number} is fine" for number in range(5000))
    cut = focus(f"{log}\nRuntimeError: CUDA error: no kernel image is available\n{log}")
    assert "no kernel image is available" in cut
    assert len(cut) <= 6000


def test_the_snippet_shows_the_line_that_answers() -> None:
    text = "\n".join(["Line about nothing " * 5] * 6 + ["Reinstall the driver with DKMS."])
    assert "DKMS" in highlight(text, ["dkms", "driver"])


def test_the_error_of_a_long_log_is_what_is_embedded() -> None:
    noise = [f"INFO step {number} loss 1.{number}" for number in range(200)]
    log = "\n".join([*noise, "RuntimeError: NCCL error: unhandled system error", "bye"])
    assert gist(log).startswith("RuntimeError: NCCL error")
    assert len(gist(log)) <= 300
    assert gist("short question?") == "short question?"
