"""Adding a model from its files (config.json, a safetensors index, a GGUF) or by its id from a model hub."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from knowledge.errors import InputError
from knowledge.live.overlay import DEFAULT_FOLDER
from knowledge.model_files import safetensors_index
from knowledge.model_import import MODEL_ID, ImportedModel, model_from_config, model_from_gguf
from knowledge.own_models import MODELS_FOLDER, keep_model

_HEAD_BYTES = 64 * 2**20  # of a GGUF: its header and tensor list lie at the front


def read_model_file(path: Path, name: str = "") -> ImportedModel:
    """The model of a `config.json`, a safetensors index with a config.json beside it, or a GGUF file.

    `name` is what the model will be called; empty: the name of the file's folder, or of the GGUF file.
    Raises `InputError` naming the file or the key that cannot be used.
    """
    try:
        if path.suffix == ".gguf":
            with path.open("rb") as file:
                return model_from_gguf(file.read(_HEAD_BYTES), name or path.stem)
        called = name or path.resolve().parent.name
        if path.name.endswith(".safetensors.index.json"):
            weights = safetensors_index(path.read_bytes())
            found = model_from_config((path.parent / "config.json").read_bytes(), called)
            return ImportedModel(found.model, found.unknown, weights.tensor_bytes)
        return model_from_config(path.read_bytes(), called)
    except OSError as error:
        raise InputError("file", path.name, f"a file that can be read ({error.strerror})") from None


def _is_id(file: Path) -> bool:
    """Whether this is an owner/name and no file: what is on the disk counts first."""
    a_file = file.exists() or file.suffix in (".json", ".gguf")
    return not a_file and MODEL_ID.fullmatch(file.as_posix()) is not None


def _by_id(model_id: str, hubs: list[str] | None, timeout_s: float) -> ImportedModel:
    from knowledge.hub import ModelHub, hubs_named  # its HTTP client is loaded where it is used

    return ModelHub(hubs_named(hubs or ["huggingface", "modelscope"]), timeout_s).model(model_id)


def add_model(
    file: Annotated[
        Path,
        typer.Argument(help="config.json, model.safetensors.index.json, a .gguf file, or an id: owner/name."),
    ],
    name: Annotated[str, typer.Option(help="What to call it; default: its folder or file name.")] = "",
    overlay: Annotated[Path, typer.Option("--overlay", help="Folder that keeps it.")] = DEFAULT_FOLDER,
    hub: Annotated[
        list[str] | None,
        typer.Option(help="huggingface, modelscope or a mirror's address; may be repeated. [both]"),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds that a hub may take.")] = 10.0,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Add a model from its files or by its id, so that every calculator and answer knows it by its name."""
    found = _by_id(str(file), hub, timeout) if _is_id(file) else read_model_file(file, name)
    if name and _is_id(file):
        found = replace(found, model=found.model.model_copy(update={"model_id": name, "display_name": name}))
    keep_model(overlay / MODELS_FOLDER, found.model)
    if as_json:
        typer.echo(json.dumps({"model": found.model.model_dump(mode="json"), "unknown": list(found.unknown)}))
        return
    model = found.model
    typer.echo(f"added {model.model_id}: {model.params_total_b:g}B parameters, {model.num_layers} layers")
    typer.echo(f"KV cache: {model.kv_bytes_per_token_bf16:g} bytes a token in bf16")
    if found.weight_bytes:
        typer.echo(f"weights in the file: {found.weight_bytes / 2**30:.2f} GiB")
    for unknown in found.unknown:
        typer.echo(f"not known, bounded from above: {unknown}")
