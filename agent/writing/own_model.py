"""A model of the user's own in words: what its file says, what is unknown, or why it cannot be used."""

from __future__ import annotations

from agent.reading.types import Reading
from agent.writing.words import Words, quoted

_SHOWN = 4  # things not known


def own_model_line(w: Words, reading: Reading) -> str:
    """What the file says of the model that the question is about; "" without one."""
    own = next((item for item in reading.own_models if item.model.model_id == reading.request.model), None)
    if own is None:
        return ""
    model = own.model
    name = f"**{model.model_id}**"  # letters, digits and hyphens: checked where it was read
    experts = (
        w(
            f", {model.num_experts} experts ({model.experts_per_token} per token)",
            f"，{model.num_experts} 个专家（每 token {model.experts_per_token} 个）",
        )
        if model.num_experts
        else ""
    )
    cache = w.num((model.kv_bytes_per_token_bf16 or 0) / 1024)
    source = (
        w("Read from its config.json on the hub", "来自模型仓库的 config.json")
        if model.source.startswith("config.json of")
        else w("Read from your file", "读取你的文件")
    )
    told = w(
        f"{source}: {name}, {w.num(model.params_total_b or 0)}B parameters, {model.num_layers} "
        f"layers{experts}, {cache} KiB of KV cache per token in 16 bit.",
        f"{source}：{name}，{w.num(model.params_total_b or 0)}B 参数，{model.num_layers} 层{experts}，"
        f"16 位 KV 缓存每 token {cache} KiB。",
    )
    if own.weight_bytes:
        size = w.gib(own.weight_bytes / 2**30)
        told += w(f" Its tensors are {size} as stored.", f"文件中的张量共 {size}。")
    if own.unknown:
        listed = w.listed(quoted(item) for item in own.unknown[:_SHOWN])
        told += w(
            f" Not known to me: {listed}. Taken as a plain decoder with full attention in every such layer, "
            "so the cache is an upper bound.",
            f"不认识的部分：{listed}。这些层按普通解码器的全注意力计算，因此缓存是上界。",
        )
    return told


def unreadable_section(w: Words, reading: Reading) -> str:
    """Why a pasted config.json cannot be used, by its key; "" where it can."""
    fault = reading.unreadable
    if fault is None:
        return ""
    field, given = fault.field.replace("`", "")[:60], quoted(str(fault.given))
    if fault.given is None:
        return w(
            f"**This config.json cannot be used: `{field}` is missing.** It is {fault.allowed}.",
            f"**这个 config.json 无法使用：缺少 `{field}`。** 要求：{fault.allowed}。",
        )
    return w(
        f"**This config.json cannot be used: `{field}` is {given}.** Allowed: {fault.allowed}. Correct it "
        "and paste it again, or name the model or its size.",
        f"**这个 config.json 无法使用：`{field}` 是 {given}。** 允许：{fault.allowed}。请改正后再贴一次，"
        "或直接说模型名或参数量。",
    )
