"""The launch kit in an answer: what to fill in, then each file in a fenced block."""

from __future__ import annotations

from agent.writing.words import Words, bullets
from tools.contracts.launch import LaunchFile, LaunchKit

_PURPOSES = {
    "terraform": ("Terraform", "Terraform"),
    "cli": ("aliyun CLI (a dry run until you confirm)", "aliyun CLI（默认只试运行，确认后才下单）"),
    "serve": ("Start of the service", "启动推理服务"),
    "compose": ("Docker Compose", "Docker Compose"),
    "train": ("Start of the training", "启动训练"),
    "deepspeed": ("DeepSpeed configuration", "DeepSpeed 配置"),
}


def launch_sections(w: Words, kit: LaunchKit) -> list[str]:
    """Nothing is bought by the answer: the user fills in the ids and runs the files."""
    count = f"{kit.count} × " if kit.count > 1 else ""
    head = w(
        f"**Launch files for {count}{kit.instance_type} in {kit.region}.** I cannot act in your account: "
        "fill in the ids and run them yourself.",
        f"**{count}{kit.instance_type}（{kit.region}）的启动文件。** 我不能代为操作账号：请填好各项 ID "
        "后自行运行。",
    )
    sections = [head]
    if kit.inputs:
        sections.append(w("To fill in:\n", "需要填写：\n") + bullets(f"`{name}`" for name in kit.inputs))
    return sections + [_file(w, file) for file in kit.files]


def _file(w: Words, file: LaunchFile) -> str:
    title = w(*_PURPOSES.get(file.purpose, (file.purpose, file.purpose)))
    return f"**{title}** (`{file.name}`)\n\n```{file.language}\n{file.content.rstrip()}\n```"
