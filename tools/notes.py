"""What a calculation assumes, warns of and corrects, gathered on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from tools.contracts.base import Assumption, Remark, Scalar

_Item = TypeVar("_Item", Assumption, Remark)


@dataclass(slots=True)
class Notes:
    """Assumptions, warnings and corrections; each is kept once."""

    assumptions: list[Assumption] = field(default_factory=list)
    warnings: list[Remark] = field(default_factory=list)
    corrections: list[Remark] = field(default_factory=list)

    def assume(self, name: str, value: Scalar, reason: str) -> None:
        self._add(self.assumptions, Assumption(field=name, value=value, reason=reason))

    def warn(self, code: str, **params: Scalar) -> None:
        self._add(self.warnings, Remark(code=code, params=params))

    def correct(self, code: str, **params: Scalar) -> None:
        self._add(self.corrections, Remark(code=code, params=params))

    @staticmethod
    def _add(items: list[_Item], item: _Item) -> None:
        if item not in items:
            items.append(item)
