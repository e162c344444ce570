"""The long tests, one after the other, each timed; their figures go to `docs/soak.md` with date and machine.

`python -m benchmarks.soak`; `--only load --only fuzz` runs some, `--share 0.02` tries all of them shortly.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from socket import create_server
from typing import Annotated

import httpx
import typer

from benchmarks.fuzz import run_fuzz
from benchmarks.load import run_load

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "soak.md"
USERS, LOAD_S = 50, 120
REQUESTS = 20_000
QUESTIONS = 40
PAIRS = 2_000
CASES = 10_000
PROPERTIES = ("tests/tools/throughput/test_physics.py", "tests/tools/memory/test_properties.py")
MOST_P95_S, MOST_GROWTH = 3.0, 1.10
_STARTS_WITHIN_S = 300
_TEST_TIMEOUT_S = 3600
_SUMMARY = re.compile(r"^(?:=+ )?(.*\b(?:passed|failed|error)\b.*?)(?: =+)?$", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """How a stage ended: whether it held, and its figures in words."""

    holds: bool
    figures: str


@dataclass(frozen=True)
class Stage:
    """A stage by name with what it does at a share of its full size."""

    name: str
    what: str
    run: Callable[[float], Outcome]


@contextmanager
def service() -> Iterator[tuple[str, int]]:
    """The application as `make run` starts it, in a process and a state folder of its own: address, pid."""
    with create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        environment = _environment(folder, port)
        subprocess.run([sys.executable, "-m", "retrieval", "build"], check=True, cwd=ROOT, env=environment)
        with (Path(folder) / "app.log").open("wb") as log:
            app = subprocess.Popen(
                [sys.executable, "app.py"], stdout=log, stderr=log, cwd=ROOT, env=environment
            )
            try:
                _wait(f"http://127.0.0.1:{port}/readyz", app)
                yield f"http://127.0.0.1:{port}", app.pid
            finally:
                app.terminate()
                try:
                    app.wait(timeout=60)
                except subprocess.TimeoutExpired:
                    app.kill()


def _environment(folder: str, port: int) -> dict[str, str]:
    """This environment without a language model, with a state and a port of the service's own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("OPENAI_")}
    return {
        **kept,
        "STATE_DIR": folder,
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "GRADIO_ANALYTICS_ENABLED": "False",
        "ALIBABA_CLOUD_ECS_METADATA_DISABLED": "true",
    }


def _wait(address: str, app: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + _STARTS_WITHIN_S
    while time.monotonic() < ends and app.poll() is None:
        try:
            if httpx.get(address, timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.5)
    raise RuntimeError("the service did not start")


def load(share: float) -> Outcome:
    """Users who think between questions, then a rush: no error, p95 and memory within their limits."""
    with service() as (base, pid):
        found = run_load(base, USERS, max(10.0, LOAD_S * share), pid=pid)
    growth = found.rss_end_mib / found.rss_start_mib if found.rss_start_mib and found.rss_end_mib else 1.0
    holds = set(found.statuses) == {"200"} and found.p95_s < MOST_P95_S and growth < MOST_GROWTH
    return Outcome(
        holds,
        f"{found.answers} answers, statuses {found.statuses}; median {found.p50_s:.2f} s, "
        f"95 % {found.p95_s:.2f} s, worst {found.worst_s:.2f} s; memory {found.rss_start_mib or 0:.0f} to "
        f"{found.rss_end_mib or 0:.0f} MiB; "
        f"{found.cpu_s_per_answer or 0:.3f} s of processor an answer; saturated "
        f"{found.saturated_answers_per_s:.1f} answers/s, {found.shed} shed within {found.shed_worst_s:.1f} s",
    )


def fuzz(share: float) -> Outcome:
    """Hostile requests: no 5xx but 503, no answer later than 5 s, no trace."""
    with service() as (base, _):
        found = run_fuzz(base, max(50, int(REQUESTS * share)))
    faults = "".join(f"; {fault[:200]}" for fault in found.faults[:3])
    told = (
        f"{found.tried} requests, {dict(sorted(found.statuses.items()))}, slowest {found.slowest_s:.2f} s, "
    )
    told += f"{len(found.late)} over 5 s and asked again alone"
    return Outcome(not found.faults, f"{told}, {len(found.faults)} faults{faults}")


def run_tests(*words: str, **environment: str) -> Outcome:
    """Tests in a process of their own; the figures are pytest's summary and the lines that they print."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-o",
        "addopts=--import-mode=importlib",
        "-p",
        "no:cacheprovider",
    ]
    try:
        done = subprocess.run(
            [*command, *words],
            cwd=ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=_TEST_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(False, f"not finished after {_TEST_TIMEOUT_S} s")
    said = [line.strip() for line in done.stdout.splitlines() if " answers, " in line]
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    summary = (_SUMMARY.findall(done.stdout) or [f"exit code {done.returncode}"])[-1]
    return Outcome(done.returncode == 0, "; ".join([*said, summary, *failed[:3]]))


STAGES = (
    Stage("load", f"{USERS} users, 10 s between answer and question, {LOAD_S} s; then a rush of 64", load),
    Stage("fuzz", f"{REQUESTS:,} hostile requests", fuzz),
    Stage(
        "small-model",
        f"SmolLM2-135M in front, {QUESTIONS} questions with tools and {QUESTIONS // 4} as reader: nothing "
        "invented is shown, no violation of the oracle",
        lambda share: run_tests(
            "tests/agent/test_small_model.py", SMALL_MODEL_QUESTIONS=str(max(2, int(QUESTIONS * share)))
        ),
    ),
    Stage(
        "metamorphic",
        f"{PAIRS:,} wishes in other words get the same instance",
        lambda share: run_tests(
            "tests/agent/test_metamorphic.py", METAMORPHIC_QUESTIONS=str(max(20, int(PAIRS * share)))
        ),
    ),
    Stage(
        "properties",
        f"{CASES:,} cases of the speed ceiling and of the growth of memory; others at usual size",
        lambda share: run_tests(*(("--hypothesis-profile=soak",) if share >= 1 else ()), *PROPERTIES),
    ),
)


@dataclass(frozen=True)
class Start:
    """What a run began with. The tree may move on while it lasts, so the commit is taken here."""

    at: datetime
    busy: float  # load average
    commit: str


def start() -> Start:
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    return Start(datetime.now(UTC), os.getloadavg()[0], commit or "unknown")


def page(rows: list[tuple[Stage, Outcome, float]], begun: Start, share: float = 1.0) -> str:
    """The result file; a run at a share of the full size says so."""
    lines = [
        "# Long tests",
        "",
        f"`make soak` on {begun.at:%Y-%m-%d %H:%M} UTC, commit {begun.commit}, {os.cpu_count()} cores "
        f"({platform.machine()}, {_processor()}), Python {platform.python_version()}, load before it "
        f"{begun.busy:.1f}."
        + ("" if share >= 1 else f" **A trial at {share:.0%} of the sizes named below.**"),
        "",
        "| stage | what | holds | figures | minutes |",
        "| --- | --- | --- | --- | ---: |",
    ]
    for stage, outcome, seconds in rows:
        cells = (
            stage.name,
            stage.what,
            "yes" if outcome.holds else "**no**",
            outcome.figures.replace("|", "\\|"),
        )
        lines.append(f"| {' | '.join(cells)} | {seconds / 60:.1f} |")
    return "\n".join([*lines, ""])


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8", errors="replace") if info.exists() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1] if found else platform.processor() or "unknown processor"


def main(
    only: Annotated[list[str] | None, typer.Option(help="Only this stage; may be repeated.")] = None,
    share: Annotated[float, typer.Option(min=0.001, max=1, help="Share of the full size.")] = 1.0,
    out: Annotated[Path | None, typer.Option(help="Result file; only a full run has one by itself.")] = None,
) -> None:
    """Runs the stages, prints each as it ends; exit code 1 if one does not hold."""
    wanted = [stage for stage in STAGES if not only or stage.name in only]
    if not wanted:
        raise typer.BadParameter(", ".join(stage.name for stage in STAGES), param_hint="--only")
    begun = start()
    target = out or (OUT if share >= 1 and not only else None)
    rows: list[tuple[Stage, Outcome, float]] = []
    for stage in wanted:
        clock = time.monotonic()
        try:
            outcome = stage.run(share)
        except Exception as error:  # noqa: BLE001  # the other stages still tell something
            outcome = Outcome(False, f"{type(error).__name__}: {error}"[:300])
        rows.append((stage, outcome, time.monotonic() - clock))
        print(
            f"{stage.name}\t{'holds' if outcome.holds else 'FAILS'}\t{rows[-1][2]:.0f} s\t{outcome.figures}",
            flush=True,
        )
        if target:
            target.write_text(page(rows, begun, share), encoding="utf-8")  # survives an interruption
    raise typer.Exit(0 if all(outcome.holds for _, outcome, _ in rows) else 1)


if __name__ == "__main__":
    typer.run(main)
