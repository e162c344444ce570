"""The deployment files, where no container engine runs: schema, syntax, and that they fit each other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import crossplane
import pytest
import yaml

from settings import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


def test_compose_fits_its_schema() -> None:
    checker = Path(sys.executable).with_name("check-jsonschema")
    words = [checker, "--builtin-schema", "vendor.compose-spec", ROOT / "compose.yaml"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_compose_has_the_whole_topology(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {"app-1", "app-2", "nginx", "chroma", "postgres"}
    published = [name for name, service in compose["services"].items() if "ports" in service]
    assert published == ["nginx"], "nothing else is reached from outside"


def test_compose_sets_only_variables_that_the_settings_know(compose: dict[str, Any]) -> None:
    known = {field.alias for field in Settings.model_fields.values()}
    assert set(compose["services"]["app-1"]["environment"]) <= known


def test_nginx_understands_its_file_and_passes_to_services_of_compose(compose: dict[str, Any]) -> None:
    parsed = crossplane.parse(str(ROOT / "deploy" / "nginx.conf"))
    assert parsed["errors"] == []
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    upstreams = set(re.findall(r"^ +server ([\w-]+):7860", text, flags=re.MULTILINE))
    assert upstreams == {name for name in compose["services"] if name.startswith("app-")}
    assert re.search(r"proxy_buffering off;", text)
    assert re.search(r"location = /metrics { return 404; }", text)


def test_the_image_is_built_from_files_that_exist_and_runs_without_rights() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for source in re.findall(r"^COPY (?!--)(\S+) ", text, flags=re.MULTILINE):
        assert (ROOT / source).exists(), source
    assert text.index("USER desk") < text.index("CMD [")
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".env", ".venv", ".state", ".git"} <= set(ignored)


def test_the_readme_names_every_setting() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8") + (ROOT / "docs" / "operation.md").read_text(
        encoding="utf-8"
    )
    missing = [field.alias for field in Settings.model_fields.values() if f"`{field.alias}`" not in table]
    assert missing == []
