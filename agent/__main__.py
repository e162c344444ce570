"""The door of the agent: one answer in the terminal, a prompt loop, or JSON lines with `--batch`."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer

from agent.events import Answer, Failed
from agent.output import answer_values, failure_values
from agent.run import Advisor, open_advisor
from settings import Settings

app = typer.Typer(add_completion=False, help=__doc__)
LONGEST_LINE = 2_000_000  # characters of one batch line


@app.command()
def main(
    question: Annotated[
        str,
        typer.Argument(
            help="A question in English or Chinese; none opens a prompt; `probe` tries the model."
        ),
    ] = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole answer as one JSON object.")
    ] = False,
    batch: Annotated[
        bool,
        typer.Option(help='Read JSON lines {"id", "turns"} from stdin; write {"id", "answers"} lines.'),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log to stderr.")] = False,
) -> None:
    """Ask about GPU instances on Alibaba Cloud: sizing, memory, speed, cost, names, faults."""
    logging.basicConfig(level=logging.INFO if verbose else logging.CRITICAL, stream=sys.stderr)
    if question == "probe":
        raise typer.Exit(_probe(Settings()))
    advisor = open_advisor(Settings())
    if batch:
        for line in answer_lines(sys.stdin, advisor):
            print(line, flush=True)
    elif question:
        raise typer.Exit(_print(advisor.answer([question]), as_json))
    else:
        _loop(advisor, as_json)


def _probe(settings: Settings) -> int:
    """Prints what the configured model service can do; 1 where it does not answer."""
    if not settings.has_model:
        print("No language model is configured: set OPENAI_MODEL and OPENAI_API_KEY or OPENAI_BASE_URL.")
        return 1
    from agent.probe import probe, probe_lines

    found = probe(settings)
    print("\n".join(probe_lines(found)))
    return 0 if found.can("chat") else 1


def _loop(advisor: Advisor, as_json: bool) -> None:
    """Questions until an empty line or the end of input; follow-ups know what was said before."""
    turns: list[str] = []
    while True:
        try:
            question = input("> ").strip()
        except (EOFError, KeyboardInterrupt):
            return
        if not question:
            return
        turns.append(question)
        _print(advisor.answer(turns), as_json)


def _print(result: Answer | Failed, as_json: bool) -> int:
    if isinstance(result, Failed):
        print(json.dumps(failure_values(result), ensure_ascii=False) if as_json else result.text)
        return 1
    print(json.dumps(answer_values(result), ensure_ascii=False) if as_json else result.text)
    for notice in result.notices:
        print(notice.text, file=sys.stderr)
    return 0


def answer_lines(lines: Iterable[str], advisor: Advisor) -> Iterator[str]:
    """One JSON line for each line that is not blank; a bad line gives an `error` object, the rest goes on."""
    for line in lines:
        if line.strip():
            yield json.dumps(_answer_line(line, advisor), ensure_ascii=False)


def _answer_line(line: str, advisor: Advisor) -> dict[str, Any]:
    """The answers of one dialogue, one per user turn, each knowing only what was said up to it."""
    key: object = None
    try:
        if len(line) > LONGEST_LINE:
            raise ValueError(f"a line has at most {LONGEST_LINE} characters")
        values = json.loads(line)
        if not isinstance(values, dict):
            raise ValueError('a line is an object {"id", "turns"}')
        key = values.get("id")
        turns = values.get("turns")
        if not isinstance(turns, list) or not turns or not all(isinstance(turn, str) for turn in turns):
            raise ValueError('"turns" is a list of user messages, at least one')
    except (ValueError, RecursionError) as error:
        fault = {
            "kind": "input",
            "field": "line",
            "given": line[:200],
            "allowed": str(error)[:300],
            "suggestions": [],
        }
        return {"id": key, "error": fault}
    results = [advisor.answer(turns[: count + 1]) for count in range(len(turns))]
    return {
        "id": key,
        "answers": [
            answer_values(item) if isinstance(item, Answer) else failure_values(item) for item in results
        ],
    }


if __name__ == "__main__":
    app()
