"""What all requests and reports share: strictness, assumptions, remarks, sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from knowledge.errors import InputError
from knowledge.names import near

Verdict = Literal["fits", "tight", "does_not_fit"]
Scalar = str | int | float | bool | None


class Request(BaseModel):
    """Base of every request: frozen; an unknown field is an error, an unset one takes a stated default."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        str_strip_whitespace=True,
        str_max_length=1_000,  # names and what people write in a field; a longer text sets its own
        allow_inf_nan=False,
    )


class Report(BaseModel):
    """Base of every report and of the parts of one."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Assumption(Report):
    """A value that the request did not state. `reason` is a stable code; `agent/writing` words it."""

    field: str
    value: Scalar
    reason: str


class Remark(Report):
    """A warning, correction or reason as a stable code with its figures; `agent/writing` words it."""

    code: str
    params: dict[str, Scalar] = {}


class SourceRef(Report):
    """Where a figure comes from; an empty `as_of` is shown as "undated"."""

    title: str
    as_of: str = ""


RequestT = TypeVar("RequestT", bound=Request)


def parse_request(request_type: type[RequestT], values: Mapping[str, object]) -> RequestT:
    """A request from loose values; `None` and "" count as unset. Raises `InputError` naming the field."""
    given = {key: value for key, value in values.items() if value is not None and value != ""}
    unknown = [key for key in given if key not in request_type.model_fields]
    if unknown:
        raise InputError(
            unknown[0], given[unknown[0]], "no such field", near(unknown[0], list(request_type.model_fields))
        )
    try:
        return request_type.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "request"
        raise InputError(field, first.get("input"), first["msg"]) from None
