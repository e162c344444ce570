"""Whether prose stays with its subject: sentences about GPU computing, guides retold and not invented."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.claims import claims_in

# Share of an answer's words that stand in the guides it retells. Of a text on another fault of the same field
# it is 0.31 in English and 0.19 in Chinese at the median over the shipped guides, 0.44 and 0.27 at 90 %.
SUPPORT = 0.45
_LETTER = re.compile(r"[A-Za-z\u4e00-\u9fff]")
_YES_OR_NO = re.compile(
    r"(?i)[\W_]*(?:yes|no|not quite|partly|correct|right|exactly|wrong|是的?|不是|对|不对|可以|不可以|能|不能"
    r"|够|不够|行|不行|没错)[\W_]*"
)
_WORD = re.compile(r"[a-z][a-z-]{3,}|[\u4e00-\u9fff]+")
_CODE = re.compile(
    r"(?m)^[ \t>]*(?:`{3,16}|~{3,16})[^\n]*\n.*?(?:^[ \t>]*(?:`{3,}|~{3,})[ \t]*$|\Z)", re.DOTALL
)
_MARK = re.compile(r"(?:[\s>]|[-*+]\s|\d{1,3}[.)、]\s?|#{1,6}\s)*")
_BETWEEN = re.compile(
    r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)\s+(?=[\"'*(\[A-Z\u4e00-\u9fff])|(?<=[。！？；])"
)
# Words of any English text, which say nothing of what it speaks of.
_COMMON = frozenset(
    "about above after again also always another around because been before being below between both cannot"
    " could does doing done down each else even every first from have here into just know last less like long"
    " look made make many more most much must need never next only other over please same should since some"
    " still such sure take than that their them then there these they thing this those through time under"
    " until used uses using very want well were what when where which while will with without work would your"
    .split()
)  # fmt: skip
# What a sentence of an answer speaks of. A sentence with none of it and no figure is talk of something else.
_TERMS = re.compile(
    r"(?i)gpu|vram|memor|instance|famil|price|pricing|cost|cheap|expensive|budget|discount|subscription|spot"
    r"|pay-as-you-go|savings|region|zone|stock|quota|model|precision|quanti|awq|gptq|gguf|bf16|fp16|fp8|int[48]|context|token"
    r"|concurren|throughput|latency|bandwidth|nvlink|rdma|network|parallel|weights|cache|batch|training"
    r"|fine-?tun|lora|inference|serving|serve|vllm|sglang|tensorrt|pytorch|transformers|llama|driver|cuda|nvidia"
    r"|kernel|xid|nccl|container|docker|kubernetes|linux|image|disk|storage|reboot|alibaba|ecs\b|calculat|estimat"
    r"|assum|alternative|option|recommend|headroom|margin|fits?\b|workload|hardware|card|command|log\b|error"
    r"|install|version|restart|configur|release|benchmark|measured|precise|source|guide|\bwhy\b"
    r"|next step|reason|\bnotes?\b|summary"
    r"|显存|显卡|内存|实例|规格|价|费|便宜|贵|预算|折|包年|包月|按量|抢占|地域|可用区|库存|配额|模型|精度|量化|上下文"
    r"|并发|吞吐|延迟|带宽|互联|网络|并行|权重|缓存|批|训练|微调|推理|部署|驱动|内核|容器|镜像|磁盘|存储|重启|云"
    r"|估算|计算|假设|方案|推荐|建议|余量|负载|硬件|卡|命令|日志|报错|错误|安装|版本|配置|实测|来源|指南|单位|小时|原因|下一步|说明|注意|结论"
)


def on_subject(text: str) -> str:
    """The text without the sentences that speak of nothing of ours; code blocks and tables stay as they are.
    "" where nothing is left."""
    parts: list[str] = []
    place = 0
    for match in _CODE.finditer(text):
        parts += [_kept(text[place : match.start()]), match[0]]
        place = match.end()
    return "".join([*parts, _kept(text[place:])]).strip()


def _kept(text: str) -> str:
    lines = (_kept_line(line) for line in text.split("\n"))
    return "\n".join(line for line in lines if line is not None)


def _kept_line(line: str) -> str | None:
    """A line without its foreign sentences; None where no other was in it."""
    found = _MARK.match(line)
    mark = found[0] if found else ""
    said = line[len(mark) :]
    if not _LETTER.search(said) or said.startswith("|"):
        return line
    kept = [part for part in _BETWEEN.split(said) if part and _is_ours(part)]
    joined = "".join(f"{part} " if part[-1] in ".!?" else part for part in kept).strip()
    return mark + joined if _LETTER.search(joined) else None


def _is_ours(sentence: str) -> bool:
    """Whether a sentence holds a term, a figure or a name, or is a yes or no to the question."""
    return (
        not _LETTER.search(sentence)
        or bool(_TERMS.search(sentence) or _YES_OR_NO.fullmatch(sentence))
        or any(claim.kind != "number" for claim in claims_in(sentence))
    )


def retells(text: str, sources: Iterable[str]) -> bool:
    """Whether an answer's words come from the sources it was made from, `SUPPORT` of them at least."""
    said = _words(text)
    known: set[str] = set()
    for source in sources:
        known |= _words(source)
    return bool(said) and len(said & known) >= SUPPORT * len(said)


def _words(text: str) -> set[str]:
    """Words of four letters and more, and pairs of Chinese characters."""
    found: set[str] = set()
    for word in _WORD.findall(text.lower()):
        if word[0] < "\u4e00":
            found |= {word} - _COMMON
        else:
            found |= {word[place : place + 2] for place in range(max(1, len(word) - 1))}
    return found
