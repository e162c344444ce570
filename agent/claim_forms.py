"""The forms in which prose states facts: units by kind, and the shapes of names, dates, addresses."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal[
    "instance", "family", "gpu", "model", "money", "memory", "token_rate", "request_rate", "bandwidth",
    "compute", "time", "percent", "ratio", "tokens", "params", "cards", "requests", "cpu", "date", "contact",
    "command", "number",
]  # fmt: skip

_GIB = 2.0**30
# ASCII: a Chinese character beside a figure or name is no part of it ("每小时9.5元", "gn7i实例").
_FREE = re.IGNORECASE | re.ASCII
# Units by kind with their size in the kind's base unit; the first kind that fits takes a number.
UNITS: dict[Kind, dict[str, float]] = {
    "compute": {"TFLOPS": 1, "TFLOP/s": 1, "PFLOPS": 1e3, "TOPS": 1},
    "bandwidth": {
        "TB/s": 1e3, "GB/s": 1, "GiB/s": _GIB / 1e9, "MB/s": 1e-3, "Gbit/s": 0.125, "Gbps": 0.125,
        "Mbit/s": 1.25e-4, "Mbps": 1.25e-4,
    },
    "token_rate": {
        "tokens/s": 1, "token/s": 1, "tok/s": 1, "tps": 1, "tokens per second": 1, "token/秒": 1,
        "tokens/秒": 1,
    },
    "request_rate": {
        "requests/s": 1, "request/s": 1, "req/s": 1, "qps": 1, "rps": 1, "requests per second": 1,
        "次/秒": 1, "请求/秒": 1,
    },
    "memory": {
        "TiB": 1024, "GiB": 1, "MiB": 1 / 1024, "KiB": 1 / 1024**2, "TB": 1e12 / _GIB, "GB": 1e9 / _GIB,
        "MB": 1e6 / _GIB, "KB": 1e3 / _GIB, "G显存": 1, "G 显存": 1, "G内存": 1, "G 内存": 1,
    },
    "tokens": {"tokens": 1, "token": 1},
    "params": {
        "billion parameters": 1, "billion-parameter": 1, "B": 1, "亿参数": 0.1, "亿个参数": 0.1,
        "million parameters": 1e-3,
    },
    "percent": {"%": 1, "％": 1, "percent": 1, "per cent": 1},
    "ratio": {"times": 1, "倍": 1, "-fold": 1},
    "time": {
        "ms": 1e-3, "毫秒": 1e-3, "s": 1, "seconds": 1, "second": 1, "秒": 1, "minutes": 60, "minute": 60,
        "min": 60, "分钟": 60, "hours": 3600, "hour": 3600, "h": 3600, "小时": 3600, "days": 86400,
        "day": 86400, "天": 86400,
    },
    "cpu": {"vCPUs": 1, "vCPU": 1, "cores": 1, "核": 1},
    "requests": {
        "concurrent requests": 1, "concurrent users": 1, "requests": 1, "users": 1, "并发": 1, "路并发": 1,
        "用户": 1,
    },
    "cards": {
        "GPUs": 1, "GPU": 1, "cards": 1, "card": 1, "machines": 1, "machine": 1, "instances": 1, "nodes": 1,
        "张": 1, "卡": 1, "台": 1,
    },
}  # fmt: skip
FACTORS = {kind: {unit.lower(): size for unit, size in units.items()} for kind, units in UNITS.items()}
SCALES = {
    "k": 1e3, "千": 1e3, "thousand": 1e3, "万": 1e4, "w": 1e4, "百万": 1e6, "million": 1e6, "亿": 1e8,
    "billion": 1e9,
}  # fmt: skip
DOLLARS = ("us$", "$", "usd", "dollar", "dollars", "美元", "美金")


def _any(words: dict[str, float]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


NUMBER = r"(?P<n>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
# "5.2 亿参数" is a size in a unit of its own, not a scaled something.
_SCALED = rf"{NUMBER}\s*(?:(?P<k>{_any(SCALES)})(?![A-Za-z]|个?参数|-?\s?param))?"
QUANTITIES = {
    kind: re.compile(rf"(?<![\w./]){_SCALED}\s*(?:[x×]\s*)?(?P<u>{_any(units)})(?![A-Za-z0-9/])", _FREE)
    for kind, units in UNITS.items()
}
# "2x faster", "1.5×": not "2x A10" and not "1024x1024".
MULTIPLE = re.compile(
    rf"(?<![\w./]){NUMBER}\s?[x×](?=[\s)]*(?:$|[.,;:)。，；、]|(?:faster|slower|cheaper|more|less|as|the|higher"
    r"|lower|larger|smaller|better|bigger)\b|[\u4e00-\u9fff]))",
    _FREE | re.MULTILINE,
)
MONEY = (
    re.compile(rf"(?P<c>US\$|\$|¥|￥|\bCNY|\bRMB|\bUSD)\s*{_SCALED}", _FREE),
    re.compile(
        rf"(?<![\w./]){_SCALED}\s*(?P<c>CNY|RMB|yuan|人民币|元|块钱|块(?=[/每，。 ])|USD|dollars?|美元|美金)",
        _FREE,
    ),
)
# A number that stands by itself: no part of a name, a version of three parts, an address or an option.
BARE = re.compile(rf"(?<![\w.\-/:#@=\[]){_SCALED}(?![\w\]:/@=]|\.\d|-\w)", _FREE)
LIST_MARK = re.compile(r"(?m)^[^\S\n]*(?:>[^\S\n]*)*\d{1,3}[.)、]\s")
INSTANCE = re.compile(
    r"(?<![\w.])(?:ecs\.)?([a-z]{2,8}\d{1,2}[a-z]*(?:-[a-z0-9]+){0,6}\.\d{0,3}x?large)(?!\w)", _FREE
)
FAMILY = re.compile(
    r"(?<![\w.\-])((?:ebm|scc|v|s)?gn\d{1,2}[a-z]{0,3}|ve\d)(?:-(?:vws|tee|tdx|wy|xr))?(?![\w.]*large|\w)",
    _FREE,
)
GPU = re.compile(
    r"(?<![A-Za-z0-9.\-])((?:(?:RTX|GTX|Tesla|GeForce|PRO) ?)*"
    r"(?:A(?:2|10G?|16|30|40|100X?|800)|B(?:100|200|300)|GB(?:200|300)|H(?:20|100|200|800)|L(?:2|4|20N?|40S?)"
    r"|T4|V100S?|P(?:4|40|100)|M40|K80|MI\d{3}X?|[2345]0[6789]0(?: ?Ti)?))"
    r"(?:[- ](?:SXM\d?|PCIe|NVL))*(?:[- ]?(\d{2,3}) ?G(?:i?B)?(?![/A-Za-z0-9]))?(?![A-Za-z0-9])",
    re.ASCII,
)
# Model series with the version or size that makes a name of them; a series alone states nothing.
MODEL = re.compile(
    r"(?<![A-Za-z0-9])((?:qwen|qwq|qvq|llama|codellama|deepseek|chatglm|glm|mistral|mixtral|ministral|codestral"
    r"|devstral|magistral|pixtral|yi|baichuan|internlm|internvl|gemma|phi|gpt-oss|gpt|kimi|minimax|falcon"
    r"|grok|granite|nemotron|olmo|ernie|hunyuan(?:video)?|wan|flux|sdxl|stable[ -]diffusion|whisper"
    r"|bge|gte|claude|gemini|minicpm|smollm|cogvideox|cosyvoice|starcoder|bloom|dbrx"
    r"|通义千问)[ -]?(?:(?:vl|coder|math|omni|next|instruct|chat|distill|qwen|llama|mini|nemo|small"
    r"|medium|large|scout|maverick|pro|lite|image|video)[ -])?(?:[a-z]{0,2}\d+(?:\.\d+)*[a-z]{0,2})"
    r"(?:[-_ ]?(?:\d+(?:\.\d+)?[bm]|[ae]\d+b|moe|instruct|chat|base|coder|math|vl|thinking|it|hf"
    r"|large|small|medium|tiny|turbo|dev|schnell"
    r"|v\d(?:\.\d)?)(?![a-z0-9]))*)",
    _FREE,
)
CONTACT = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
MONTHS = {name: number for number, name in enumerate(_MONTHS.split("|"), start=1)}
DATES = (
    re.compile(r"(?<!\d)(?P<y>20[0-4]\d)-(?P<m>\d{2})(?:-(?P<d>\d{2}))?(?!\d)"),
    re.compile(r"(?<!\d)(?P<y>20[0-4]\d)\s*年\s*(?P<m>\d{1,2})\s*月(?:\s*(?P<d>\d{1,2})\s*[日号])?"),
    re.compile(rf"\b(?:(?P<d>\d{{1,2}})\s+)?(?P<m>{_MONTHS})[a-z]*\.?\s+(?P<y>20[0-4]\d)(?!\d)", _FREE),
    re.compile(rf"\b(?P<m>{_MONTHS})[a-z]*\.?\s+(?P<d>\d{{1,2}}),\s*(?P<y>20[0-4]\d)(?!\d)", _FREE),
)
_COUNTS = ("cards", "requests", "cpu")
_HEADED, _COUNTED = (
    {
        unit: 1.0
        for kind, units in UNITS.items()
        for unit in units
        if (kind in _COUNTS) is counts
        and (len(unit) > 1 or unit > "~" or unit == "%")  # one Latin letter in a heading is no unit
    }
    for counts in (False, True)
)
# Of a heading's words the price is looked for first, a count last: "显卡显存 (GiB)" is a memory.
HEADING_UNITS = (
    re.compile(r"CNY|RMB|USD|美元|元|¥|￥|\$", _FREE),
    re.compile(rf"(?<![A-Za-z])(?:{_any(_HEADED)})(?![A-Za-z])", _FREE),
    re.compile(rf"(?<![A-Za-z显])(?:{_any(_COUNTED)})(?![A-Za-z])", _FREE),
)
