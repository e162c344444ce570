"""Finds what the service must bear: token lengths, requests in flight, users, rates, latency, volume."""

from __future__ import annotations

import re

from agent.reading.numerals import NUM, SCALE, number
from agent.reading.words import Found, Value, Words

_N = rf"(?P<n>{NUM})\s*(?P<scale>{SCALE})?"
_RANGE = rf"(?:{NUM}\s*(?:-|~|到|至|to|or|或)\s*)?{_N}"
_TOKENS = r"(?:个)?\s*(?:tokens?|toks?|词元)"


def _patterns(*texts: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(text) for text in texts)


# Order matters within a field: the first pattern that matches wins, and takes its words.
_INPUT = _patterns(
    rf"(?:输入|prompts?|inputs?|提示词?)(?:长度|约|大概|平均|是|为|of|length|about|around|avg|average"
    rf"|tokens?|:"
    rf"|=|\s)*{_N}(?:{_TOKENS})?",
    rf"{_N}\s*(?:{_TOKENS})?(?:的)?\s*(?:输入|prompts?|inputs?\b|in\b(?!\s*(?:the|a|china|hangzhou"
    rf"|shanghai|total))|入)",
)
_OUTPUT = _patterns(
    rf"(?:输出|生成|回复|completions?|outputs?|generat(?:e|ing)|回答)(?:长度|约|大概|平均|是|为|of|length"
    rf"|about"
    rf"|around|avg|average|tokens?|:|=|\s)*{_N}(?!\s*(?:张|段|个视频|images?|条"
    rf"|tok(?:en)?s?/s))(?:{_TOKENS})?",
    rf"{_N}\s*(?:{_TOKENS})?(?:的)?\s*(?:输出|completions?|outputs?\b|answers?\b|repl(?:y|ies)\b"
    rf"|responses?\b|out\b|出(?!图|租|价|现))",
)
_CONTEXT = _patterns(
    rf"(?:max[-_\s]?model[-_\s]?len(?:gth)?|context[-_\s]?(?:length|window|size|len)?|n_ctx"
    rf"|num_ctx|ctx|上下文(?:长度|窗口)?|窗口|max[-_\s]?seq(?:uence)?[-_\s]?len(?:gth)?)"
    rf"[^\d.,;¦]{{0,14}}{_N}(?![\d.]*\s*(?:gb|gib|元|块|并发|users?|人|concurrent|tok(?:en)?s?/s))",
    rf"{_N}\s*(?:{_TOKENS})?\s*(?:的|长)?\s*(?:上下文|context|ctx|窗口|长文本|长度|seq(?:uence)?(?:\slen)?"
    rf"|window|长文|文档)",
    r"(?P<n>(?:4|8|16|32|64|128|200|256|512))\s?(?P<scale>k)(?![a-z0-9])",
    r"(?<![a-z])(?P<n>1)\s?(?P<scale>m)\s*(?:tokens?|context|上下文)",
    rf"{_N}{_TOKENS}(?!\s*(?:/|per|每|的?数据|语料|dataset|corpus|total|budget|训练|预训练|of (?:data"
    rf"|text)))",
)
_SEQUENCE = _patterns(
    rf"(?:cutoff(?:[-_\s]?len(?:gth)?)?|max[-_\s]?length|seq(?:uence)?[-_\s]?(?:len(?:gth)?)?"
    rf"|序列(?:长度)?|截断)[^\d.,;¦]{{0,8}}{_N}",
)
_CONCURRENCY = _patterns(
    rf"{_RANGE}\s*(?:个|路|人|用户|名)?\s*(?:的)?\s*(?:并发|同时在线|同时请求|同时使用|同时用|同时访问)",
    rf"(?:并发(?:数|量|请求|用户)?|同时(?:在线)?|concurrency)(?:约|大概|是|为|of|要|到|at|有|能|=|:"
    rf"|\s)*{_RANGE}(?!\s*(?:小时|天|月|元|块|gb|k\b|张|台))",
    rf"{_RANGE}\s*(?:\w+\s)?(?:concurrent|simultaneous|parallel|in[-\s]flight)(?:\s(?:users?"
    rf"|requests?|sessions?|streams?|calls?|people|connections?|chats?))?",
    rf"{_RANGE}\s*(?:requests?|users?|people|sessions?|chats?|calls?|个?请求)\s*(?:at (?:a|the same"
    rf"|1|one) time|at once|simultaneously|concurrently|in parallel|in flight|同时)",
    rf"(?:batch(?:[-_\s]?size)?|bs)\s*(?:of|=|:|是|为)?\s*{_N}(?!\s*(?:gb|k\b))",
)
_USERS = _patterns(
    rf"(?:日活|dau|daily active users?|月活|mau|注册用户|用户(?:数|量)?)(?:约|大概|大约|是|为|有|of|about"
    rf"|around|~|:"
    rf"|=|\s)*{_N}(?!\s*(?:元|块|并发))",
    rf"{_RANGE}\s*(?:多|来|几)?\s*(?:个|位|名)?\s*(?:\w{{0,10}}\s)?(?:dau|日活|daily active"
    rf"|users?(?![a-z])|employees|people|colleagues|developers|engineers|customers|students"
    rf"|teammates|staff|person)",
    rf"{_RANGE}\s*(?:多|来|几)?\s*(?:个|位|名|号)?\s*(?:人(?!民|工|脸|像)|用户|同事|员工|开发者|学生|客户"
    rf"|客服|程序员|老师|研发|医生"
    rf"|(?:工程|设计|律|教|分析)师|坐席)",
)
_RATE = _patterns(
    rf"(?:qps|rps|tps)(?:约|大概|是|为|of|about|要|到|峰值|达到|:|=|\s)*{_N}",
    rf"{_N}\s*(?:qps|rps|(?:个|次)?\s*(?:requests?|reqs?|请求|queries|calls?|次调用|次)\s*(?:/|per\s|a\s"
    rf"|每)\s*(?:s|sec|second|秒)(?![a-z]))",
    rf"(?:每秒|1秒)(?:钟)?\s*(?:约|大概)?\s*{_N}\s*(?:个|次)?\s*(?:请求|次|并发请求|调用)",
)
_RATE_PER = (
    (re.compile(
        rf"{_N}\s*(?:次|个)?\s*(?:requests?|reqs?|请求|queries|calls?|次)\s*(?:/|per\s|a\s|each\s"
        rf"|每)\s*(?:min|分)"), 60.0),
    (re.compile(rf"(?:每分钟|1分钟)\s*(?:约|大概)?\s*{_N}\s*(?:个|次)?\s*(?:请求|调用|次)"), 60.0),
    (re.compile(
        rf"{_N}\s*(?:次|个)?\s*(?:requests?|reqs?|请求|queries|calls?|messages?|questions?|conversations?"
        rf"|次)\s*(?:/|per\s|a\s|each\s|every\s|每)\s*(?:day|天|日)"), 86400.0),
    (re.compile(
        rf"(?:每天|1天|每日|日均|daily)\s*(?:就|约|大概|大约|有|of|about)*\s*{_N}\s*(?:多)?\s*(?:个|次"
        rf"|条)?\s*(?:请求|调用"
        rf"|次|问答|对话|requests?|queries|提问|消息)"), 86400.0),
    (re.compile(rf"{_N}\s*(?:requests?|请求|calls?|次)\s*(?:/|per\s|an?\s|每)\s*(?:hour|小时|h\b)"), 3600.0),
    (re.compile(rf"(?:每小时)\s*{_N}\s*(?:个|次)?\s*(?:请求|调用|次)"), 3600.0),
)  # fmt: skip
_MS = r"(?P<unit>ms|毫秒|s(?:ec(?:onds?)?)?(?![a-z])|秒)"
_TTFT = _patterns(
    rf"(?:ttft|first[-\s]token(?:\slatency)?|time to first token|首\s?(?:token|字|包)(?:延迟|时延|时间"
    rf"|响应)?|首响)[^\d;¦]{{0,14}}{_N}\s*{_MS}",
    rf"{_N}\s*{_MS}\s*(?:内|以内|之内)?\s*(?:的)?\s*(?:ttft|first[-\s]token|to first token|首\s?(?:token|字"
    rf"|包)|出首字)",
)
_TPOT = _patterns(
    rf"(?:tpot|itl|inter[-\s]token(?:\slatency)?|每(?:个)?token(?:延迟|时延)?)[^\d;¦]{{0,10}}{_N}\s*{_MS}",
    rf"{_N}\s*{_MS}\s*(?:/|per|每)\s*(?:个)?token",
)
_SPEED = _patterns(
    rf"(?:每秒|at least|>=?|不低于|至少|want|need|达到|要)\s*{_N}\s*(?:个)?\s*(?:tok(?:en)?s?|字)\s*(?:/s"
    rf"|per second|每秒|/秒|/sec)?[^,.;]{{0,12}}(?:per user|each|every user|每(?:个)?(?:用户|人|路|请求)"
    rf"|单(?:用户|路|流)|per (?:request|stream))",
    rf"(?:每(?:个)?(?:用户|人|路|请求)|单(?:用户|路|流)|per[-\s]user|per[-\s]request"
    rf"|single[-\s]stream)[^\d,;¦]{{0,12}}{_N}\s*(?:个)?\s*(?:tok(?:en)?s?|字)\s*(?:/|per"
    rf"|每)?\s*(?:s|秒|second)",
)
_LATENCY = _patterns(
    rf"(?:latency|延迟|时延|响应(?:时间)?|p9[059]|respon(?:se|d)s?(?:\stime)?"
    rf"|返回)[^\d;¦]{{0,22}}(?<![a-z])(?<!\d){_N}\s*{_MS}",
    rf"(?:within|under|in|<|less than|不超过)\s*{_N}\s*{_MS}(?:\s*(?:latency|response"
    rf"|end[-\s]to[-\s]end|total))?",
    rf"{_N}\s*{_MS}\s*(?:内|以内|之内)\s*(?:返回|响应|出|回|完成)?",
)
_ITEMS = (
    ("image", r"张图?片?|images?|pictures?|幅|图"),
    ("clip", r"clips?|videos?|个视频|段视频|条视频|部"),
    ("page", r"页|pages?"),
    (
        "audio_hour",
        r"(?:个)?(?:小时|hours?)\s?(?:的)?(?:of )?(?:音频|录音|audio|语音|speech|calls|recordings?)",
    ),
    ("document", r"篇|份文档|docs?|documents?|articles?|条文本|rows|records"),
)  # fmt: skip
_DAY = (
    r"(?:每天|1天|每日|日均|每晚|a day|per day|/\s?day|/\s?天|/\s?night|per night|a night|daily|nightly"
    r"|each day|every day)"
)
_STREAMS = re.compile(
    rf"{_N}\s*(?:路|个)?\s*(?:rtsp\s|ip\s|hd\s|1080p\s|4k\s)*(?:cameras?|streams?(?!\w)|摄像头|摄像机|路视频"
    rf"|视频流|路(?!\s*(?:人|并发|请求|用户))|channels?)"
)
_FPS = re.compile(rf"{_N}\s*(?:fps|帧(?:/|每)秒|frames per second)")
_FRAMES = re.compile(rf"{_N}\s*(?:帧(?!/|每|率)|frames?(?!\s?(?:per|/)))")
_RESOLUTION = re.compile(
    r"(?<![\d.])(\d{3,4}\s?[x*]\s?\d{3,4})(?!\d)|(?<![\d.a-z])(480|540|544|720|1080|1440"
    r"|2160)p(?![a-z0-9])|(?<![a-z0-9])([248]k)\s*(?:resolution|分辨率|图|视频|画质)"
)
# A count of things that are no people, where the words around look like users.
_BUDGET_NEAR = re.compile(r"元|块|预算|budget|¥|\$")


def tokens(digits: str, scale: str | None) -> int:
    """A token length: "8k" is 8192 where the thousands are a power of two, "100k" is 100000."""
    value = float(digits.replace(",", ""))
    if (scale or "").strip() == "k" and value in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        return int(value * 1024)
    if (scale or "").strip() == "m" and value in (1, 2, 4):
        return int(value * 1024 * 1024)
    return max(1, int(number(digits, scale)))


def find_load(words: Words, training: bool) -> list[Found]:
    """Every figure of the load that a turn states, as fields of `SizingRequest` and of `Reading`."""
    found: list[Found] = []
    found += _rates(words)
    found += _latencies(words)
    found += _volume(words)
    found += _shapes(words)
    found += _lengths(words, training)
    found += _people(words, training)
    return found


def _take(words: Words, patterns: tuple[re.Pattern[str], ...]) -> re.Match[str] | None:
    for pattern in patterns:
        if match := pattern.search(words.free):
            words.take(*match.span())
            return match
    return None


def _found(words: Words, field: str, value: Value, match: re.Match[str], sure: float = 0.9) -> Found:
    text = words.said(*match.span())
    return Found(field, value, sure * (0.6 if "几" in text else 1.0), text)


def _rates(words: Words) -> list[Found]:
    if match := _take(words, _RATE):
        return [_found(words, "requests_per_second", number(match["n"], match["scale"]), match)]
    for pattern, seconds in _RATE_PER:
        if match := _take(words, (pattern,)):
            rate = number(match["n"], match["scale"]) / seconds
            return [_found(words, "requests_per_second", rate, match)] if rate > 0 else []
    return []


def _milliseconds(match: re.Match[str]) -> float:
    value = number(match["n"], match["scale"])
    return value if match["unit"] in ("ms", "毫秒") else value * 1000


def _latencies(words: Words) -> list[Found]:
    found: list[Found] = []
    for field, patterns in (("ttft_ms", _TTFT), ("tpot_ms", _TPOT)):
        if match := _take(words, patterns):
            found.append(_found(words, field, _milliseconds(match), match))
    if match := _take(words, _SPEED):
        rate = number(match["n"], match["scale"])
        found.append(_found(words, "tpot_ms", 1000 / max(rate, 0.01), match, 0.8))
    for pattern in _LATENCY:
        match = pattern.search(words.free)
        if match and 0 < _milliseconds(match) <= 600_000:
            words.take(*match.span())
            found.append(_found(words, "latency_ms", _milliseconds(match), match, 0.8))
            break
    return [item for item in found if isinstance(item.value, float) and item.value > 0]


def _volume(words: Words) -> list[Found]:
    """Things to work through in a day or a night: images, clips, pages, hours of audio."""
    for item, unit in _ITEMS:
        for pattern in (rf"{_DAY}\D{{0,10}}{_N}\s*(?:{unit})", rf"{_N}\s*(?:{unit})\s*\D{{0,4}}{_DAY}"):
            if match := re.search(pattern, words.free):
                words.take(*match.span())
                amount = number(match["n"], match["scale"])
                return [_found(words, "items_per_day", amount, match), Found("item", item, 0.9, match[0])]
    return []


def _shapes(words: Words) -> list[Found]:
    found: list[Found] = []
    if match := _FPS.search(words.free):
        found.append(_found(words, "fps", number(match["n"], match["scale"]), match))
        words.take(*match.span())
    if match := _STREAMS.search(words.free):
        found.append(_found(words, "streams", int(number(match["n"], match["scale"])), match))
        words.take(*match.span())
    if match := _FRAMES.search(words.free):
        found.append(_found(words, "frames", int(number(match["n"], match["scale"])), match))
        words.take(*match.span())
    if match := _RESOLUTION.search(words.free):
        shape = match[1] or (f"{match[2]}p" if match[2] else match[3])
        found.append(
            _found(words, "resolution", re.sub(r"[\s*]", lambda m: "x" if m[0] == "*" else "", shape), match)
        )
        words.take(*match.span())
    return found


def _lengths(words: Words, training: bool) -> list[Found]:
    found: list[Found] = []
    for field, patterns in (("input_tokens", _INPUT), ("output_tokens", _OUTPUT)):
        if match := _take(words, patterns):
            found.append(_found(words, field, tokens(match["n"], match["scale"]), match))
    if training and (match := _take(words, _SEQUENCE)):
        found.append(_found(words, "sequence_length", tokens(match["n"], match["scale"]), match))
    elif match := _take(words, _CONTEXT):
        field = "sequence_length" if training else "context_tokens"
        found.append(_found(words, field, tokens(match["n"], match["scale"]), match))
    return found


def _people(words: Words, training: bool) -> list[Found]:
    found: list[Found] = []
    if match := _take(words, _CONCURRENCY):
        value = int(number(match["n"], match["scale"]))
        batch = match[0].startswith(("batch", "bs"))
        field = ("micro_batch" if training else "batch") if batch else "concurrency"
        if value > 0 and not (batch and match.end("n") == len(words.free) and value > 100_000):
            found.append(_found(words, field, value, match))
    if match := _take(words, _USERS):
        value = int(number(match["n"], match["scale"]))
        if value > 0:
            found.append(_found(words, "users", value, match))
            if value <= 3 and not any(item.field == "concurrency" for item in found):
                # So few people may all ask at the same moment.
                found.append(_found(words, "concurrency", value, match, 0.5))
    return found
