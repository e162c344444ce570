"""What the commands of the overlay report: a refresh, an import."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Failure(BaseModel):
    """A question without an answer, and why; what was known of it before stays known."""

    model_config = ConfigDict(frozen=True)

    step: str
    why: str


class SyncReport(BaseModel):
    """What a refresh did, in steps: one step is one question to the API."""

    model_config = ConfigDict(frozen=True)

    steps: int
    answered: int = 0
    not_sold: int = 0  # an answer as well: not sold there in that way
    still_fresh: int = 0  # answered by an earlier run
    failures: tuple[Failure, ...] = ()
    not_asked: int = 0  # after an action, a region or the service had refused
    rows: int = 0
    currencies: tuple[str, ...] = ()
    stopped: str = ""  # why the run ended early; the next one goes on from there

    @property
    def complete(self) -> bool:
        return not self.failures and not self.not_asked


class ImportReport(BaseModel):
    """What became of a price file."""

    model_config = ConfigDict(frozen=True)

    imported: int
    comparable: int  # of these: may enter a ranking
    older: int  # left out: a newer price was imported before
    left_out: int  # left out: other types, regions, systems
    currencies: tuple[str, ...] = ()
