"""Finds what a service must bear: token lengths, requests in flight, users, rates, latency."""

from __future__ import annotations

import re

from agent.reading.numerals import NUM, SCALE, number
from agent.reading.words import Found, Value, Words

Patterns = tuple[re.Pattern[str], ...]

_N = rf"(?P<n>{NUM})\s*(?P<scale>{SCALE})?"
_UP_TO = rf"(?:{NUM}\s*(?:-|~|到|至|to|or|或)\s*)?{_N}"  # of a range the upper end counts
# Words between a name and its number: "输入长度平均约 500", "context length of about 8k".
_FILLER = (
    r"(?:长度|约|大概|大约|平均|是|为|要|到|有|能|达到|峰值|of|at|length|about|around|avg|average|tokens?"
    r"|[:=~]|\s){0,6}"
)
_TOKENS = r"个?\s*(?:tokens?|toks?|词元)"
_INPUT_NAME = r"输入|prompts?|inputs?|提示词?"
_OUTPUT_NAME = r"输出|生成|回复|completions?|outputs?|generat(?:e|ing)|回答"
_NOT_SECONDS = r"(?!\s*(?:张|段|个视频|images?|条|tok(?:en)?s?/s))"


def _patterns(*texts: str) -> Patterns:
    return tuple(re.compile(text) for text in texts)


# Within a field the first pattern that matches wins and takes its words.
_INPUT = _patterns(
    rf"(?:{_INPUT_NAME}){_FILLER}{_N}(?:{_TOKENS})?",
    rf"{_N}\s*(?:{_TOKENS})?的?\s*(?:{_INPUT_NAME}|in\b(?!\s*(?:the|a|china|hangzhou|shanghai|total|parallel|flight|all))|入)",
)
_OUTPUT = _patterns(
    rf"(?:{_OUTPUT_NAME}){_FILLER}{_N}{_NOT_SECONDS}(?:{_TOKENS})?",
    rf"{_N}\s*(?:{_TOKENS})?的?\s*"
    r"(?:输出|completions?|outputs?\b|answers?\b|repl(?:y|ies)\b|responses?\b|out\b|出(?!图|租|价|现))",
)
_REPLY = _patterns(rf"(?:repl(?:y|ies)|answers?|responses?){_FILLER}{_N}\s*(?:{_TOKENS})")
_CONTEXT = _patterns(
    r"(?:max[-_\s]?model[-_\s]?len(?:gth)?|context[-_\s]?(?:length|window|size|len)?|n_ctx|num_ctx|ctx"
    r"|上下文(?:长度|窗口)?|窗口|max[-_\s]?seq(?:uence)?[-_\s]?len(?:gth)?)"
    r"(?![^\d]{0,12}(?:batch|bs\b))"
    rf"[^\d.,;¦]{{0,14}}{_N}(?![\d.]*\s*(?:gb|gib|元|块|并发|users?|人|concurrent|tok(?:en)?s?/s))",
    rf"{_N}\s*(?:{_TOKENS})?\s*[的长]?\s*"
    r"(?:上下文|context|ctx|窗口|长文本|长度|seq(?:uence)?(?:\slen)?|window|长文|文档)",
    r"(?P<n>(?:4|8|16|32|64|128|200|256|512))\s?(?P<scale>k)(?![a-z0-9])",
    r"(?<![a-z])(?P<n>1)\s?(?P<scale>m)\s*(?:tokens?|context|上下文)",
    rf"{_N}{_TOKENS}"
    r"(?!\s*(?:/|per|每|的?数据|语料|dataset|corpus|total|budget|训练|预训练|of (?:data|text)))",
)
_SEQUENCE = _patterns(
    r"(?:cutoff(?:[-_\s]?len(?:gth)?)?|max[-_\s]?length|seq(?:uence)?[-_\s]?(?:len(?:gth)?)?|序列(?:长度)?"
    r"|截断)"
    rf"[^\d.,;¦]{{0,8}}{_N}",
)
_TOGETHER = r"并发|同时(?:在线|请求|使用|用|访问)"
_AT_ONCE = r"at (?:a|the same|1|one) time|at once|simultaneously|concurrently|in parallel|in flight|同时"
_CONCURRENCY = _patterns(
    rf"{_UP_TO}\s*[个路人名位]?\s*[一-鿿]{{0,4}}?\s*的?\s*(?:{_TOGETHER})",
    rf"(?:并发(?:数|量|请求|用户)?|同时(?:在线)?|concurrency){_FILLER}{_UP_TO}"
    r"(?!\s*(?:小时|天|月|元|块|gb|k\b|张|台))",
    rf"{_UP_TO}\s*[个路]?\s*(?:\w{{1,16}}\s)?(?:concurrent|simultaneous|parallel|in[-\s]flight)"
    r"(?:\s(?:users?|requests?|sessions?|streams?|calls?|people|connections?|chats?))?",
    rf"{_UP_TO}\s*(?:requests?|users?|people|sessions?|chats?|calls?|个?请求)\s*(?:{_AT_ONCE})",
)
_BATCH = _patterns(rf"(?:batch(?:[-_\s]?size)?|bs)\s*(?:of|=|:|是|为)?\s*{_N}(?!\s*(?:gb|k\b))")
_PEOPLE_EN = (
    r"users?(?![a-z])|employees|people|colleagues|dev(?:eloper)?s|engineers|customers|students|teammates"
    r"|staff"
    r"|person|doctors|agents|analysts|clients|teachers|nurses|lawyers|designers|seats|testers"
)
_PEOPLE_ZH = (
    r"人(?!民|工|脸|像)|用户|同事|员工|开发者|学生|客户|客服|程序员|老师|研发|医生|护士|坐席|(?:工程|设计"
    r"|律|教|分析|测试)师"
)
_USERS = _patterns(
    rf"(?:日活|dau|daily active users?|月活|mau|注册用户|用户(?:数|量)?){_FILLER}{_N}(?!\s*(?:元|块|并发))",
    rf"{_UP_TO}\s*[多来几]?\s*[个位名]?\s*(?:\w{{1,10}}\s)?(?:dau|日活|daily active|{_PEOPLE_EN})",
    rf"{_UP_TO}\s*[多来几]?\s*[个位名号]?\s*(?:{_PEOPLE_ZH})",
)
_REQUESTS = r"requests?|reqs?|请求|queries|calls?|messages?|questions?|conversations?|次调用|次"
_ASKED = r"请求|调用|次|问答|对话|requests?|queries|提问|消息"
_RATE = _patterns(
    rf"(?:qps|rps|tps){_FILLER}{_N}",
    rf"{_N}\s*(?:qps|rps|[个次]?\s*(?:{_REQUESTS})\s*(?:/|per\s|a\s|每)\s*(?:s|sec|second|秒)(?![a-z]))",
    rf"(?:每秒|1秒)钟?\s*(?:约|大概)?\s*{_N}\s*[个次]?\s*(?:并发)?(?:{_ASKED})",
)
_RATE_PER = tuple(
    (re.compile(pattern), seconds)
    for unit_en, unit_zh, seconds in (
        (r"min(?:ute)?|分", r"每分钟|1分钟", 60.0),
        (r"day|天|日", r"每天|1天|每日|日均|daily", 86400.0),
        (r"hour|小时|h\b", r"每小时|1小时", 3600.0),
    )
    for pattern in (
        rf"{_N}\s*[次个]?\s*(?:{_REQUESTS})\s*(?:/|per\s|an?\s|each\s|every\s|每)\s*(?:{unit_en})",
        rf"(?:{unit_zh})\s*(?:就|约|大概|大约|有|of|about|\s){{0,3}}{_N}\s*多?\s*[个次条]?\s*(?:{_ASKED})",
    )
)
_TIME = r"(?P<unit>ms|毫秒|s(?:ec(?:onds?)?)?(?![a-z])|秒)"
_FIRST_TOKEN = r"ttft|first[-\s]token(?:\slatency)?|time to first token|to first token"
_FIRST_TOKEN_ZH = r"首\s?(?:token|字|包)"
_TTFT = _patterns(
    rf"(?:{_FIRST_TOKEN}|{_FIRST_TOKEN_ZH}(?:延迟|时延|时间|响应)?|首响)[^\d;¦]{{0,14}}{_N}\s*{_TIME}",
    rf"{_N}\s*{_TIME}\s*(?:以内|之内|内)?\s*的?\s*(?:{_FIRST_TOKEN}|{_FIRST_TOKEN_ZH}|出首字)",
)
_TPOT = _patterns(
    rf"(?:tpot|itl|inter[-\s]token(?:\slatency)?|每个?token(?:延迟|时延)?)[^\d;¦]{{0,10}}{_N}\s*{_TIME}",
    rf"{_N}\s*{_TIME}\s*(?:/|per|每)\s*个?token",
)
_EACH_EN = r"per user|each|every user|per (?:request|stream)"
_EACH_ZH = r"每个?(?:用户|人|路|请求)|单(?:用户|路|流)"
_PER_SECOND = r"(?:/\s?s(?:ec)?|per second|每秒|/秒)"
_SPEED = _patterns(
    rf"(?:每秒|at least|>=?|不低于|至少|want|need|达到|要)\s*{_N}\s*个?\s*(?:tok(?:en)?s?|字)\s*"
    rf"{_PER_SECOND}?[^,.;]{{0,12}}(?:{_EACH_EN}|{_EACH_ZH})",
    rf"{_N}\s*个?\s*(?:tok(?:en)?s?|字)\s*{_PER_SECOND}[^,.;]{{0,12}}(?:{_EACH_EN}|{_EACH_ZH})",
    rf"(?:{_EACH_ZH}|per[-\s]user|per[-\s]request|single[-\s]stream)[^\d,;¦]{{0,12}}{_N}\s*个?\s*"
    rf"(?:tok(?:en)?s?|字)\s*{_PER_SECOND}",
)
_LATENCY = _patterns(
    r"(?:latency|延迟|时延|响应(?:时间)?|p9[059]|respon(?:se|d)s?(?:\stime)?|返回)"
    rf"[^\d;¦]{{0,22}}(?<![a-z]){_N}\s*{_TIME}",
    rf"(?:within|under|in|<|less than|不超过)\s*{_N}\s*{_TIME}",
    rf"{_N}\s*{_TIME}\s*(?:以内|之内|内)",
)
# "5% use it at the same time": a share of the users.
_SHARE_AT_ONCE = re.compile(
    rf"(?P<n>{NUM})\s*%[^.;,。]{{0,30}}?(?:{_AT_ONCE}|concurrent|online|{_TOGETHER}|同时|在线|活跃)"
    rf"|(?:并发率|同时在线率|同时使用率|concurrency rate){_FILLER}(?P<zh>{NUM})\s*%"
)
# "each user asks 5 times a day, all within 4 peak hours"
_EACH_PER_DAY = re.compile(
    rf"(?:每人|人均|每个?(?:用户|人))\s*(?:每天|每日|1天|日均)?\D{{0,6}}?(?P<n>{NUM})\s*[次条个句]"
    rf"|each(?:\s\w{{1,12}}){{0,3}}?\s(?P<en>{NUM})\s(?:times|{_REQUESTS})"
    rf"|(?P<per>{NUM})\s(?:{_REQUESTS})\s(?:per|a|each)\s(?:user|person|employee|customer)"
)
_PEAK_HOURS = re.compile(
    rf"(?:高峰|集中|peak)[^\d,;。]{{0,10}}(?P<n>{NUM})\s*-?(?:个?小时|hours?|h(?![a-z]))"
    rf"|(?:in|within|over)\s(?:the\s|a\s)?(?P<en>{NUM})\s?-?(?:peak\s)?hours?"
)
_LONGEST_MS = 600_000
# Powers of two by which people mean binary thousands: an 8k context is 8192 tokens.
_BINARY = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}
_FEW_USERS = 3


def tokens(digits: str, scale: str | None) -> int:
    """A token length: "8k" is 8192 where the thousands are a power of two, "100k" is 100000."""
    value = float(digits.replace(",", ""))
    step = {"k": 1024, "m": 1024 * 1024}.get((scale or "").strip())
    if step and value in _BINARY:
        return int(value * step)
    return max(1, int(number(digits, scale)))


def find_load(words: Words, training: bool) -> list[Found]:
    """Every figure of the load that a turn states, as fields of `SizingRequest` and of `Reading`."""
    return [*_rates(words), *_latencies(words), *_lengths(words, training), *_people(words, training)]


def _take(words: Words, patterns: Patterns) -> re.Match[str] | None:
    for pattern in patterns:
        if match := pattern.search(words.free):
            words.take(*match.span())
            return match
    return None


def _take_earliest(words: Words, patterns: Patterns) -> re.Match[str] | None:
    """ "4096 输入 1024 输出": the number before its name is the first to begin, and so the one meant."""
    matches = [match for pattern in patterns if (match := pattern.search(words.free))]
    first = min(matches, key=lambda match: match.start(), default=None)
    if first:
        words.take(*first.span())
    return first


def _found(words: Words, field: str, value: Value, match: re.Match[str], sure: float = 0.9) -> Found:
    """A vague number ("几十个") is read at a middle value, with less confidence."""
    text = words.said(*match.span())
    return Found(field, value, sure * (0.6 if "几" in text else 1.0), text)


def _rates(words: Words) -> list[Found]:
    for pattern, seconds in (*((pattern, 1.0) for pattern in _RATE), *_RATE_PER):
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
        if (match := _take(words, patterns)) and _milliseconds(match) > 0:
            found.append(_found(words, field, _milliseconds(match), match))
    if match := _take(words, _SPEED):
        rate = number(match["n"], match["scale"])
        found.append(_found(words, "tpot_ms", 1000 / max(rate, 0.01), match, 0.8))
    for pattern in _LATENCY:
        match = pattern.search(words.free)
        if match and 0 < _milliseconds(match) <= _LONGEST_MS:
            words.take(*match.span())
            return [*found, _found(words, "latency_ms", _milliseconds(match), match, 0.8)]
    return found


def _lengths(words: Words, training: bool) -> list[Found]:
    found: list[Found] = []
    if match := _take(words, _REPLY):  # before the prompt: "replies ~300 tokens, prompts 1.5k"
        found.append(_found(words, "output_tokens", tokens(match["n"], match["scale"]), match))
    for field, patterns in (("input_tokens", _INPUT), ("output_tokens", _OUTPUT)):
        if any(item.field == field for item in found):
            continue
        if match := _take_earliest(words, patterns):
            found.append(_found(words, field, tokens(match["n"], match["scale"]), match))
    match = _take(words, (*_SEQUENCE, *_CONTEXT) if training else _CONTEXT)
    if match:
        field = "sequence_length" if training else "context_tokens"
        found.append(_found(words, field, tokens(match["n"], match["scale"]), match))
    return found


def _people(words: Words, training: bool) -> list[Found]:
    found: list[Found] = []
    for field, patterns in (
        ("concurrency", _CONCURRENCY),
        ("micro_batch" if training else "batch", _BATCH),
        ("users", _USERS),
    ):
        match = _take(words, patterns)
        value = int(number(match["n"], match["scale"])) if match else 0
        if match and value > 0:
            found.append(_found(words, field, value, match))
    users = next((item for item in found if item.field == "users"), None)
    alone = users is not None and found[0].field != "concurrency"
    if users and alone and (derived := _of_users(words, int(str(users.value)))):
        return [*found, derived]
    if users and int(str(users.value)) <= _FEW_USERS and found[0].field != "concurrency":
        # So few people may all ask at the same moment.
        found.append(Found("concurrency", users.value, 0.5, users.text))
    return found


def _of_users(words: Words, users: int) -> Found | None:
    """What the users ask together: a share of them at once, or their questions a day over the peak hours."""
    if share := _SHARE_AT_ONCE.search(words.plain):
        part = float((share["n"] or share["zh"]).replace(",", "")) / 100
        at_once = max(1, round(users * part))
        return Found("concurrency", at_once, 0.8, words.said(*share.span())) if 0 < part <= 1 else None
    each = _EACH_PER_DAY.search(words.plain)
    peak = _PEAK_HOURS.search(words.plain)
    if each is None or peak is None:
        return None
    asked = float(next(group for group in each.groups() if group))
    hours = float(next(group for group in peak.groups() if group))
    if not 0 < hours <= 24:
        return None
    return Found("requests_per_second", users * asked / (hours * 3600), 0.8, words.said(*each.span()))
