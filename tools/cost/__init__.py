"""Cost of machines in every purchase option: `estimate_cost(request, catalog) -> CostReport`."""

from tools.cost.estimate import estimate_cost

__all__ = ["estimate_cost"]
