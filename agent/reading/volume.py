"""Finds the shape of other work: items a day or second, streams, frames, resolution, data to move."""

from __future__ import annotations

import re

from agent.reading.numerals import NUM, SCALE, number
from agent.reading.words import Found, Words

_N = rf"(?P<n>{NUM})\s*(?P<scale>{SCALE})?"
_DAY = (
    r"(?:每天|1天|每日|日均|每晚|a day|per day|/\s?day|/\s?天|/\s?night|per night|a night|daily|nightly"
    r"|each day|every day)"
)
_ITEMS = {
    "image": r"张图?片?|images?|pictures?|幅|图",
    "clip": r"clips?|videos?|个视频|段视频|条视频|部",
    "page": r"页|pages?",
    "audio_hour": r"个?(?:小时|hours?)\s?的?(?:of )?(?:音频|录音|audio|语音|speech|calls|recordings?"
    r"|podcasts?|meetings?|interviews?|lectures?|播客|会议|课程|通话)",
    "document": r"篇|份文档|docs?|documents?|articles?|条文本|rows|records",
}
_PER_DAY = tuple(
    (item, re.compile(pattern))
    for item, unit in _ITEMS.items()
    for pattern in (rf"{_DAY}\D{{0,10}}{_N}\s*(?:{unit})", rf"{_N}\s*(?:{unit})\s*\D{{0,4}}{_DAY}")
)
_FPS = re.compile(rf"{_N}\s*(?:fps|帧(?:/|每)秒|frames per second)")
_STREAMS = re.compile(
    rf"{_N}\s*[路个]?\s*(?:(?:rtsp|ip|hd|1080p|4k)\s){{0,2}}"
    r"(?:cameras?|streams?(?!\w)|摄像头|摄像机|视频流|路(?!\s*(?:人|并发|请求|用户))|channels?)"
)
_FRAMES = re.compile(rf"{_N}\s*(?:帧(?!/|每|率)|frames?(?!\s?(?:per|/)))")
_RESOLUTION = re.compile(
    r"(?<![\d.])(?P<size>\d{3,4}\s?[x*]\s?\d{3,4})(?!\d)"
    r"|(?<![\d.a-z])(?P<lines>480|540|544|720|1080|1440|2160)p(?![a-z0-9])"
    r"|(?<![a-z0-9])(?P<name>[248]k)\s*(?:resolution|分辨率|图|视频|画质)"
)
_SECOND = r"(?:/\s?秒|每秒|/\s?s(?:ec)?(?![a-z])|(?:a|per|each) second)"
_PER_SECOND = tuple(
    (item, re.compile(pattern))
    for item, unit in _ITEMS.items()
    if item != "audio_hour"
    for pattern in (rf"每秒\D{{0,6}}{_N}\s*(?:{unit})", rf"{_N}\s*(?:{unit})\s*{_SECOND}")
)
# Work to get through once: "1000 小时音频", "10M documents"; a single piece is no amount.
_TOTALS = (
    ("audio_hour", re.compile(rf"{_N}\s*(?:{_ITEMS['audio_hour']})")),
    ("audio_hour", re.compile(
        rf"(?:音频|录音|语音|audio|recordings?|speech)\s*(?:of|共|有|约|,|:)?\s*{_N}\s*个?(?:小时|hours?|h(?![a-z0-9]))"
    )),
    ("image", re.compile(rf"{_N}\s*(?:张(?:图片?|照片|海报)|images?|pictures?|幅图?)(?!\s*(?:per|a|/))")),
    ("clip", re.compile(rf"{_N}\s*(?:clips?|videos?|[个段条]视频)(?!\s*(?:per|a|/))")),
    ("document", re.compile(
        rf"{_N}\s*(?:[篇份条]?(?:文档|文本|文章|网页)|[篇条]|docs?|documents?|articles?|texts|sentences|chunks|passages"
        r"|(?:query[-\s]?(?:doc(?:ument)?|passage)\s)?pairs|rows|records)(?!\s*(?:per|a|/))"
    )),
)  # fmt: skip
_DATA = re.compile(
    rf"(?P<n>{NUM})\s*(?:(?P<unit>[tp])b?(?![a-z0-9])(?!\s?(?:tokens?|flops|参数))"
    r"|(?P<gb>g)b?(?=\s?的?(?:数据|文件|语料|图片|data|files|corpus|images)))"
)
_DATA_GB = {"g": 1.0, "t": 1e3, "p": 1e6}
# Megabits: "100 Mbit/s", "5M带宽"; megabytes a second count eight times.
_LINK = re.compile(
    rf"(?P<n>{NUM})\s*(?:(?P<bits>[mg])(?:bps|bit/s|bits/s|b?(?=\s?(?:的)?(?:公网|外网)?(?:带宽|宽带|专线)))"
    r"|(?P<bytes>[mg])i?b/s|兆)"
)
_MBPS = {"m": 1.0, "g": 1e3, "": 1.0}
# "per million tokens" is a unit of price: its million is no length.
_PER_MILLION = re.compile(
    r"(?:每|/|per)\s*(?:1\s?)?(?:百万|m(?:illion)?|1000000)\s*个?\s*"
    r"(?:(?:input|output|prompt|completion|and|or|输入|输出|和|与|、|/)\s*){0,3}(?:tokens?|词元)"
)


_NETWORK = re.compile(
    rf"(?P<n>{NUM})\s*(?:g(?:bps|bit/s|bits/s|b/s)?|千兆)\+?\s*(?:以上的?)?(?:的)?\s*"
    r"(?:network|bandwidth|内网|网络|网卡|带宽)"
    r"|(?:network|内网|网络)(?:带宽)?\s*(?:of|above|over|at least|>=?|不低于|至少|大于|超过|要)"
    rf"\s*(?P<after>{NUM})\s*g"
)


def find_network(words: Words) -> Found | None:
    """The least network rate of a machine, in 1e9 bits/s: "100Gbps+ network"."""
    match = _NETWORK.search(words.plain)
    if match is None:
        return None
    rate = number(match["n"] or match["after"])
    return Found("network_gbps", rate, 0.8, words.said(*match.span())) if rate > 0 else None


def find_volume(words: Words) -> list[Found]:
    """`items_per_day`, `items_per_second` or `items_total` with `item`, `fps`, `streams`, `frames`,
    `resolution`: takes their words; `data_gb` and `link_mbps` leave theirs to other finders."""
    if match := _PER_MILLION.search(words.free):
        words.take(*match.span())
    found = [*_items(words), *_data(words)]
    for field, pattern in (("fps", _FPS), ("streams", _STREAMS), ("frames", _FRAMES)):
        if match := pattern.search(words.free):
            value = number(match["n"], match["scale"])
            found.append(
                Found(field, value if field == "fps" else int(value), 0.9, words.said(*match.span()))
            )
            words.take(*match.span())
    if match := _RESOLUTION.search(words.free):
        shape = match["size"] or match["name"] or f"{match['lines']}p"
        shape = re.sub(r"\s", "", shape).replace("*", "x")
        found.append(Found("resolution", shape, 0.9, words.said(*match.span())))
        words.take(*match.span())
    return found


def _data(words: Words) -> list[Found]:
    """How much data is stored or moved, and over what line."""
    found = []
    if match := _DATA.search(words.free):
        amount = number(match["n"]) * _DATA_GB[match["unit"] or match["gb"]]
        found.append(Found("data_gb", amount, 0.8, words.said(*match.span())))
    if match := _LINK.search(words.free):
        rate = (
            number(match["n"]) * _MBPS[match["bits"] or match["bytes"] or ""] * (8 if match["bytes"] else 1)
        )
        found.append(Found("link_mbps", rate, 0.8, words.said(*match.span())))
    return found


def _items(words: Words) -> list[Found]:
    """Things to work through in a day or a night: images, clips, pages, hours of audio."""
    for item, pattern in _PER_DAY:
        if match := pattern.search(words.free):
            said = words.said(*match.span())
            words.take(*match.span())
            amount = number(match["n"], match["scale"])
            return [Found("items_per_day", amount, 0.9, said), Found("item", item, 0.9, said)]
    for item, pattern in _PER_SECOND:
        if match := pattern.search(words.free):
            amount = number(match["n"], match["scale"])
            said = words.said(*match.span())
            return [Found("items_per_second", amount, 0.8, said), Found("item", item, 0.8, said)]
    return _total(words)


def _total(words: Words) -> list[Found]:
    """How much there is to do in all. Hours of audio are taken: they are no hours of a job."""
    for item, pattern in _TOTALS:
        match = pattern.search(words.free)
        amount = number(match["n"], match["scale"]) if match else 0.0
        if match and amount >= 2:
            said = words.said(*match.span())
            if item == "audio_hour":
                words.take(*match.span())
            return [Found("items_total", amount, 0.8, said), Found("item", item, 0.8, said)]
    return []
