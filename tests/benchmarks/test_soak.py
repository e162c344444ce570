"""The long tests tell what held and what did not, and one that breaks hides none of the others."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from benchmarks import soak

STAGES = (
    soak.Stage("good", "what holds", lambda share: soak.Outcome(True, f"{share:g} of it | all")),
    soak.Stage("broken", "what breaks", lambda share: 1 / 0),  # type: ignore[arg-type,return-value]
    soak.Stage("bad", "what does not hold", lambda share: soak.Outcome(False, "2 faults")),
)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setattr(soak, "STAGES", STAGES)
    return CliRunner()


def run(command: CliRunner, *words: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(soak.main)
    result = command.invoke(app, list(words))
    return result.exit_code, result.output


def test_every_stage_is_run_and_the_file_names_date_machine_and_figures(
    command: CliRunner, tmp_path: Path
) -> None:
    out = tmp_path / "soak.md"
    code, shown = run(command, "--out", str(out))
    assert code == 1
    assert [line.split("\t")[:2] for line in shown.splitlines()] == [
        ["good", "holds"],
        ["broken", "FAILS"],
        ["bad", "FAILS"],
    ]
    text = out.read_text(encoding="utf-8")
    assert f"{datetime.now(UTC):%Y-%m-%d}" in text
    assert "cores" in text
    assert "| good | what holds | yes | 1 of it \\| all |" in text
    assert "| broken | what breaks | **no** | ZeroDivisionError" in text


def test_a_part_or_a_trial_leaves_the_result_file_alone(
    command: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soak, "OUT", tmp_path / "soak.md")
    assert run(command, "--only", "good")[0] == 0
    assert run(command, "--share", "0.5")[0] == 1
    assert not (tmp_path / "soak.md").exists()
    assert run(command, "--only", "nothing")[0] == 2


def test_a_failed_test_run_is_a_stage_that_does_not_hold(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("def test_a():\n    assert False\n", encoding="utf-8")
    outcome = soak.run_tests(str(tmp_path / "test_x.py"))
    assert not outcome.holds
    assert "1 failed" in outcome.figures


def test_the_stages_name_tests_that_exist() -> None:
    assert all((soak.ROOT / path).exists() for path in soak.PROPERTIES)
    assert [stage.name for stage in soak.STAGES] == [
        "load",
        "fuzz",
        "small-model",
        "metamorphic",
        "properties",
    ]
