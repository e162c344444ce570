"""Plans for launch files: the recommendation, then Terraform, CLI and start command for its first option."""

from __future__ import annotations

from agent.planner.requests import mentioned, sizing_args
from agent.reading.types import Reading
from agent.steps import Call, Findings
from knowledge.catalog import Catalog
from tools.contracts.sizing import Recommendation

_TOPICS = frozenset({"launch", "terraform", "cli"})


def wants_kit(reading: Reading) -> bool:
    """Whether files are asked for work or a machine that is known."""
    request = reading.request
    known = request.model or request.params_b or mentioned(reading, "instance") or request.instance_wanted
    return bool(_TOPICS & set(reading.topics) and known and reading.intent not in ("troubleshoot", "claim"))


def kit(reading: Reading, done: Findings, catalog: Catalog) -> list[Call]:
    """A named type is launched as it is; otherwise the first option of the recommendation."""
    named = [mention.name for mention in mentioned(reading, "instance")]
    if named:
        task = {} if reading.request.model or reading.request.params_b else {"task": "development"}
        return [] if done.called("launch_commands") else [_launch(reading, named[0], **task)]
    if not done.called("recommend_instance"):
        return [Call("recommend_instance", sizing_args(reading.request))]
    found = done.first(Recommendation)
    if found is None or not found.options or done.called("launch_commands"):
        return []
    return [_launch(reading, found.options[0].instance_type)]


def _launch(reading: Reading, instance_type: str, **changes: str) -> Call:
    args = sizing_args(reading.request, budget=None, include_unpriced=None, instance_wanted=None, **changes)
    return Call("launch_commands", {**args, "instance_type": instance_type})
