"""Things of one kind side by side: instance types, families, GPUs, models or precisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Literal

from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError, InputError
from knowledge.rows import Instance, Row
from tools.contracts.base import Assumption, Scalar, SourceRef
from tools.contracts.lookup import Comparison, ComparisonRow, Kind
from tools.lookup.describe import describe_family, describe_gpu, describe_instance, describe_model
from tools.lookup.support import support_level

Best = Literal["max", "min", ""]
_Line = tuple[str, str, Best, list[Scalar]]  # field, unit, what is best, values
_MOST = 12


def compare(names: Sequence[str], catalog: Catalog, kind: Kind | None = None, region: str = "") -> Comparison:
    """Two to twelve things of one kind side by side; the kind is found from the names if not given.

    Raises `InputError` for too few names and for a name that is not of the kind.
    """
    if not 2 <= len(names) <= _MOST:
        raise InputError("names", list(names), f"two to {_MOST} names")
    found = kind or _kind_of(names, catalog)
    makers: dict[Kind, Callable[[], tuple[list[str], list[_Line], list[SourceRef], list[Assumption]]]] = {
        "instance": lambda: _instances(names, catalog, region),
        "family": lambda: _families(names, catalog, region),
        "gpu": lambda: _gpus(names, catalog, region),
        "model": lambda: _models(names, catalog),
        "precision": lambda: _precisions(names, catalog),
    }
    shown, lines, sources, assumptions = makers[found]()
    rows = tuple(
        ComparisonRow(field=field, unit=unit, values=tuple(values), best=_best(values, best))
        for field, unit, best, values in lines
    )
    return Comparison(
        kind=found,
        names=tuple(shown),
        rows=rows,
        assumptions=tuple(assumptions),
        sources=tuple(dict.fromkeys(sources)),
    )


def _kind_of(names: Sequence[str], catalog: Catalog) -> Kind:
    """The first kind that knows every name; the error of GPUs, the most compared kind, if none does."""
    tries: list[tuple[Kind, Callable[[str], object]]] = [
        ("instance", catalog.instance),
        ("family", catalog.in_family),
        ("gpu", catalog.gpu),
        ("precision", catalog.precision),
        ("model", catalog.model),
    ]
    for kind, find in tries:
        if all(_knows(find, name) for name in names):
            return kind
    unknown = next((name for name in names if not any(_knows(find, name) for _, find in tries)), None)
    if unknown is not None:
        catalog.gpu(unknown)  # raises with near names
    raise InputError("names", list(names), "names of one kind: types, families, GPUs, precisions or models")


def _knows(find: Callable[[str], object], name: str) -> bool:
    try:
        find(name)
    except AdvisorError:
        return False
    return True


def _best(values: Sequence[Scalar], best: Best) -> int | None:
    """Index of the only best number; none where values are missing in all or equal in two."""
    numbers = [(value, index) for index, value in enumerate(values) if isinstance(value, int | float)]
    if not best or len(numbers) < 2:
        return None
    ordered = sorted(numbers, reverse=best == "max")
    return None if ordered[0][0] == ordered[1][0] else ordered[0][1]


def _instances(
    names: Sequence[str], catalog: Catalog, region: str
) -> tuple[list[str], list[_Line], list[SourceRef], list[Assumption]]:
    reports = [describe_instance(name, catalog, region) for name in names]
    rows = [report.instance for report in reports]
    lines: list[_Line] = [
        ("gpu_model", "", "", [row.gpu_model for row in rows]),
        ("gpu_count", "", "max", [row.gpu_count for row in rows]),
        ("gpu_memory_gib", "GiB", "max", [row.gpu_memory_gib for row in rows]),
        ("total_gpu_memory_gib", "GiB", "max", [report.total_gpu_memory_gib for report in reports]),
        ("vcpu", "", "max", [row.vcpu for row in rows]),
        ("memory_gib", "GiB", "max", [row.memory_gib for row in rows]),
        ("interconnect", "", "", [row.interconnect for row in rows]),
        ("network_gbps", "Gbit/s", "max", [row.network_gbps for row in rows]),
        ("rdma_gbps", "Gbit/s", "max", [row.rdma_gbps for row in rows]),
        ("status", "", "", [row.status for row in rows]),
        ("hourly", "CNY/h", "min", [_money(report.cost.hourly) for report in reports]),
        ("region", "", "", [report.cost.region for report in reports]),
    ]
    sources = [source for report in reports for source in report.sources]
    return [row.instance_type for row in rows], lines, sources, list(reports[0].assumptions)


def _families(
    names: Sequence[str], catalog: Catalog, region: str
) -> tuple[list[str], list[_Line], list[SourceRef], list[Assumption]]:
    reports = [describe_family(name, catalog, region) for name in names]
    lines: list[_Line] = [
        ("gpu_model", "", "", [", ".join(report.gpu_models) for report in reports]),
        ("gpu_counts", "", "", [_span([row.gpu_count for row in report.instances]) for report in reports]),
        ("gpu_memory_gib", "GiB", "", [_span([row.gpu_memory_gib for row in r.instances]) for r in reports]),
        ("interconnect", "", "", [_common([row.interconnect for row in r.instances]) for r in reports]),
        ("vcpu", "", "", [_span([row.vcpu for row in report.instances]) for report in reports]),
        ("network_gbps", "Gbit/s", "", [_span([row.network_gbps for row in r.instances]) for r in reports]),
        ("cpu_arch", "", "", [report.facts.cpu_arch if report.facts else None for report in reports]),
        ("host_cpu", "", "", [report.facts.host_cpu or None if report.facts else None for report in reports]),
        ("purpose", "", "", [report.facts.purpose if report.facts else None for report in reports]),
        ("erdma", "", "", [report.facts.erdma if report.facts else None for report in reports]),
        ("rdma_gbps", "Gbit/s", "max", [_most([row.rdma_gbps for row in r.instances]) for r in reports]),
        ("access", "", "", [report.facts.access if report.facts else None for report in reports]),
        ("status", "", "", [_common(report.statuses) for report in reports]),
        ("hourly_per_gpu", "CNY/h", "min", [_per_gpu(catalog, name, region) for name in names]),
    ]
    sources = [source for report in reports for source in report.sources]
    return [report.family for report in reports], lines, sources, []


def _per_gpu(catalog: Catalog, family: str, region: str) -> Scalar:
    """The lowest list price of one GPU, by which single cards and machines of eight are compared."""
    place = catalog.region_asked(region).region_id
    prices = [
        price.price / row.whole_gpus
        for row in catalog.in_family(family)
        if row.whole_gpus and (price := catalog.price(row.instance_type, place)) is not None
    ]
    return _money(min(prices, default=None))


def _gpus(
    names: Sequence[str], catalog: Catalog, region: str
) -> tuple[list[str], list[_Line], list[SourceRef], list[Assumption]]:
    reports = [describe_gpu(name, catalog, region) for name in names]
    gpus = [report.gpu for report in reports]

    def column(field: str, unit: str, best: Best) -> _Line:
        return field, unit, best, [getattr(gpu, field) for gpu in gpus]

    lines: list[_Line] = [
        column("architecture", "", ""),
        column("compute_capability", "", ""),
        column("memory_gib", "GiB", "max"),
        ("usable_gib", "GiB", "max", [_rounded(report.usable_gib) for report in reports]),
        column("memory_type", "", ""),
        column("memory_bandwidth_gbs", "GB/s", "max"),
        column("fp64_tflops", "TFLOPS", "max"),
        column("fp32_tflops", "TFLOPS", "max"),
        column("fp16_tflops", "TFLOPS", "max"),
        column("bf16_tflops", "TFLOPS", "max"),
        column("int8_tops", "TOPS", "max"),
        column("fp8_tflops", "TFLOPS", "max"),
        column("fp4_tflops", "TFLOPS", "max"),
        column("nvlink_gbs", "GB/s", "max"),
        column("pcie_gen", "", ""),
        ("families", "", "", [_families_of(report.instances) for report in reports]),
        (
            "from_hourly",
            "CNY/h",
            "min",
            [_money(r.from_price.amount if r.from_price else None) for r in reports],
        ),
    ]
    sources = [source for gpu in gpus for source in _source(gpu)]
    return [gpu.gpu_model for gpu in gpus], lines, sources, [a for r in reports for a in r.assumptions]


def _models(
    names: Sequence[str], catalog: Catalog
) -> tuple[list[str], list[_Line], list[SourceRef], list[Assumption]]:
    reports = [describe_model(name, catalog) for name in names]
    models = [report.model for report in reports]
    fields = (
        "kind params_total_b params_active_b num_layers hidden_size attention num_kv_heads"
        " max_position_embeddings native_dtype license released"
    ).split()
    lines: list[_Line] = [(field, "", "", [getattr(model, field) for model in models]) for field in fields]
    for precision in ("bf16", "awq-int4"):
        values: list[Scalar] = [_rounded(report.weights_gib.get(precision)) for report in reports]
        lines.append((f"weights_gib_{precision}", "GiB", "min", values))
    lines.append(
        ("kv_kib_per_token", "KiB", "min", [_rounded(report.kv_kib_per_token) for report in reports])
    )
    sources = [source for model in models for source in _source(model)]
    return [model.model_id for model in models], lines, sources, []


def _precisions(
    names: Sequence[str], catalog: Catalog
) -> tuple[list[str], list[_Line], list[SourceRef], list[Assumption]]:
    rows = [catalog.precision(name) for name in names]
    sold = [gpu for gpu in catalog.gpus if gpu.sold_on_alibaba_ecs == "current" and gpu.compute_capability]
    lines: list[_Line] = [
        ("bits_per_weight", "bit", "min", [row.effective_bits or row.block_bits for row in rows]),
        ("activation_bits", "bit", "", [row.activation_bits or None for row in rows]),
        ("min_compute_capability", "", "", [row.min_compute_capability for row in rows]),
        ("native_compute_capability", "", "", [row.native_compute_capability for row in rows]),
        ("unquantized_tensors", "", "", [row.unquantized_tensors or None for row in rows]),
        ("engines", "", "", [row.engines or None for row in rows]),
    ]
    for gpu in sold:
        values: list[Scalar] = [support_level(gpu, row) for row in rows]
        lines.append((f"on {gpu.gpu_model}", "", "", values))
    return [row.name for row in rows], lines, [source for row in rows for source in _source(row)], []


def _source(row: Row) -> list[SourceRef]:
    return [SourceRef(title=row.source, as_of=row.as_of)]


def _money(amount: Decimal | None) -> float | None:
    return None if amount is None else round(float(amount), 4)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _most(values: Sequence[float | None]) -> float | None:
    return max((value for value in values if value), default=None)


def _common(values: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(values))


def _span(values: Sequence[float | None]) -> str | None:
    numbers = sorted({value for value in values if value is not None})
    if not numbers:
        return None
    return f"{numbers[0]:g}" if len(numbers) == 1 else f"{numbers[0]:g} to {numbers[-1]:g}"


def _families_of(instances: Sequence[Instance]) -> str | None:
    return ", ".join(dict.fromkeys(row.family for row in instances if row.status == "current")) or None
