"""Number words of both languages as digits, and numbers with their scale ("5 万", "2w", "3k")."""

from __future__ import annotations

import re
from functools import cache

from agent.reading.phrases import any_of, vocabulary
from agent.reading.words import Words

# A plain number: at most 15 digits, so that no text can overflow or stall the reading.
NUM = r"(?<![\d.])(?:\d{1,3}(?:,\d{3}){1,4}(?!\s?b)|\d{1,15})(?:\.\d{1,6})?(?!\d)"
SCALE = r"(?:百万|千万|百|千|万|亿|k(?![a-z])|w(?![a-z])|m(?![a-z])|mn\b|million|thousand|billion)"

_SCALES = {
    "百": 1e2, "千": 1e3, "k": 1e3, "thousand": 1e3, "万": 1e4, "w": 1e4, "百万": 1e6, "m": 1e6, "mn": 1e6,
    "million": 1e6, "千万": 1e7, "亿": 1e8, "b": 1e9, "billion": 1e9, "t": 1e12,
}  # fmt: skip


def number(text: str, scale: str | None = "") -> float:
    """The value of a number as matched by `NUM` with its scale word."""
    return float(text.replace(",", "")) * _SCALES.get((scale or "").strip(), 1.0)


_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "俩": 2, "三": 3, "四": 4, "五": 5, "六": 6,
           "七": 7, "八": 8, "九": 9}  # fmt: skip
_NUMERALS = "零〇一二两三四五六七八九十百千万亿"
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
# What a Chinese numeral must stand before to be a number; "一样", "千问", "万相" are words.
_UNIT = (
    r"张|卡|块|台|个|人|条|天|日|周|月|年|小时|分钟|秒|并发|路|元|轮|倍|次|页|机|节点|用户|位|名|样本|篇|份"
    r"|段"
    r"|字|token|tokens|b(?![a-z])|g(?![a-z])|gb|对|核|线程|batch|qps|epoch|号|套|星期|礼拜|钟头|刀|美元"
    r"|美金|毛"
)
# "八千一个月" is eight thousand a month: the last 一 belongs to the span of time.
_NEXT = r"(?:(?!一个?(?:月|年|天|小时|周))[零〇一二两三四五六七八九十百千万亿])"
_CHINESE = re.compile(
    r"(?<!第)(?:"
    r"(?P<range>[一二两三四五六七八九])(?=[二两三四五六七八九](?:个|张|块|台|人|天|卡|路|条|次))"
    rf"|(?P<vague>十几|几|上)(?P<vague_scale>[十百千万])?(?=\s*[多来]?\s*(?:{_UNIT}|并发|请求))"
    rf"|(?P<number>[一二两俩三四五六七八九十百千]{_NEXT}{{0,12}})(?=\s*[多来几]?\s*(?:{_UNIT}))"
    rf"|(?P<bare>[一二两三四五六七八九十]{_NEXT}{{0,10}}[十百千万亿][二三四五六七八九]?)(?!问|相|川|足|全|分)"
    r"|(?P<half>半)(?=个?(?:天|日|月|年|小时|钟头))"
    r"|(?P<pair>双|单)(?=\s*(?:卡|张|块|机|路|节点)))"
)


def chinese_number(text: str) -> int:
    """The value of a Chinese numeral: 三千 3000, 十二 12, 一百二 120, 两万五 25000, 百万 1000000."""
    total = section = digit = 0
    last = 1
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _SMALL:
            section += (digit or 1) * _SMALL[char]
            last, digit = _SMALL[char], 0
        else:
            total = (total + section + digit or 1) * _LARGE[char]
            last, section, digit = _LARGE[char], 0, 0
    # "一百二" and "两万五" leave out the last scale.
    if digit and last >= 100 and "零" not in text and text[-2:-1] in "百千万亿" and len(text) > 2:
        digit *= last // 10
    return total + section + digit


def _chinese(match: re.Match[str]) -> str | None:
    digits = _chinese_digits(match)
    before = match.string[match.start() - 1 : match.start()]
    # "4090一张" must not become "40901张", nor "八千一个月" 80001.
    joined = before in _NUMERALS or (before.isascii() and before.isalnum())
    return f" {digits}" if digits and before and joined else digits


def _chinese_digits(match: re.Match[str]) -> str | None:
    if match["range"]:
        return f"{_DIGITS[match['range']]}-"
    if match["vague"]:
        return _vague(match["vague"], match["vague_scale"])
    if match["half"]:
        return "0.5"
    if match["pair"]:
        return "2" if match["pair"] == "双" else "1"
    return str(chinese_number(match["number"] or match["bare"]))


def _vague(word: str, scale: str | None) -> str | None:
    """几十 as 50, 十几 as 15, 上百 as 100: a middle value, read with low confidence."""
    size = _SMALL.get(scale or "") or _LARGE.get(scale or "")
    if word == "十几":
        return "15"
    if size is None:
        return None
    return str(size * (1 if word == "上" else 5))


_ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {word: value for value, word in enumerate(_ONES, start=1)} | {
    word: 10 * (value + 2) for value, word in enumerate(_TENS)
}
_MULTIPLES = {"hundred": 100, "thousand": 1000, "dozen": 12}
_ENGLISH = re.compile(
    rf"(?<![a-z0-9-])(?:(?:a|an)\s+(?=(?:{'|'.join(_MULTIPLES)})\b))?"
    rf"(?:{'|'.join([*_VALUES, *_MULTIPLES])})(?:[ -](?:{'|'.join([*_VALUES, *_MULTIPLES])}))*(?![a-z0-9])"
    r"|\ba\s+single\b|\ba\s+couple(?:\s+of)?\b|\ba\s+pair\s+of\b|\bdual(?=[ -])\b"
)
_ONE_OF = re.compile(
    r"\s*(?:gpus?|cards?|nodes?|[a-z]{1,3}\d|[2345]0[5-9]0|\d{1,3}\s?gb?\s|hours?|days?|weeks?"
    r"|months?|years?|users?|person|people"
    r"|requests?|machines?|instances?|servers?|epochs?|images?|clips?|concurrent|million"
    r"|or\s+(?:two|three)|nvidia|x\s)"
)


def _english(match: re.Match[str]) -> str | None:
    text = match[0]
    if "single" in text:
        return "1"
    if text.startswith("dual") or "couple" in text or "pair" in text:
        return "2"
    words = re.split(r"[ -]", text)
    if words == ["one"] and not _ONE_OF.match(match.string, match.end()):
        return None
    total = current = 0
    for word in words:
        if word in _MULTIPLES:
            current = (current or 1) * _MULTIPLES[word]
            if word == "thousand":
                total, current = total + current, 0
        else:
            current += _VALUES.get(word, 0)
    return str(total + current)


# "1块9" is 1.9 yuan, "5毛" half a yuan; "2块4090" counts cards.
_SMALL_CHANGE = re.compile(
    r"(?<![\d.])(?:(?P<yuan>\d{1,4})\s?块\s?(?P<tenth>\d)(?![\d.])(?:\s?[毛角])?"
    r"(?!\s?[张块卡个台天月年日周小时点万千百]|[a-z])"
    r"|(?P<only>\d)\s?[毛角]钱?)"
)


def _change(match: re.Match[str]) -> str:
    return f"{match['yuan'] or 0}.{match['tenth'] or match['only']}元"


@cache
def _slips() -> re.Pattern[str]:
    return re.compile(
        "|".join(f"(?P<s{i}>{any_of(wrong).pattern})" for i, wrong in enumerate(vocabulary("slips").values()))
    )


def _mended(match: re.Match[str]) -> str:
    return list(vocabulary("slips"))[int(str(match.lastgroup)[1:])]


def mend_slips(words: Words) -> None:
    """Rewrites mistyped terms of the field ("显纯", "infernce") as they are spelt, in place."""
    words.rewrite(_slips(), _mended)


def digits_for_words(words: Words) -> None:
    """Rewrites the number words of a turn as digits, in place."""
    if re.search(r"[一二两俩三四五六七八九十百千几半双单上]", words.plain):
        words.rewrite(_CHINESE, _chinese)
    words.rewrite(_ENGLISH, _english)
    if re.search(r"[块毛角]", words.plain):
        words.rewrite(_SMALL_CHANGE, _change)
