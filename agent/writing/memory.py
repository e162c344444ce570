"""Memory reports in words: the arithmetic in one paragraph, a cell for tables, what would make it fit."""

from __future__ import annotations

from agent.writing.glossary import remark_text
from agent.writing.words import Words, short_model, table
from tools.contracts.base import Remark
from tools.contracts.memory import FitOption, MemoryReport
from tools.contracts.other import OtherMemoryReport
from tools.contracts.training import TrainingMemoryReport

AnyMemory = MemoryReport | TrainingMemoryReport | OtherMemoryReport


def memory_cell(w: Words, report: AnyMemory | None) -> str:
    """Needed of usable memory of one GPU."""
    if report is None:
        return ""
    needed = peak_gib(report)
    if report.usable_gib_per_gpu is None:
        return w.gib(needed)
    return w(
        f"{w.gib(needed)} of {report.usable_gib_per_gpu:.1f}",
        f"{w.gib(needed)} / {report.usable_gib_per_gpu:.1f}",
    )


def peak_gib(report: AnyMemory) -> float:
    return report.total_gib_per_gpu if isinstance(report, MemoryReport) else report.peak_gib_per_gpu


def memory_line(w: Words, report: AnyMemory | None) -> str:
    """The arithmetic of one report, parts first, against the usable memory of the card."""
    if report is None:
        return ""
    if isinstance(report, MemoryReport):
        parts = _serving_parts(w, report)
    elif isinstance(report, TrainingMemoryReport):
        parts = _training_parts(w, report)
    else:
        parts = _other_parts(w, report)
    total = w.gib(peak_gib(report))
    cards = w(" per GPU", "（每卡）") if report.gpu_count > 1 else ""
    named = isinstance(report, OtherMemoryReport)
    of_en, of_zh = (
        (f" of {short_model(report.model)}", f"（{short_model(report.model)}）") if named else ("", "")
    )
    text = w(f"**Memory{of_en}{cards}.** {parts} = {total}", f"**显存{of_zh}{cards}**：{parts} = {total}")
    return text + _against(w, report) + _pool(w, report) + states_line(w, report)


def _pool(w: Words, report: AnyMemory) -> str:
    """The memory of all cards together, and what the weights leave of it."""
    if not isinstance(report, MemoryReport) or report.gpu_count < 2:
        return ""
    count, nominal, total = report.gpu_count, report.nominal_gib_per_gpu, report.nominal_gib
    usable, left = report.usable_gib, report.beside_weights_gib
    if nominal is None or total is None or usable is None or left is None:
        return ""
    weights = f"{w.gib(report.weights_gib)} ({w.num(report.weights_gib * 2**30 / 1e9)} GB)"
    rest = (
        w(f"leave {w.gib(left)} for cache and overhead", f"剩 {w.gib(left)} 给 KV 缓存和开销")
        if left > 0
        else w("are more than that", "已经超过")
    )
    return w(
        f" All {count} cards: {count} × {nominal:g} GiB = {total:g} GiB nominal, "
        f"{w.gib(usable)} usable; the weights of {weights} {rest}.",
        f"全部 {count} 卡：{count} × {nominal:g} GiB = 标称 {total:g} GiB，可用 {w.gib(usable)}；"
        f"权重 {weights} {rest}。",
    )


def states_line(w: Words, report: AnyMemory) -> str:
    """The rule of thumb for training states of all GPUs together, against their nominal memory."""
    if not isinstance(report, TrainingMemoryReport) or not report.states_gib or not report.total_params_b:
        return ""
    size, total = f"{w.num(report.total_params_b)}B", w.num(report.states_gib * 2**30 / 1e9)
    pool = ""
    if report.gpu_count > 1 and report.nominal_gib_per_gpu:
        nominal = report.nominal_gib_per_gpu
        cards = f"{report.gpu_count} × {nominal:g} = {report.gpu_count * nominal:g} GB"
        pool = w(f"; the cards have {cards} nominal", f"；显卡标称 {cards}")
    if report.method in ("full", "pretrain"):
        return w(
            f" Rule of thumb for all GPUs together: {size} × 16 bytes (weights 2, gradients 2, fp32 copy and "
            f"Adam moments 12; 18 with fp32 gradients) = {total} GB of states before activations{pool}.",
            f"经验算法（所有卡合计）：{size} × 16 字节（权重 2、梯度 2、fp32 副本和 Adam 动量 12；"
            f"fp32 梯度为 18）= {total} GB 状态，再加激活{pool}。",
        )
    if report.method != "lora" or report.gpu_count < 2:
        return ""
    return w(
        f" Split over all GPUs (ZeRO-3, FSDP or device_map) plain 16-bit LoRA holds {size} × 2 bytes of "
        f"frozen weights and small adapters = {total} GB, plus activations{pool}.",
        f"若切分到所有卡（ZeRO-3、FSDP 或 device_map），16 位 LoRA 合计：{size} × 2 字节冻结权重加少量适配器 "
        f"= {total} GB，再加激活{pool}。",
    )


def _against(w: Words, report: AnyMemory) -> str:
    """The total against what may be used: an engine takes a share of the usable memory, 92 % for vLLM."""
    usable, margin = report.usable_gib_per_gpu, report.margin_gib
    if usable is None or margin is None:
        return w(".", "。")
    allowed = peak_gib(report) + margin
    limit = w(
        f"the {w.gib(usable)} usable on {w.card(report.gpu)}", f"{w.card(report.gpu)} 可用的 {w.gib(usable)}"
    )
    if isinstance(report, MemoryReport) and usable - allowed > _SHARE_WORTH_SAYING_GIB:
        limit = w(
            f"the {w.gib(allowed)} that the engine takes of {w.gib(usable)} usable on {w.card(report.gpu)}",
            f"引擎可用的 {w.gib(allowed)}（{w.card(report.gpu)} 可用 {w.gib(usable)}）",
        )
    space = " " if limit[0].isascii() else ""
    if report.fits is False:
        return w(
            f", more than {limit}: it lacks {w.gib(abs(margin))}.",
            f"，超过{space}{limit}，差 {w.gib(abs(margin))}。",
        )
    spare = w("tight, ", "偏紧，") if report.verdict == "tight" else ""
    return w(
        f", of {limit}: it fits, {spare}{w.gib(margin)} to spare.",
        f"，{limit}：放得下，{spare}余 {w.gib(margin)}。",
    )


def kib_per_token(w: Words, report: MemoryReport) -> str:
    return f"{w.num(report.kv_bytes_per_token / 1024, 4)} KiB"


def _serving_parts(w: Words, report: MemoryReport) -> str:
    weights = w.gib(report.weights_gib_per_gpu)
    if report.gpu_count > 1:
        weights = w(
            f"{weights} ({w.gib(report.weights_gib)} over {report.gpu_count} GPUs)",
            f"{weights}（共 {w.gib(report.weights_gib)}，分到 {report.gpu_count} 卡）",
        )
    tokens = report.context_tokens * report.concurrency
    kv = w(
        f"{w.gib(report.kv_cache_gib_per_gpu)} ({w.count(tokens)} tokens × {kib_per_token(w, report)}",
        f"{w.gib(report.kv_cache_gib_per_gpu)}（{w.count(tokens)} token × {kib_per_token(w, report)}",
    )
    kv += _cache_division(w, report, tokens) + w(")", "）")
    return w(
        f"weights {weights} + KV cache {kv} + activations {w.gib(report.activation_gib_per_gpu)} + runtime "
        f"{w.gib(report.overhead_gib_per_gpu)}",
        f"权重 {weights} + KV 缓存 {kv} + 激活 {w.gib(report.activation_gib_per_gpu)} + 运行时开销 "
        f"{w.gib(report.overhead_gib_per_gpu)}",
    )


def _cache_division(w: Words, report: MemoryReport, tokens: int) -> str:
    """How the cache lies over the GPUs: divided by KV heads and stages, or whole on each (latent)."""
    if report.gpu_count == 1 or not report.kv_cache_gib_per_gpu:
        return ""
    whole = tokens * report.kv_bytes_per_token + report.concurrency * report.kv_bytes_per_sequence_fixed
    parts = round(whole / 2**30 / report.kv_cache_gib_per_gpu)
    if parts <= 1:
        return w(
            f", kept whole on each of the {report.gpu_count} GPUs",
            f"，{report.gpu_count} 张卡每卡各存一份",
        )
    if parts < report.gpu_count:
        return w(
            f" over {parts} parts, each on {report.gpu_count // parts} GPUs",
            f"，分成 {parts} 份，每份存于 {report.gpu_count // parts} 卡",
        )
    return w(f" over {report.gpu_count}", f"，分到 {report.gpu_count} 卡")


def _training_parts(w: Words, report: TrainingMemoryReport) -> str:
    parts = (
        ("parameters", "参数", report.parameters_gib),
        ("gradients", "梯度", report.gradients_gib),
        ("optimizer", "优化器", report.optimizer_gib),
        ("activations", "激活", report.activations_gib),
        ("logits", "logits", report.logits_gib),
        ("overhead", "开销", report.overhead_gib),
    )
    return " + ".join(
        f"{w(english, chinese)} {w.gib(value)}"
        for english, chinese, value in parts
        if value >= _SMALLEST_SHARE * report.peak_gib_per_gpu
    )


_SHARE_WORTH_SAYING_GIB = 0.2
_SMALLEST_SHARE = 0.01  # smaller parts are left out of the sum
_PARTS = {
    "weights": "权重", "activations": "激活", "overhead": "开销", "runtime": "运行时", "adapters": "适配器",
    "trained_states": "训练状态", "latents": "潜变量", "text_encoder": "文本编码器", "denoiser": "去噪网络",
    "decoder": "解码器", "gradients": "梯度", "optimizer": "优化器",
}  # fmt: skip


def _other_parts(w: Words, report: OtherMemoryReport) -> str:
    if not report.parts_gib:
        return w("peak", "峰值")
    return " + ".join(
        f"{w(name.replace('_', ' '), _PARTS.get(name, name.replace('_', ' ')))} {w.gib(value)}"
        for name, value in report.parts_gib.items()
        if value >= _SMALLEST_SHARE * report.peak_gib_per_gpu
    )


def limits_table(w: Words, limits: tuple[FitOption, ...], gpu: str = "", precision: str = "") -> str:
    """What would change the verdict, each with its total."""
    if not limits:
        return ""

    def words(item: FitOption) -> str:
        if item.change == "more_gpus" and gpu:
            return f"{item.value} × {gpu}" + (f" ({w.precision(precision)})" if precision else "")
        return remark_text(w, Remark(code=item.change, params={"value": item.value}))

    rows = [
        (
            words(item),
            w.gib(item.total_gib_per_gpu),
            w("fits", "放得下") if item.fits else w("does not fit", "放不下"),
        )
        for item in limits
    ]
    return table((w("Change", "改动"), w("Total per GPU", "每卡合计"), w("Verdict", "结论")), rows)
