"""What a conversation says: the `Reading` that the planner and the writers work from."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from knowledge.rows import Model
from tools.contracts.sizing import SizingRequest

Language = Literal["en", "zh"]
Intent = Literal[
    "size",  # which instance for a workload, budgets and follow-ups included
    "memory",  # how much memory, does it fit on this card
    "speed",  # tokens per second, latency, how many users, training time
    "cost",  # what does this type / job cost
    "buying",  # spot, subscription, savings plan, reserved instance, stopping, refunds
    "compare",  # two or more GPUs, families or types side by side
    "lookup",  # facts of one instance type, family, GPU, model or precision
    "naming",  # what the parts of a name mean, does this type exist
    "region",  # where sold, cheapest region, stock
    "interconnect",  # NVLink, PCIe, RDMA, multi-node
    "troubleshoot",  # an error or symptom
    "howto",  # drivers, environment, storage, monitoring, tuning, deployment, concepts
    "claim",  # a circulating claim to confirm or correct
    "vague",  # wants a GPU, says too little
    "greeting",
    "reset",
    "out_of_scope",
    "injection",
    "empty",  # nothing readable: blank, emoji only
]


# What is worth asking because the answer would flip; "" where a stated assumption does. Asked once.
Clarify = Literal["", "task_and_model", "task", "model_size", "symptom", "workload"]


class Mention(BaseModel):
    """A name found in the text: how it was written and what it is."""

    model_config = ConfigDict(frozen=True)

    kind: Literal[
        "model", "gpu", "instance", "phantom_instance", "family", "phantom_family", "region", "precision",
        "unsized_model", "unknown_model", "unknown_gpu",
    ]  # fmt: skip
    text: str
    name: str  # canonical; for phantom_*, unknown_* and unsized_* (a model family without a size) the text
    negated: bool = False
    near: tuple[str, ...] = ()
    count: int | None = None  # of a GPU, over all machines


class Slot(BaseModel):
    """One slot of the request: its value, how sure the reading is (0..1), and the turn that said it."""

    model_config = ConfigDict(frozen=True)

    value: str | int | float | bool | tuple[str, ...]
    confidence: float = Field(ge=0, le=1)
    turn: int
    text: str = ""  # the words it was read from
    by_hand: bool = False  # set by the user beside the words; the words of a later turn may change it


class OwnModel(BaseModel):
    """A model of the user's own, read from a pasted config.json or an uploaded file. `unknown` names what the
    reader could not place: the figures then bound the truth from above."""

    model_config = ConfigDict(frozen=True)

    model: Model
    unknown: tuple[str, ...] = ()
    weight_bytes: int | None = None  # of all tensors, where a file's header states it


class Unreadable(BaseModel):
    """Why a pasted config.json cannot be used: the key, its value, what is allowed."""

    model_config = ConfigDict(frozen=True)

    field: str
    given: str | int | float | bool | None
    allowed: str


class Reading(BaseModel):
    """The whole conversation as read after its last user turn."""

    model_config = ConfigDict(frozen=True)

    language: Language
    intent: Intent
    intents: tuple[Intent, ...] = ()  # further intents of the same question, main one excluded
    question: str  # the last user turn, trimmed and bounded
    request: SizingRequest
    slots: dict[str, Slot] = {}  # by field of SizingRequest; only what the user said
    mentions: tuple[Mention, ...] = ()
    topics: tuple[str, ...] = ()  # stable tags: spot, subscription, nvlink, ecc, bf16, fp8, driver, storage …
    claims: tuple[str, ...] = ()  # claim ids of `knowledge/data/claims.csv` and built-in premise codes
    pasted: Literal["", "log", "config", "nvidia_smi", "code"] = ""
    pasted_text: str = ""
    own_models: tuple[OwnModel, ...] = ()  # of the whole conversation, the latest last
    unreadable: Unreadable | None = None  # of the last turn
    follow_up: bool = False
    changed: tuple[str, ...] = ()  # slots that the last turn changed
    hours: float | None = None  # of a job or a month, as said
    count: int | None = None  # machines of a named type
    token_price: bool = False  # asks per million tokens
    search_query: str = ""  # text for the guide search; "" = no guide needed
    clarify: Clarify = ""
    nodes: int | None = None  # machines that work as one: "2 nodes", 两机
    vram_gb: float | None = None  # a card named by its memory only: "a 24GB card"
    latency_ms: float | None = None  # end to end, where neither TTFT nor TPOT is meant
    items_per_day: float | None = None  # batch volume of `item`s
    item: Literal["", "image", "clip", "page", "audio_hour", "document"] = ""
    items_per_second: float | None = None  # images, clips or pages that come in
    items_total: float | None = None  # `item`s of one job
    window_hours: float | None = None  # of the day, for batch work
    data_gb: float | None = None  # data to store or to move, in 1e9 bytes
    link_mbps: float | None = None  # of the line it goes over, in 1e6 bits/s
    network_gbps: float | None = None  # of the machine, at least
    streams: int | None = None  # cameras or live streams
    fps: float | None = None  # frames per second of each stream
    unusable: tuple[str, ...] = ()  # words of the last turn whose number cannot be meant: "-5 users"
