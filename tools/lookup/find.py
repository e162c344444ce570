"""Instance types that hold given limits: GPU, memory, vCPU, links, price."""

from __future__ import annotations

from decimal import Decimal

from knowledge.catalog import Catalog
from knowledge.rows import Instance, Price
from tools.contracts.base import Assumption
from tools.contracts.lookup import FindReport, FindRequest, FoundInstance
from tools.cost.prices import shown
from tools.lookup.describe import sources_of

_CONFIDENTIAL = ("-tee", "-tdx")  # editions for confidential computing, listed after the plain ones


def find_instances(request: FindRequest, catalog: Catalog) -> FindReport:
    """All types that hold every limit; priced ones first where the order is the price.

    A price limit leaves out types without a list price in the region. Raises `InputError` for unknown names.
    """
    region = catalog.region_asked(request.region).region_id
    gpu = catalog.gpu(request.gpu).gpu_model if request.gpu else ""
    rows = [row for row in catalog.instances if _holds(row, request, gpu)]
    priced = [(row, catalog.price(row.instance_type, region)) for row in rows]
    if request.max_hourly_cny is not None:
        limit = Decimal(str(request.max_hourly_cny))
        priced = [(row, price) for row, price in priced if price is not None and price.price <= limit]
    priced.sort(key=lambda pair: _order(pair[0], pair[1], request.order))
    found = tuple(
        FoundInstance(instance=row, price=None if price is None else shown(price))
        for row, price in priced[: request.limit]
    )
    assumptions = []
    if not request.region:
        assumptions.append(Assumption(field="region", value=region, reason="default_region"))
    return FindReport(
        region=region,
        found=found,
        total=len(priced),
        assumptions=tuple(assumptions),
        sources=sources_of(*(row for row, _ in priced[: request.limit])),
    )


def _holds(row: Instance, request: FindRequest, gpu: str) -> bool:
    memory = row.gpu_memory_gib or 0.0
    checks = (
        (request.status != "any", row.status == request.status),
        (bool(gpu), row.gpu_model == gpu),
        (request.gpu_count is not None, row.gpu_count == request.gpu_count),
        (request.min_gpu_memory_gib is not None, memory >= (request.min_gpu_memory_gib or 0)),
        (
            request.min_total_gpu_memory_gib is not None,
            memory * max(1, row.whole_gpus) >= (request.min_total_gpu_memory_gib or 0),
        ),
        (request.min_vcpu is not None, row.vcpu >= (request.min_vcpu or 0)),
        (request.min_memory_gib is not None, row.memory_gib >= (request.min_memory_gib or 0)),
        (request.min_network_gbps is not None, (row.network_gbps or 0) >= (request.min_network_gbps or 0)),
        (request.nvlink is not None, (row.interconnect == "nvlink") == request.nvlink),
        (request.rdma is not None, bool(row.rdma_gbps) == request.rdma),
        (request.bare_metal is not None, row.bare_metal == request.bare_metal),
        (request.vgpu is not None, (row.category == "vgpu") == request.vgpu),
    )
    return all(holds for asked, holds in checks if asked)


def _order(
    row: Instance, price: Price | None, order: str
) -> tuple[bool, Decimal | float, Decimal | float, Decimal | float, str]:
    cost = price.price if price is not None else Decimal(0)
    special = 1.0 if row.family.endswith(_CONFIDENTIAL) else 0.0
    if order == "memory":
        return False, -row.memory_gib, special, cost, row.instance_type
    if order == "vcpu":
        return False, -row.vcpu, special, cost, row.instance_type
    return price is None, cost, (row.gpu_memory_gib or 0.0) * row.gpu_count, special, row.instance_type
