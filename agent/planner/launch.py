"""Plans for launch files: the recommendation, then Terraform, CLI and start command for its first option."""

from __future__ import annotations

import re

from agent.planner.requests import mentioned, sizing_args
from agent.reading.types import Reading
from agent.steps import Call, Case
from tools.contracts.sizing import Recommendation

_TOPICS = frozenset({"launch", "terraform"})
_COMMAND_LINE = re.compile(r"(?<![a-z])cli(?![a-z])|runinstances|命令行", re.IGNORECASE)
_OTHER_INTENTS = frozenset({"troubleshoot", "claim", "region", "buying"})


def wants_kit(reading: Reading) -> bool:
    """Whether files are asked for work or a machine that is known."""
    request = reading.request
    known = request.model or request.params_b or mentioned(reading, "instance") or request.instance_wanted
    asked = _TOPICS & set(reading.topics) or _COMMAND_LINE.search(reading.question)
    return bool(asked and known and reading.intent not in _OTHER_INTENTS)


def kit(case: Case) -> list[Call]:
    """A named type is launched as it is; otherwise the first option of the recommendation."""
    request = case.reading.request
    named = [mention.name for mention in mentioned(case.reading, "instance")]
    if case.done.called("launch_commands"):
        return []
    if named:
        changes = {} if request.model or request.params_b else {"task": "development"}
        return [_launch(case, named[0], **changes)]
    if not case.done.called("recommend_instance"):
        return [Call("recommend_instance", sizing_args(request))]
    found = case.done.first(Recommendation)
    return [_launch(case, found.options[0].instance_type)] if found is not None and found.options else []


def _launch(case: Case, instance_type: str, **changes: str) -> Call:
    request = case.reading.request
    args = sizing_args(request, budget=None, include_unpriced=None, instance_wanted=None, **changes)
    return Call("launch_commands", {**args, "instance_type": instance_type})
