"""`launch_kit`: Terraform, CLI call and the serving or training files of an option's plan."""

from __future__ import annotations

import math

from jinja2 import Environment

from knowledge.catalog import Catalog
from knowledge.rows import Family
from tools.contracts.base import Assumption, Remark, SourceRef
from tools.contracts.launch import FileLanguage, LaunchFile, LaunchKit
from tools.contracts.memory import MemoryReport
from tools.contracts.sizing import Option, SizingRequest
from tools.contracts.training import TrainingMemoryReport
from tools.cost.purchase import PAYG, SPOT, purchase_of
from tools.launch.quoting import environment
from tools.launch.serving import serving_files
from tools.launch.training import EXAMPLES, training_assumptions, training_files
from tools.memory.engines import CHECKED_VLLM

_LARGEST_SYSTEM_DISK_GIB = 500
_SYSTEM_GIB = 60.0  # operating system, driver, container images
_SPACE_FACTOR = 1.2  # of the checkpoint: download cache, logs
_SOURCES = (
    SourceRef(
        title="aliyun/terraform-provider-alicloud: docs of alicloud_instance, alicloud_zones", as_of=""
    ),
    SourceRef(title="Alibaba Cloud ECS API RunInstances (2014-05-26)", as_of=""),
)


def launch_kit(option: Option, request: SizingRequest, catalog: Catalog) -> LaunchKit:
    """Files that buy the machines of an option and start its work under its plan.

    Nothing is bought by making a kit: ids of account, network, image and quantized checkpoints are inputs,
    and the CLI script makes a dry run unless it is confirmed. Raises `InputError` for a purchase word.
    """
    env = environment()
    machine = _machine(option, request, catalog)
    facts = catalog.facts_of_family(option.family)
    files = [
        _file(env, "main.tf", "hcl", "terraform", machine),
        _file(env, "run-instances.sh", "bash", "cli", machine),
    ]
    inputs = ["image_id", "vswitch_id", "security_group_id", "key_pair"]
    assumptions: tuple[Assumption, ...] = ()
    sources: tuple[SourceRef, ...] = _SOURCES
    if isinstance(option.memory, MemoryReport):
        more, needed = serving_files(option, request, catalog, env)
        if any(file.purpose == "compose" for file in more):
            assumptions = (
                Assumption(field="engine_version", value=CHECKED_VLLM, reason="rules_checked_with"),
            )
    elif isinstance(option.memory, TrainingMemoryReport):
        more, needed = training_files(option, request, catalog, env)
        if any(file.name == "train.yaml" for file in more):
            assumptions, sources = training_assumptions(option, request), (*_SOURCES, EXAMPLES)
    else:
        more, needed = [], []
    return LaunchKit(
        instance_type=option.instance_type,
        count=option.count,
        region=option.region,
        files=tuple(files + more),
        inputs=tuple(inputs + needed),
        assumptions=assumptions,
        warnings=_warnings(option, facts, bool(more)),
        sources=sources,
    )


def _machine(option: Option, request: SizingRequest, catalog: Catalog) -> dict[str, object]:
    """What both ways to buy need."""
    purchase = purchase_of(request.purchase) if request.purchase else PAYG
    store = _store_gib(option, request, catalog)
    system = min(_LARGEST_SYSTEM_DISK_GIB, _round(_SYSTEM_GIB + store))
    return {
        "name": f"gpu-{option.family}",
        "region": option.region,
        "instance_type": option.instance_type,
        "count": option.count,
        "gpus": option.gpu_count,
        "gpu_model": option.gpu_model,
        "prepaid": purchase.startswith("subscription"),
        "months": {"subscription_1y": 12, "subscription_3y": 36}.get(purchase, 1),
        "spot": purchase == SPOT,
        "system_disk_gib": system,
        "data_disk_gib": 0 if system < _LARGEST_SYSTEM_DISK_GIB else _round(store),
        "port": 8000,
    }


def _store_gib(option: Option, request: SizingRequest, catalog: Catalog) -> float:
    """Disk for the model's files: the released checkpoint, or the weights of the plan."""
    model = catalog.find_model(request.model) if request.model else None
    billions = (model.params_total_b if model else None) or request.params_b or 0.0
    released = billions * 1e9 * 2 / 2**30
    planned = option.memory.weights_gib if isinstance(option.memory, MemoryReport) else released
    return _SPACE_FACTOR * max(planned, released)


def _round(gib: float) -> int:
    return max(100, math.ceil(gib / 20) * 20)


def _file(
    env: Environment, name: str, language: FileLanguage, purpose: str, values: dict[str, object]
) -> LaunchFile:
    content = env.get_template(f"{name}.j2").render(values)
    return LaunchFile(name=name, language=language, purpose=purpose, content=content)


def _warnings(option: Option, facts: Family | None, has_work: bool) -> tuple[Remark, ...]:
    found = [Remark(code="stock_and_quota_not_checked", params={"instance_type": option.instance_type})]
    if facts is not None and facts.uefi_image:
        found.append(Remark(code="uefi_image_needed", params={"family": option.family}))
    if facts is not None and facts.access in ("contact-sales", "invitation", "ticket"):
        found.append(Remark(code=facts.access.replace("-", "_"), params={"family": option.family}))
    if facts is not None and facts.graphics_driver == "licence-included":
        found.append(Remark(code="grid_driver_image_needed", params={"family": option.family}))
    if not has_work:
        found.append(Remark(code="no_start_command", params={"engine": option.plan.engine}))
    return tuple(found)
