"""Look-ups over the catalog: describe, compare, decode names, find types. Nothing is computed but sums."""

from tools.lookup.compare import compare
from tools.lookup.describe import (
    describe_family,
    describe_gpu,
    describe_instance,
    describe_model,
    describe_precision,
)
from tools.lookup.find import find_instances
from tools.lookup.name import decode_name
from tools.lookup.support import support_level

__all__ = [
    "compare",
    "decode_name",
    "describe_family",
    "describe_gpu",
    "describe_instance",
    "describe_model",
    "describe_precision",
    "find_instances",
    "support_level",
]
