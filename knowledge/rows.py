"""The typed rows of `knowledge/data/*.csv`: frozen, units in the names, every row with its source.

`as_of` is the date of the source (YYYY, YYYY-MM or YYYY-MM-DD) and empty where neither a column nor the
source text has one; it is then shown as "undated".
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Status = Literal["current", "legacy", "unknown"]
Interconnect = Literal["none", "pcie", "nvlink", "unknown"]
Purchase = Literal[
    "payg", "spot", "subscription_1m", "subscription_1y", "subscription_3y", "savings_plan_universal"
]
Confidence = Literal["high", "medium", "low"]
Currency = Literal["CNY", "USD"]


class Row(BaseModel):
    """A row of a fact table; `source` names where every figure of it comes from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str = Field(min_length=3)
    as_of: str = Field(default="", pattern=r"^(\d{4}(-\d{2}(-\d{2})?)?)?$")


class Gpu(Row):
    """A GPU model. Tensor rates are dense (no sparsity), in TFLOPS or TOPS; bandwidths in 1e9 bytes/s."""

    gpu_model: str
    name_in_docs: str = ""
    known_as: str = ""
    architecture: str = ""
    compute_capability: float | None = None
    memory_gib: float | None = Field(default=None, gt=0)  # nominal size, as sold
    usable_memory_mib: int | None = None  # as nvidia-smi shows it, ECC on; empty = unmeasured
    cuda_visible_gib: float | None = None  # what a CUDA process sees as the card's total; empty = unmeasured
    memory_type: str = ""
    memory_bandwidth_gbs: float | None = None
    fp64_tflops: float | None = None
    fp32_tflops: float | None = None
    tf32_tflops: float | None = None
    fp16_tflops: float | None = None
    bf16_tflops: float | None = None
    int8_tops: float | None = None
    fp8_tflops: float | None = None
    fp4_tflops: float | None = None
    nvlink_gbs: float | None = None  # both directions together, per GPU, as NVIDIA states it
    nvlink_gpus: int | None = None  # cards that NVLink joins: 2 by a bridge; empty: by switches or a mesh
    pcie_gen: int | None = None
    tdp_w: float | None = None
    ecc: str = ""
    mig: str = ""
    consumer: bool = False  # sold for desktops and games
    slices_share_time: Literal["", "best-effort"] = ""  # empty: each vGPU slice gets its share of time
    same_chip_as: str = ""  # the same chip at the same bandwidth under another name, or with a slower NVLink
    sold_on_alibaba_ecs: Literal["current", "legacy", "unknown", "no"]
    identification: str = ""
    notes: str = ""


class Instance(Row):
    """One ECS instance type. `gpu_memory_gib` is nominal and per GPU (a slice's own share for vGPU types)."""

    instance_type: str = Field(pattern=r"^ecs\.[a-z0-9.\-]+$")
    family: str
    category: Literal["ecs-gpu", "vgpu", "ebm-gpu", "sccgpu"]
    vcpu: int = Field(gt=0)
    memory_gib: float = Field(gt=0)
    gpu_model: str
    gpu_count: float = Field(gt=0)  # below 1 for vGPU slices
    gpu_memory_gib: float | None = None
    interconnect: Interconnect
    nvlink_gbs_per_gpu: float | None = None
    network_gbps: float | None = None
    packet_rate_mpps: float | None = None
    rdma_gbps: float | None = None
    local_nvme_gib: float = 0
    status: Status
    gpu_model_basis: str = ""
    second_source: str = ""
    notes: str = ""

    @property
    def bare_metal(self) -> bool:
        return self.category in ("ebm-gpu", "sccgpu")

    @property
    def whole_gpus(self) -> int:
        """How many whole GPUs the type has; 0 for a vGPU slice."""
        return int(self.gpu_count)


# Kinds of price that everyone pays alike: published lists, and the list as the official API answers it.
RANKED_BASES = ("list", "live")


class Price(Row):
    """One price as published. `unit` says what `price` counts; only comparable rows enter a ranking."""

    instance_type: str
    region_id: str = ""
    purchase: Purchase
    currency: Currency
    price: Decimal = Field(gt=0)
    unit: Literal["hour", "month", "year", "3 years", "hour_equivalent_730", "percent_of_payg"]
    product: str = ""
    basis: Literal["list", "quote", "bill", "console", "third-party", "derived", "live"]
    includes_disk: bool  # a disk is, or may be, inside the price
    confidence: Confidence
    note: str = ""

    @property
    def comparable(self) -> bool:
        """Whether the row may enter a ranking: a list price of this very type, a region, instance part only,
        trusted. What one customer was quoted or billed is no price of the next."""
        return (
            self.product == "ecs"
            and bool(self.region_id)
            and self.confidence != "low"
            and self.unit in ("hour", "month", "year", "3 years")
            and not self.instance_type.endswith(".*")
            and not self.includes_disk
            and self.basis in RANKED_BASES
        )


HOME_REGION = "cn-hangzhou"  # where nothing else is said or set: most types, the provider's home


class Region(Row):
    """An Alibaba Cloud region with the names people use for it."""

    region_id: str
    name_en: str
    name_zh: str
    aliases: tuple[str, ...] = ()
    mainland: bool


class Family(Row):
    """What the documents say of an instance family beyond its types; empty where they say nothing."""

    family: str
    host_cpu: str = ""
    cpu_arch: Literal["x86", "arm"]
    access: Literal["open", "contact-sales", "invitation", "ticket", "retired"]
    purpose: Literal["general", "vgpu-graphics", "graphics", "arm-media", "confidential", "cluster"]
    uses: tuple[str, ...] = ()
    erdma: bool | None = None
    uefi_image: bool | None = None  # needs an image with the UEFI boot mode
    graphics_driver: Literal["", "licence-included", "licence-apart", "grid-needed"] = ""
    video_encode: Literal["", "none", "h264+hevc", "h264+hevc+av1"] = ""
    cpu_shared: bool | None = None
    note: str = ""


class BillingRule(Row):
    """One rule of billing: `scope` is a family, a type or a currency, `region_id` a region or "mainland"."""

    rule: Literal[
        "month_list_hours", "linear_in_gpus", "not_linear", "linear_by_analogy", "disk_essd_pl1",
        "traffic_out", "spot_floor_percent", "spot_notice", "spot_protection",
        "savings_plan_max_percent_off", "reserved_instance_eligible", "no_economical_mode", "exchange_rate",
    ]  # fmt: skip
    scope: str = ""
    region_id: str = ""
    value: Decimal | None = None
    unit: str = ""
    note: str = ""


class Availability(Row):
    """A type or family seen in the price list of a region at the source's date; no promise of stock.

    `region_id` is empty where a document says that a family is sold in some regions without naming them.
    """

    family_or_type: str
    region_id: str = ""


TEXT_KINDS = ("llm", "moe-llm", "vlm")  # models that write text: they keep a cache and have a rate of tokens


class Model(Row):
    """A model's architecture. Counts in 1e9 parameters; layer and head counts as in its config.json."""

    model_id: str
    display_name: str
    family: str = ""
    aliases: tuple[str, ...] = ()
    kind: Literal[
        "llm", "moe-llm", "vlm", "embedding", "reranker", "vision", "diffusion", "video", "asr", "tts"
    ]
    params_total_b: float | None = None
    params_active_b: float | None = None
    num_layers: int | None = None
    hidden_size: int | None = None
    intermediate_size: int | None = None
    num_attention_heads: int | None = None
    num_kv_heads: int | None = None
    head_dim: int | None = None
    vocab_size: int | None = None
    tie_word_embeddings: bool | None = None
    attention: Literal["", "mha", "gqa", "mqa", "mla", "hybrid"] = ""
    kv_lora_rank: int | None = None
    q_lora_rank: int | None = None
    qk_rope_head_dim: int | None = None
    qk_nope_head_dim: int | None = None
    v_head_dim: int | None = None
    sliding_window: int | None = None
    full_attention_layers: int | None = None
    sliding_layers: int | None = None
    linear_layers: int | None = None
    linear_state_note: str = ""
    num_experts: int | None = None
    experts_per_token: int | None = None
    num_shared_experts: int | None = None
    moe_intermediate_size: int | None = None
    dense_layers: int | None = None
    max_position_embeddings: int | None = None
    native_dtype: str = ""
    released: str = ""
    license: str = ""
    kv_bytes_per_token_bf16: float | None = None
    kv_window_bytes_per_seq_bf16: float | None = None
    linear_state_bytes_per_seq_fp32: float | None = None
    tower_params_b: float | None = None  # vision or audio encoder and projector
    image_patches: int | None = None  # of the largest image, with which engines measure themselves at start
    tower_width: int | None = None  # of the vision encoder
    audio_frames: int | None = None  # of the longest audio (30 s), before the strided convolution
    computed_params_b: float | None = None
    computed_active_b: float | None = None
    check: str = ""
    note: str = ""


class Pipeline(Row):
    """A diffusion pipeline: its parts in 1e9 parameters and the token grid of its denoiser.

    One token covers `pixel_stride` pixels each way and `frame_stride` frames (after the first one).
    `window_frames` is what the denoiser sees at once (0: the whole clip), `decode_frames` what the decoder
    holds at once.
    """

    name: str
    display_name: str
    aliases: tuple[str, ...] = ()
    task: Literal["image", "video", "audio"]
    backbone: Literal["dit", "unet"]
    denoiser_b: float = Field(gt=0)
    text_encoder_b: float = Field(ge=0)
    decoder_b: float = Field(ge=0)
    layers: int = Field(gt=0)
    hidden: int = Field(gt=0)
    pixel_stride: int = Field(gt=0)
    frame_stride: int = Field(gt=0)
    default_frames: int = Field(gt=0)
    window_frames: int = Field(default=0, ge=0)
    decode_frames: int = Field(default=1, gt=0)
    text_tokens: int = Field(ge=0)
    # Of one run by the pipeline's defaults; with classifier-free guidance each step takes two passes.
    steps: int | None = Field(default=None, gt=0)
    guidance_passes: int | None = Field(default=None, gt=0)
    token_params_b: float | None = Field(default=None, gt=0)  # that a token of the picture meets in one pass
    pass_tflop: float | None = Field(default=None, gt=0)  # of one U-Net pass at the usual resolution
    fps: float | None = Field(default=None, gt=0)
    speed_source: str = ""
    note: str = ""


class VisionBackbone(Row):
    """A vision network: parameters in 1e6, activation elements in 1e6 of one forward pass at `input_size`."""

    name: str
    display_name: str
    aliases: tuple[str, ...] = ()
    kind: Literal["cnn", "vit"]
    params_m: float = Field(gt=0)
    activations_m: float = Field(gt=0)
    input_size: int = Field(gt=0)
    gflop: float = Field(gt=0)  # of one forward pass at `input_size`: twice the multiply-adds
    gflop_source: str = Field(min_length=3)
    note: str = ""


class SpeechModel(Row):
    """What decides the speed of a speech model: the encoder's grid and the decoder's steps.

    A decoder takes `steps_per_token` steps for each of `tokens_per_s` tokens of a second of audio (empty: as
    the words come); a step reads `decoder_b` parameters and `cross_bytes_per_s` of each second heard.
    """

    model_id: str
    encoder_layers: int = Field(ge=0)
    encoder_hidden: int = Field(ge=0)
    positions_per_s: float = Field(ge=0)
    window_s: float = Field(ge=0)
    decoder_layers: int = Field(ge=0)
    decoder_b: float = Field(ge=0)
    cross_bytes_per_s: float = Field(ge=0)
    tokens_per_s: float | None = Field(default=None, gt=0)
    steps_per_token: float = Field(ge=0)
    note: str = ""


class Precision(Row):
    """A weight or KV-cache format. Bits are per weight of the tensors that the format covers."""

    name: str
    display_name: str
    aliases: tuple[str, ...] = ()
    category: Literal["float", "int", "gguf", "kv-cache"]
    block_bits: float | None = None  # bits per covered weight, scales included
    effective_bits: float | None = None  # whole-file average where published (GGUF)
    bits_formula: str = ""
    activation_bits: str = ""
    unquantized_tensors: str = ""
    min_compute_capability: float | None = None  # runs at all in some engine
    native_compute_capability: float | None = None  # runs on tensor cores of its own width
    compute_dtype: Literal["fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4", ""] = ""
    engines: str = ""
    capability_note: str = ""
    kv_cache_note: str = ""
    note: str = ""


class Claim(Row):
    """A claim that circulates in articles, with the verdict and the right value."""

    claim_id: str
    claim: str
    families: tuple[str, ...] = ()  # of which it speaks; without `stated` ones that there are not
    stated: tuple[str, ...] = ()  # what it says of them: an architecture, a GPU, a figure
    verdict: Literal["right", "wrong", "misleading", "unverifiable"]
    right_value: str


class Advice(Row):
    """What an expert adds to answers of a kind. `when` lists conditions that must all hold, each `key=a|b` or
    `key!=a|b`, over what was read; a `lead` row answers the question itself and stands first."""

    advice_id: str
    when: tuple[str, ...] = Field(min_length=1)
    text_en: str = Field(min_length=10)
    text_zh: str = Field(min_length=5)
    lead: bool = False


class Compatibility(Row):
    """One fact of what goes with what: CUDA, driver, PyTorch, GPU, engine, image."""

    kind: str
    key: str
    value: str
    note: str = ""


class GpuAlias(BaseModel):
    """Another way to write a GPU's name; `gpu_model` is empty where the alias names no certain card."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    alias: str
    gpu_model: str = ""
    taken_as: str = ""  # the card meant where a name leaves the size open; the answer says so
    note: str = ""


class ModelAlias(BaseModel):
    """Another way to write a model's name; `model_id` is empty where it is known to be unknown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    alias: str
    model_id: str = ""
    basis: str = ""
