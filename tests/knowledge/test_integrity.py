"""Every shipped row and guide: a wrong fact here is a wrong answer everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.integrity import counts, faults
from knowledge.load import DATA_DIR, load_rows
from knowledge.rows import Gpu, Instance, Price


def test_no_row_or_guide_has_a_fault(catalog: Catalog) -> None:
    assert faults(catalog) == []


def test_no_table_lost_rows(catalog: Catalog) -> None:
    rows = counts(catalog)
    assert rows["instances"] == 243
    assert rows["gpus"] == 80
    assert rows["prices"] == 1106
    assert rows["availability"] == 709
    assert rows["precisions"] >= 55
    assert rows["models"] >= 537
    assert rows["claims"] >= 94


def test_no_private_copy_is_named_as_a_source() -> None:
    for path in DATA_DIR.glob("*.csv"):
        assert "file id" not in path.read_text(encoding="utf-8"), path.name


def _broken(tmp_path: Path, name: str, old: str, new: str) -> Path:
    text = (DATA_DIR / name).read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / name
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def test_a_wrong_cell_names_file_line_and_field(tmp_path: Path) -> None:
    path = _broken(
        tmp_path,
        "instances.csv",
        "ecs.gn7e-c16g1.4xlarge,gn7e,ecs-gpu,16",
        "ecs.gn7e-c16g1.4xlarge,gn7e,ecs-gpu,many",
    )
    with pytest.raises(InputError, match=r"instances\.csv, line \d+, vcpu"):
        load_rows(Instance, path)


def test_a_row_with_too_few_cells_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gpus.csv"
    header = (DATA_DIR / "gpus.csv").read_text(encoding="utf-8").splitlines()[0]
    path.write_text(f"{header}\nT4,NVIDIA T4\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"gpus\.csv, line 2"):
        load_rows(Gpu, path)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = _broken(tmp_path, "prices.csv", "confidence", "trust")
    with pytest.raises(InputError, match="confidence"):
        load_rows(Price, path)


def test_faults_are_found_in_wrong_data(tmp_path: Path, catalog: Catalog) -> None:
    for name in DATA_DIR.glob("*.csv"):
        (tmp_path / name.name).write_text(name.read_text(encoding="utf-8"), encoding="utf-8")
    _broken(tmp_path, "instances.csv", "A10,1,24", "A11,1,24")
    _broken(
        tmp_path, "prices.csv", "ecs.ebmgn7e.32xlarge,ap-northeast-1", "ecs.ebmgn7e.32xlarge,ap-northeast-9"
    )
    _broken(tmp_path, "gpus.csv", "2039", "2039000")
    found = "\n".join(faults(Catalog(tmp_path)))
    assert "unknown GPU A11" in found
    assert "unknown region ap-northeast-9" in found
    assert "memory_bandwidth_gbs 2039000.0" in found
