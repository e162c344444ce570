"""Finds what is to be done: the task, the training method, the engine, the data and the wishes."""

from __future__ import annotations

import re

from agent.reading.numerals import NUM, SCALE, number
from agent.reading.words import Found, Words

_TASKS = (
    ("transcoding", r"转码|转封装|transcod|video encod|硬件?编码|av1|nvenc|编解码|推流"),
    ("graphics", r"云游戏|云桌面|图形(?:渲染|工作站|设计)?|渲染(?!器)|cloud gaming|virtual desktop|vdi(?![a-z])|workstation|工作站|cad(?![a-z])|3d|opengl|directx|rendering|blender|unreal|虚幻|unity|maya|远程(?:设计|桌面)|solidworks|无影"),
    ("hpc", r"fp64|双精度|double[-\s]precision|hpc|cfd|科学计算|分子动力学|lammps|gromacs|namd|amber(?![a-z])|vasp|fluent|ansys|comsol|openfoam|有限元|weather|气象|fortran|mpi(?![a-z])|stencil|仿真|simulation|molecular|量子化学|数值计算|哈希|密码学|hashing|整数计算|monte carlo|蒙特卡洛|lattice"),
    ("pretrain", r"预训练|pre-?train|from scratch|从零(?:开始)?训练|从头训|chinchilla"),
    ("finetune", r"微调|finetun|fine-?tun|q?lora|sft(?![a-z])|dpo(?![a-z])|rlhf|grpo|ppo(?![a-z])|全参|全量训|dreambooth|增量训练|指令训练|对齐训练|instruction tun|adapter|peft|训(?:练)?(?:个|一个)?lora"),
    ("video", r"文生视频|图生视频|视频生成|生成视频|text[-\s]to[-\s]video|image[-\s]to[-\s]video|t2v|i2v|video generat|generat\w+ [^.]{0,20}videos?|混元视频|hunyuan\s?video|cogvideo|万相|(?<![a-z])wan\s?\d|数字人|做视频|ai视频"),
    ("diffusion", r"文生图|图生图|出图|生图|stable diffusion|sdxl|(?<![a-z])sd(?![a-z])|flux|text[-\s]to[-\s]image|image generat|generat\w+ images?|comfyui|webui|diffusion|画图|绘图|ai绘画|画画|qwen-image"),
    ("asr", r"语音识别|语音转写|转写|asr(?![a-z])|whisper|speech[-\s]to[-\s]text|stt(?![a-z])|transcri(?:b|pt)|paraformer|funasr|听写|录音|字幕识别|实时字幕|语音翻译|同传|vosk|sensevoice"),
    ("tts", r"语音合成|tts(?![a-z])|text[-\s]to[-\s]speech|cosyvoice|声音克隆|voice clon|配音"),
    ("reranker", r"(?<![a-z])rerank\w*|重排"),
    ("embedding", r"embedding|embed(?![a-z])|向量化|向量模型|(?<![a-z])bge(?![a-z])|(?<![a-z])gte(?![a-z])|vectori[sz]"),
    ("vision", r"ocr(?![a-z])|yolo|目标检测|object detection|图像识别|人脸|摄像头|cameras?|rtsp|vision|图像分类|image classif|resnet|segmentation|分割|监控视频|视频理解|视觉|质检|detection"),
    ("development", r"学习|入门|练手|学(?:一?下)?(?:cuda|pytorch|ai|深度学习)|learn(?:ing)?\s(?:cuda|pytorch|deep|ai|ml)|for learning|jupyter|notebook|开发环境|dev box|development (?:box|machine)|实验环境|玩玩|课程作业|experiment(?:ing|s)?(?![a-z])"),
)  # fmt: skip
_TASK_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in _TASKS)
_TRAINING = re.compile(r"训练|(?<![a-z])train(?:ing|s|ed)?(?![a-z])|epochs?")
_INFERENCE = re.compile(
    r"推理|部署|inference|serv(?:e|ing)|host(?:ing)?(?![a-z])|deploy|chatbot|api(?![a-z])|聊天|客服|问答|rag|vllm|sglang|ollama|上线|对话|agent"
)
_METHODS = (
    ("qlora", r"q-?lora|4\s?bit\s?lora|4比特lora"),
    ("lora", r"(?<![a-z])(?:do|rs)?lora(?![a-z])|adapter|peft"),
    ("freeze", r"freeze|冻结|linear prob"),
    (
        "full",
        r"全参|全量|full[-\s]?(?:param(?:eter)?s?|fine-?tun\w*|ft|finetun\w*|sft)|full(?=\s(?:fine|train))|所有参数",
    ),
    ("pretrain", r"预训练|pre-?train|from scratch|从零|从头训"),
    ("lora", r"dreambooth"),
    ("full", r"sft(?![a-z])|dpo(?![a-z])|rlhf|grpo|ppo(?![a-z])"),
)
_METHOD_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in _METHODS)
_ENGINES = re.compile(
    r"(?<![a-z])(vllm|sglang|tensorrt[-\s]?llm|trt[-\s]?llm|tensorrt|lmdeploy|llama\.?cpp|ollama|tgi|text[-\s]generation[-\s]inference|exllama|fastchat|transformers|deepspeed|megatron|llama[-\s]?factory|ms-swift|swift|unsloth|axolotl|diffusers|comfyui|xinference|ktransformers|mindie|triton)(?![a-z])"
)
_ENGINE_NAMES = {"llamacpp": "llama.cpp", "trt-llm": "tensorrt-llm", "trt llm": "tensorrt-llm", "tensorrt llm": "tensorrt-llm",
                 "llama-factory": "llama-factory", "llamafactory": "llama-factory", "llama factory": "llama-factory"}  # fmt: skip
_SERVING_ENGINES = {
    "vllm",
    "sglang",
    "tensorrt-llm",
    "lmdeploy",
    "llama.cpp",
    "ollama",
    "tgi",
    "transformers",
    "exllama",
    "fastchat",
    "xinference",
    "ktransformers",
}
_DATA_TOKENS = (
    re.compile(
        rf"(?P<n>{NUM})\s*(?P<scale>t|b|{SCALE})?\s*(?:个|的|of)?\s*(?:tokens?|词元)(?=\s*(?:的)?\s*(?:数据|语料|data|corpus|继续|预训练|训练|,|$|上|of|\)|\.))?"
    ),
)
_DATA_WORDS = re.compile(r"训练|train|数据|data|语料|corpus|预训练|epoch|微调|tun|全参|budget|dataset")
_SAMPLES = (
    re.compile(
        rf"(?P<n>{NUM})\s*(?P<scale>{SCALE})?\s*(?:多|来)?\s*(?:条|对|个样本|样本|samples?|examples?|rows?|pairs?|conversations|records|instructions|组对话|问答对|组数据|份数据|篇数据|条数据)"
    ),
    re.compile(
        rf"(?:数据(?:集|量)?|dataset|样本(?:数|量)?)(?:of|有|约|大概|是|为|:|\s)*(?P<n>{NUM})\s*(?P<scale>{SCALE})?\s*(?:条|对|samples?|rows?|examples?|$)"
    ),
)
_EPOCHS = (
    re.compile(rf"(?P<n>{NUM})\s*(?:个)?\s*(?:epochs?|轮(?!胎|询))"),
    re.compile(rf"epochs?\s*(?:=|:|of)?\s*(?P<n>{NUM})"),
)
_RANK = re.compile(r"(?:lora[-_\s]?)?(?:rank|(?<![a-z])r)\s*(?:=|:|of|为|是)?\s*(\d{1,4})(?![\d.])")
_NVLINK = re.compile(
    r"(?:需要|要(?:有|带|支持)?|必须(?:有|带)?|带|with|need(?:s|ed)?|require\w*|must have|want)\s*(?:an?\s|支持)?\s*nv-?(?:link|switch)"
)
_NO_NVLINK = re.compile(
    r"(?:不需要|不要|不用|without|no|don'?t need)\s*(?:要|the\s)?\s*nv-?link|nv-?link\s*(?:not needed|不需要)|是否需要|要不要|需不需要|do i need|need nvlink\?"
)
_BARE_METAL = re.compile(r"裸金属|bare[-\s]?metal|神龙|ebm(?![a-z])")
_VIRTUAL = re.compile(
    r"(?:不要|不用|no|not|without)\s*(?:裸金属|bare[-\s]?metal)|虚拟化实例|virtual(?:ised|ized)? instance"
)
_CHEAP = re.compile(
    r"最便宜|cheapest|最省|省钱|lowest (?:cost|price)|便宜(?:点|些|一点)?的|最低(?:价|成本|配)|minimal|min(?:imum)?\s(?:gpu|cost|budget|price)|cheap(?![a-z])|性价比|最划算|穷|affordable|low[-\s]cost|least expensive"
)
_FAST = re.compile(
    r"最快|fastest|越快越好|低延迟优先|highest (?:speed|throughput|performance)|性能优先|不差钱|best performance|speed matters|尽快|as fast as|performance matters|预算(?:不限|充足)|money is no|不计成本"
)
_MAX_GPUS = re.compile(
    r"(?:最多|不超过|至多|at most|no more than|up to|max(?:imum)?(?: of)?)\s*(\d{1,4})\s*(?:张|块|片|个)?\s*(?:卡|gpus?|显卡|cards?)|单卡(?:就|能|跑|搞定|解决|方案)|on a single (?:gpu|card)|1 (?:gpu|card) only|only 1 (?:gpu|card)"
)
_VRAM = re.compile(
    r"(?<![\d.])(\d{1,4})\s*g(?:i?b)?\s*(?:的)?\s*(?:显存|vram|gpus?(?![a-z])|cards?|显卡|卡|video memory|gpu memory|memory gpu)|(?:显存|vram|每[人卡张])\s*(?:有|是|为|of|只有|要|:)?\s*(\d{1,4})\s*g(?:i?b)?(?![a-z])|\bis\s(\d{1,3})\s*gi?b\s(?:enough|ok|sufficient)|(\d{1,3})\s*gb?\s*(?:够吗|够不够|够用)"
)


def find_tasks(words: Words, model_kind: str) -> list[tuple[str, float]]:
    """Tasks of a turn with confidence, the main one first; the kind of a named model speaks too."""
    text = words.plain
    found = [name for name, pattern in _TASK_PATTERNS if pattern.search(text)]
    training = bool(_TRAINING.search(text))
    by_model = {"diffusion": "diffusion", "video": "video", "asr": "asr", "tts": "tts", "vision": "vision",
                "embedding": "embedding", "reranker": "reranker"}.get(model_kind)  # fmt: skip
    if by_model and by_model not in found:
        found.append(by_model)
    tuned = [name for name in found if name in ("finetune", "pretrain")]
    if tuned:
        return [(tuned[0], 0.95)] + [(name, 0.7) for name in found if name not in tuned]
    if training and not _INFERENCE.search(text):
        return [("finetune" if by_model or found else "finetune", 0.5)] + [
            (name, 0.6) for name in found if name != "finetune"
        ]
    if model_kind in ("llm", "moe-llm") and (
        not found or found[0] in ("embedding", "reranker", "development", "vision")
    ):
        return [("inference", 0.8)] + [(name, 0.5) for name in found]
    if found:
        return [(name, 0.85) for name in found]
    return [("inference", 0.8)] if _INFERENCE.search(text) else []


def find_method(words: Words) -> Found | None:
    for name, pattern in _METHOD_PATTERNS:
        if match := pattern.search(words.plain):
            return Found("method", name, 0.9, words.said(*match.span()))
    return None


def find_engine(words: Words) -> Found | None:
    """The serving engine that a turn names; training frameworks are no engine of a serving request."""
    for match in _ENGINES.finditer(words.plain):
        name = _ENGINE_NAMES.get(match[1], match[1])
        if name in _SERVING_ENGINES:
            return Found("engine", name, 0.95, words.said(*match.span()))
    return None


def find_data(words: Words) -> list[Found]:
    """Tokens, samples and epochs of a training set; takes their words."""
    found: list[Found] = []
    if _DATA_WORDS.search(words.plain) and (match := _DATA_TOKENS[0].search(words.free)):
        count = number(match["n"], match["scale"])
        if count >= 100_000:
            found.append(Found("dataset_tokens", count, 0.9, words.said(*match.span())))
            words.take(*match.span())
    for field, patterns in (("dataset_samples", _SAMPLES), ("epochs", _EPOCHS)):
        for pattern in patterns:
            if match := pattern.search(words.free):
                scale = match.groupdict().get("scale")
                value = number(match["n"], scale)
                if value > 0:
                    found.append(Found(field, value, 0.9, words.said(*match.span())))
                    words.take(*match.span())
                break
    if "lora" in words.plain and (match := _RANK.search(words.plain)) and 1 <= int(match[1]) <= 8192:
        found.append(Found("lora_rank", int(match[1]), 0.9, words.said(*match.span())))
    return found


def find_wishes(words: Words) -> list[Found]:
    """NVLink, bare metal, cheapest or fastest, at most so many GPUs."""
    text = words.plain
    found: list[Found] = []
    if (match := _NVLINK.search(text)) and not _NO_NVLINK.search(text):
        found.append(Found("needs_nvlink", True, 0.8, words.said(*match.span())))
    if match := _VIRTUAL.search(text):
        found.append(Found("bare_metal", False, 0.8, words.said(*match.span())))
    elif match := _BARE_METAL.search(text):
        found.append(Found("bare_metal", True, 0.7, words.said(*match.span())))
    if match := _CHEAP.search(text):
        found.append(Found("objective", "cheapest", 0.9, words.said(*match.span())))
    elif match := _FAST.search(text):
        found.append(Found("objective", "fastest", 0.9, words.said(*match.span())))
    if match := _MAX_GPUS.search(text):
        found.append(Found("max_gpus", max(1, int(match[1] or 1)), 0.8, words.said(*match.span())))
    return found


def find_vram(words: Words) -> Found | None:
    """The memory of a card that is named by its memory only: "a 24GB card", "每人8G"."""
    if match := _VRAM.search(words.free):
        value = float(next(group for group in match.groups() if group))
        if 0 < value <= 2000:
            return Found("vram_gb", value, 0.8, words.said(*match.span()))
    return None
