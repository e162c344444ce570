"""Contracts of what agents alone call: look-ups of any kind, claims, launch files; the fault of a call."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from knowledge.rows import Claim
from tools.contracts.base import Report, Request
from tools.contracts.lookup import Kind
from tools.contracts.sizing import SizingRequest


class Fault(Report):
    """Why a tool has no report: an input it cannot use, or a fact that is not known."""

    kind: Literal["input", "not_known"]
    field: str
    given: str | int | float | bool | None
    allowed: str
    suggestions: tuple[str, ...] = ()


class LookUpRequest(Request):
    """A name, and what kind of thing it is where the caller knows."""

    name: str = Field(min_length=1)
    kind: Kind | None = None
    region: str = ""


class NamesRequest(Request):
    """Two or more names of one kind."""

    names: tuple[str, ...] = Field(min_length=1)
    kind: Kind | None = None
    region: str = ""


class TypeNameRequest(Request):
    """An instance-type name as written."""

    name: str = Field(min_length=1, max_length=200)


class LaunchRequest(SizingRequest):
    """The workload as for `recommend_instance`, and the type to launch (empty: the first option)."""

    instance_type: str = ""


class ClaimRequest(Request):
    """Claims to check, by id."""

    claim_ids: tuple[str, ...] = Field(min_length=1)


class ClaimReport(Report):
    """Circulating claims with their verdicts and the right values."""

    claims: tuple[Claim, ...]
