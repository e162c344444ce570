"""Contract of the launch kit: files that buy the machines of an option and start its work."""

from __future__ import annotations

from typing import Literal

from tools.contracts.base import Assumption, Remark, Report, SourceRef

FileLanguage = Literal["hcl", "bash", "yaml", "json"]


class LaunchFile(Report):
    """One file. `purpose` is a stable code: terraform, cli, serve, compose, train, deepspeed."""

    name: str
    language: FileLanguage
    purpose: str
    content: str


class LaunchKit(Report):
    """Files for one option; `inputs` are what the user must fill in (account ids, image, checkpoints)."""

    instance_type: str
    count: int
    region: str
    files: tuple[LaunchFile, ...]
    inputs: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()  # settings in the files that no request named
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()
