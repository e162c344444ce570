"""The page's own words in English and Chinese: labels by browser locale, panel words by answer language."""

from __future__ import annotations

from agent.reading.types import Language

# Labels that Gradio picks by the browser's locale.
LABELS: dict[str, dict[str, str]] = {
    "en": {
        "title": "GPU sizing assistant",
        "subtitle": (
            "Say what you want to run. You get the Alibaba Cloud GPU instance that fits, with the memory "
            "arithmetic, expected speed, cost and sources, or a diagnosis of what is broken. "
            "English or 中文."
        ),
        "placeholder": "For example: Llama-3-70B inference, 50 CNY/hour, 8k context, 10 concurrent",
        "examples": "Try one of these",
        "details": "Behind the answer",
    },
    "zh-CN": {
        "title": "GPU 选型助手",
        "subtitle": (
            "说出你要跑什么，即可得到合适的阿里云 GPU 实例：显存计算、预期速度、费用和来源一应俱全；"
            "也可以贴报错来诊断。支持中文和 English。"
        ),
        "placeholder": "例如：Llama-3-70B 推理，每小时 50 元以内，8k 上下文，10 并发",
        "examples": "试试这些问题",
        "details": "答案背后的数据",
    },
    "zh-TW": {
        "title": "GPU 選型助手",
        "subtitle": (
            "說出你要跑什麼，即可得到合適的阿里雲 GPU 實例：顯存計算、預期速度、費用和來源一應俱全；"
            "也可以貼報錯來診斷。支援中文和 English。"
        ),
        "placeholder": "例如：Llama-3-70B 推理，每小時 50 元以內，8k 上下文，10 並發",
        "examples": "試試這些問題",
        "details": "答案背後的資料",
    },
}

EXAMPLES = (
    "Llama-3-70B inference under 50 CNY per hour, 8k context, 10 concurrent",
    "7B LoRA 微调用哪个实例划算？",
    "nvidia-smi has failed because it couldn't communicate with the NVIDIA driver",
    "Qwen2.5-72B 4-bit，32k 上下文，20 并发，选哪个实例？",
    "A10 vs L20 for serving an 8B model",
    "gn6v 是 Hopper 架构吗？",
)

# Words of the panel, which speaks the language of the answer: (English, Chinese).
PANEL: dict[str, tuple[str, str]] = {
    "options": ("Options side by side", "方案对比"),
    "memory": ("Memory of one GPU", "单卡显存"),
    "understood": ("What was understood", "我的理解"),
    "assumed": ("assumed", "假设"),
    "said": ("said", "来自提问"),
    "by_hand": ("set by you", "你设定的"),
    "as_assumed": ("as assumed", "用默认值"),
    "change_hint": (
        "Change a value and calculate again. An emptied field goes back to what is assumed.",
        "改一个值，再重新计算。清空则恢复默认假设。",
    ),
    "more": ("More conditions", "更多条件"),
    "recompute": ("Recompute", "重新计算"),
    "nothing_changed": ("Nothing is changed yet.", "还没有改动。"),
    "sources": ("Sources", "来源"),
    "empty": (
        "Ask something: the options, the memory bars and the sources of the answer appear here.",
        "提问之后，这里会显示方案对比、显存构成和来源。",
    ),
    "instance": ("Instance", "实例规格"),
    "gpus": ("GPUs", "GPU"),
    "precision": ("Precision", "精度"),
    "plan": ("Plan", "并行方式"),
    "price": ("Price", "价格"),
    "month": ("Per month (730 h)", "每月（730 小时）"),
    "speed": ("Speed", "速度"),
    "headroom": ("Headroom per GPU", "单卡余量"),
    "no_price": ("no list price known", "暂无公开价格"),
    "cheapest": ("cheapest", "最省"),
    "balanced": ("balanced", "均衡"),
    "fastest": ("fastest", "最快"),
    "weights": ("weights", "权重"),
    "kv": ("KV cache", "KV 缓存"),
    "activation": ("activation", "激活"),
    "overhead": ("runtime", "运行时"),
    "parameters": ("parameters", "参数"),
    "gradients": ("gradients", "梯度"),
    "optimizer": ("optimizer", "优化器"),
    "activations": ("activations", "激活"),
    "logits": ("logits", "logits"),
    "free": ("free", "剩余"),
    "usable": ("usable", "可用"),
    "over": ("does not fit", "放不下"),
    "undated": ("undated", "无日期"),
    "tokens_per_s": ("tokens/s", "token/秒"),
    "per_gpu": ("per GPU", "每卡"),
    "failed": ("failed", "失败"),
    "seconds": ("s", "秒"),
}


def panel_word(key: str, language: Language) -> str:
    """A panel word in the answer's language."""
    return PANEL[key][1 if language == "zh" else 0]


# What a tool step is called while it runs: (English, Chinese).
STEPS: dict[str, tuple[str, str]] = {
    "recommend_instance": ("Comparing instances", "比较实例规格"),
    "estimate_memory": ("Calculating memory", "计算显存"),
    "estimate_training_memory": ("Calculating training memory", "计算训练显存"),
    "estimate_other_memory": ("Calculating memory", "计算显存"),
    "estimate_throughput": ("Calculating speed", "计算速度"),
    "estimate_other_speed": ("Calculating speed", "计算速度"),
    "estimate_training_time": ("Calculating training time", "计算训练时间"),
    "estimate_cost": ("Calculating cost", "计算费用"),
    "what_if": ("Trying other conditions", "试算其他条件"),
    "look_up": ("Looking up the catalog", "查询目录"),
    "compare": ("Comparing side by side", "逐项对比"),
    "compare_log": ("Comparing the log", "对照日志"),
    "decode_name": ("Reading the name", "解读规格名"),
    "find_instances": ("Finding instances", "查找实例规格"),
    "check_claims": ("Checking claims", "核对说法"),
    "launch_commands": ("Preparing launch files", "生成启动文件"),
    "search_guides": ("Searching the guides", "检索指南"),
}


def step_title(tool: str, language: Language) -> str:
    """The title of a tool step; an unnamed tool shows its name with spaces."""
    english, chinese = STEPS.get(tool, (tool.replace("_", " ").capitalize(),) * 2)
    return chinese if language == "zh" else english
