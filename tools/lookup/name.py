"""Instance-type names read part by part, checked against the catalog, which wins where they differ."""

from __future__ import annotations

import re

from knowledge.catalog import Catalog
from knowledge.rows import Instance
from tools.contracts.base import Remark, SourceRef
from tools.contracts.lookup import NameReport

NAMING_DOC = SourceRef(
    title="Alibaba Cloud doc on instance type naming"
    " (www.alibabacloud.com/help/en/elastic-compute-service/latest/instance-type-families)",
    as_of="2026-02-27",
)
_NAME = re.compile(
    r"^(?:ecs\.)?(?P<prefix>ebm|scc)?(?P<line>[a-z]+?)(?P<generation>\d+)(?P<suffix>[a-z]*)"
    r"(?P<parts>(?:-[a-z0-9]+)*)(?:\.(?P<size>(?P<times>\d*)x?large))?$"
)
_GPU_LINES = ("gn", "vgn", "sgn", "cgn", "hfgn", "ga", "gi", "gp", "av")
_CPU_LINES = ("g", "c", "r", "u", "e", "t", "d", "i", "hfg", "hfc", "hfr", "re", "se", "f")
# Letters after the generation, where the naming document or the family pages say what they stand for.
_SUFFIXES = {
    "6v": "v100_16gb", "6e": "larger_memory_v100_32gb", "6i": "inference_t4", "7i": "inference_a10",
    "7e": "larger_memory_80gb", "7s": "a30", "6s": "intel_sg1", "7": "ampere_40gb", "8v": "hbm3_96gb",
    "8is": "inference_intel_cpu_l20", "8ia": "inference_amd_cpu_l20", "7ix": "erdma_bare_metal",
    "7ex": "erdma_bare_metal", "7vx": "erdma_bare_metal", "7r": "arm_host", "9g": "blackwell_48gb",
    "9ge": "blackwell_72gb_more_ram", "9gc": "blackwell_72gb",
}  # fmt: skip
_EDITIONS = {"vws": "workstation_licence_included", "tee": "confidential", "tdx": "confidential"}
_GENERATIONS = {5: "pascal", 6: "volta_or_turing", 7: "ampere", 8: "ada_or_hopper", 9: "blackwell"}


def decode_name(name: str, catalog: Catalog) -> NameReport:
    """What the parts of a name say, whether the type exists, and where name and catalog differ.

    `cNg1` is a ratio (N vCPU per GPU), never a total; the size gives 4 vCPU per x, with exceptions, so a
    known type is looked up. Any text is accepted; one that is no instance name says so in `remarks`.
    """
    key = name.strip().lower().replace("_", "-")
    full = key if key.startswith("ecs.") else f"ecs.{key}"
    known = next((row for row in catalog.instances if row.instance_type == full), None)
    match = _NAME.match(key)
    if match is None:
        return NameReport(
            given=name,
            instance_type=full,
            exists=known is not None,
            family=known.family if known else "",
            family_exists=known is not None,
            vcpu=known.vcpu if known else None,
            gpus=known.gpu_count if known else None,
            remarks=(Remark(code="unusual_name" if known else "not_an_instance_name"),),
            suggestions=() if known else tuple(catalog.near_instances(name)),
        )
    parts = [part for part in match["parts"].split("-") if part]
    ratio = _number(parts, r"c(\d+)g1")
    count = _number(parts, r"(\d+)x")
    vcpu = _vcpu(match["size"], match["times"])
    family = known.family if known else (catalog.family_of(key) or "")
    report = NameReport(
        given=name,
        instance_type=full,
        exists=known is not None,
        family=family or key.removeprefix("ecs.").split(".")[0],
        family_exists=bool(family),
        prefix="ebm" if match["prefix"] == "ebm" else "scc" if match["prefix"] == "scc" else "",
        line=match["line"],
        generation=int(match["generation"]),
        suffix=match["suffix"],
        vcpu_per_gpu=ratio,
        gpu_count_part=count,
        vgpu_memory_gib=_number(parts, r"m(\d+)s?"),
        edition=next((part for part in parts if part in _EDITIONS), ""),
        size=match["size"] or "",
        vcpu_by_name=vcpu,
        gpus_by_name=_gpus(ratio, count, vcpu, parts, match),
        vcpu=known.vcpu if known else None,
        gpus=known.gpu_count if known else None,
        suggestions=() if known or match["size"] is None else tuple(catalog.near_instances(name)),
        sources=(NAMING_DOC,),
    )
    return report.model_copy(update={"remarks": tuple(_remarks(report, known))})


def _number(parts: list[str], pattern: str) -> int | None:
    found = next((match for part in parts if (match := re.fullmatch(pattern, part))), None)
    return int(found[1]) if found else None


def _vcpu(size: str | None, times: str | None) -> int | None:
    """`large` 2 vCPU, `xlarge` 4, `Nxlarge` 4 N."""
    if not size:
        return None
    if size == "large":
        return 2
    return 4 * int(times or 1)


def _gpus(
    ratio: int | None, count: int | None, vcpu: int | None, parts: list[str], match: re.Match[str]
) -> float | None:
    if count is not None:
        return float(count)
    if ratio:
        return None if vcpu is None else vcpu / ratio
    whole = not any(re.fullmatch(r"m\d+s?", part) for part in parts)
    single = int(match["generation"]) >= 8 and not match["prefix"] and match["size"] and whole
    return 1.0 if single else None


def _remarks(report: NameReport, known: Instance | None) -> list[Remark]:
    found = []
    if report.line not in _GPU_LINES:
        code = "cpu_family" if report.line in _CPU_LINES else "unknown_line"
        found.append(Remark(code=code, params={"line": f"{report.line}{report.generation}{report.suffix}"}))
    elif not report.family_exists:
        found.append(Remark(code="no_such_family", params={"family": report.family}))
    if not report.given.strip().lower().startswith("ecs."):
        found.append(Remark(code="product_code_missing", params={"full_name": report.instance_type}))
    meaning = _SUFFIXES.get(f"{report.generation}{report.suffix}")
    if meaning and report.line in ("gn", "vgn", "sgn", "gi"):
        params = {"suffix": report.suffix, "meaning": meaning}
        found.append(Remark(code="suffix_meaning", params=params))
    if report.generation in _GENERATIONS and report.line in ("gn", "vgn", "sgn"):
        found.append(Remark(code="generation", params={"architecture": _GENERATIONS[report.generation]}))
    if report.edition:
        found.append(Remark(code="edition", params={"meaning": _EDITIONS[report.edition]}))
    if report.vcpu_per_gpu:
        found.append(Remark(code="ratio_not_total", params={"vcpu_per_gpu": report.vcpu_per_gpu}))
    if known is None:
        if report.size:
            found.append(Remark(code="no_such_type", params={"instance_type": report.instance_type}))
        return found
    if report.vcpu_by_name is not None and report.vcpu_by_name != known.vcpu:
        found.append(_differs("vcpu_differs_from_name", report.vcpu_by_name, known.vcpu))
    if report.gpus_by_name is not None and abs(report.gpus_by_name - known.gpu_count) > 0.01:
        found.append(_differs("gpus_differ_from_name", round(report.gpus_by_name, 2), known.gpu_count))
    if report.gpus_by_name is None and known.gpu_count > 1:
        found.append(Remark(code="gpu_count_not_in_name", params={"in_fact": known.gpu_count}))
    return found


def _differs(code: str, by_name: float, in_fact: float) -> Remark:
    return Remark(code=code, params={"by_name": by_name, "in_fact": in_fact})
