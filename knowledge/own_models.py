"""Models that the user added from files: kept beside the live data, read before the shipped table."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

from pydantic import ValidationError

from knowledge.rows import Model

log = logging.getLogger(__name__)
MODELS_FOLDER = "models"  # inside the folder of the live data


def keep_model(folder: Path, model: Model) -> Path:
    """Writes a model into the user's folder; one of the same name is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '_', model.model_id)[:120]}.json"
    part = path.with_suffix(".part")
    part.write_text(model.model_dump_json(indent=1), encoding="utf-8")
    part.replace(path)
    return path


def own_models(folder: Path | None) -> tuple[Model, ...]:
    """The models that were added, by file name; a damaged file is logged and left out."""
    found: list[Model] = []
    for path in sorted(folder.glob("*.json")) if folder else ():
        try:
            found.append(Model.model_validate(json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, ValidationError) as error:
            log.warning("the added model %s cannot be read: %.200s", path.name, error)
    return tuple(found)
