"""Launch kits: a user who runs these files gets the machines and the plan that were recommended."""

from __future__ import annotations

import json
import subprocess

import hcl2
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.catalog import shipped_catalog
from tools.contracts.launch import LaunchKit
from tools.contracts.sizing import Option, Recommendation, SizingRequest
from tools.contracts.training import TrainingTimeReport
from tools.launch import launch_kit
from tools.launch.quoting import hcl, shell
from tools.recommend import recommend

CATALOG = shipped_catalog()
# Arguments of the provider's documentation (aliyun/terraform-provider-alicloud, docs of each resource).
VALID = {
    "alicloud_instance": {
        "count", "instance_name", "instance_type", "image_id", "key_name", "security_groups", "vswitch_id",
        "system_disk_category", "system_disk_performance_level", "system_disk_size", "data_disks",
        "internet_charge_type", "internet_max_bandwidth_out", "instance_charge_type", "period_unit",
        "period", "spot_strategy", "tags",
    },
    "alicloud_vpc": {"vpc_name", "cidr_block"},
    "alicloud_vswitch": {"vpc_id", "cidr_block", "zone_id", "vswitch_name"},
    "alicloud_security_group": {"security_group_name", "vpc_id"},
    "alicloud_security_group_rule": {
        "type", "ip_protocol", "policy", "port_range", "priority", "security_group_id", "cidr_ip",
    },
}  # fmt: skip
CASES: list[dict[str, object]] = [
    {"model": "Llama-3-70B", "context_tokens": 8192, "concurrency": 10, "budget": {"amount": 50}},
    {"model": "Llama-3-70B"},
    {"model": "Qwen2.5-7B-Instruct", "engine": "sglang"},
    {"model": "Qwen2.5-7B-Instruct", "engine": "lmdeploy"},
    {"model": "Qwen2.5-7B-Instruct", "gpu_wanted": ("T4",)},
    {"model": "Qwen3-30B-A3B", "precision": "q4_k_m"},
    {"model": "DeepSeek-R1"},
    {"model": "DeepSeek-R1", "engine": "sglang"},
    {"model": "Qwen2.5-7B", "requests_per_second": 30, "input_tokens": 500, "output_tokens": 200},
    {"task": "finetune", "model": "Qwen2.5-7B", "method": "lora"},
    {"task": "finetune", "model": "Qwen2.5-72B", "method": "qlora"},
    {"task": "finetune", "model": "Qwen2.5-7B", "method": "full"},
    {"task": "finetune", "params_b": 7, "method": "full", "gpu_wanted": ("V100-32GB",)},
    {"task": "pretrain", "params_b": 70},
    {"task": "diffusion", "model": "SDXL"},
    {"task": "graphics"},
    {"model": "Qwen2.5-7B", "purchase": "spot"},
    {"model": "Qwen2.5-7B", "purchase": "包月"},
]


def options(fields: dict[str, object]) -> tuple[SizingRequest, tuple[Option, ...]]:
    request = SizingRequest.model_validate(fields)
    found: Recommendation = recommend(request, CATALOG)
    assert found.options, fields
    return request, found.options


def kits(fields: dict[str, object]) -> list[tuple[Option, LaunchKit]]:
    request, found = options(fields)
    return [(option, launch_kit(option, request, CATALOG)) for option in found]


def content(kit: LaunchKit, name: str) -> str:
    return next(file.content for file in kit.files if file.name == name)


def bash_accepts(text: str) -> bool:
    return (
        subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True, check=False).returncode == 0
    )


@pytest.mark.parametrize("fields", CASES, ids=lambda fields: "-".join(map(str, fields.values()))[:60])
def test_every_file_of_a_kit_parses(fields: dict[str, object]) -> None:
    for _option, kit in kits(fields):
        for file in kit.files:
            if file.language == "hcl":
                assert hcl2.loads(file.content)
            elif file.language == "bash":
                assert bash_accepts(file.content), file.content
                assert "\\\n\n" not in file.content  # a command cut in two
            elif file.language == "yaml":
                assert isinstance(yaml.safe_load(file.content), dict)
            else:
                assert isinstance(json.loads(file.content), dict)


@pytest.mark.parametrize("fields", CASES, ids=lambda fields: "-".join(map(str, fields.values()))[:60])
def test_terraform_buys_the_option_with_arguments_that_exist(fields: dict[str, object]) -> None:
    for option, kit in kits(fields):
        parsed = hcl2.loads(content(kit, "main.tf"))
        for block in parsed["resource"]:
            for kind, named in block.items():
                for values in named.values():
                    arguments = {key for key in values if not key.startswith("__")}
                    assert arguments <= VALID[kind.strip('"')], kind
        text = content(kit, "main.tf")
        assert f'= "{option.instance_type}"' in text
        assert f'region = "{option.region}"' in text
        assert f"= {option.count}\n" in text


def test_serving_flags_are_those_of_the_plan() -> None:
    request, found = options({"model": "Llama-3-70B"})
    for option in found:
        text = content(launch_kit(option, request, CATALOG), "serve.sh")
        assert f"--tensor-parallel-size {option.plan.tensor_parallel} " in text
        assert f"--pipeline-parallel-size {option.plan.pipeline_parallel} " in text
        assert f"--max-model-len {option.plan.max_model_len} " in text
        assert f"--max-num-seqs {option.plan.max_num_seqs} " in text
        assert "--dtype bfloat16" in text
        assert "meta-llama/" in text


def test_four_bit_weights_ask_for_their_files_instead_of_inventing_a_repository() -> None:
    _, kit = kits(CASES[0])[0]
    assert "MODEL:?path or repository with awq-int4 files of" in content(kit, "serve.sh")
    assert "model" in kit.inputs


def test_old_cards_are_started_in_half_precision() -> None:
    for _option, kit in kits({"model": "Qwen2.5-7B-Instruct", "gpu_wanted": ("T4",)}):
        assert "--dtype half" in content(kit, "serve.sh")


def test_a_replica_over_machines_gets_a_cluster() -> None:
    option, kit = kits({"model": "DeepSeek-R1"})[0]
    assert option.count > 1
    assert "ray start --head" in content(kit, "serve.sh")


def test_qlora_settings_are_those_that_the_memory_was_computed_for() -> None:
    option, kit = kits(
        {"task": "finetune", "model": "Qwen2.5-72B", "method": "qlora", "sequence_length": 1024}
    )[0]
    trainer = yaml.safe_load(content(kit, "train.yaml"))
    assert trainer["quantization_bit"] == 4
    assert trainer["cutoff_len"] == 1024
    assert trainer["finetuning_type"] == "lora"
    assert f"NPROC_PER_NODE={option.gpu_count}" in content(kit, "train.sh")


def test_full_training_shards_as_planned() -> None:
    option, kit = kits({"task": "finetune", "model": "Qwen2.5-7B", "method": "full"})[0]
    if option.plan.tensor_parallel == 1:
        config = json.loads(content(kit, "ds_config.json"))
        assert config["zero_optimization"]["stage"] == option.plan.zero_stage


def test_spot_and_subscription_are_bought_as_such() -> None:
    _, spot = kits({"model": "Qwen2.5-7B", "purchase": "spot"})[0]
    assert "SpotAsPriceGo" in content(spot, "main.tf")
    _, month = kits({"model": "Qwen2.5-7B", "purchase": "包月"})[0]
    assert 'instance_charge_type = "PrePaid"' in content(month, "main.tf")
    assert "--PeriodUnit Month" in content(month, "run-instances.sh")


def test_nothing_is_bought_without_a_confirmation() -> None:
    _, kit = kits({"model": "Qwen2.5-7B"})[0]
    script = content(kit, "run-instances.sh")
    assert "dry_run=true" in script
    assert '"${CONFIRM:-}" = "yes"' in script


@settings(max_examples=50)
@given(st.text(max_size=80))
def test_no_text_breaks_out_of_its_quotes(text: str) -> None:
    word = shell(text)
    if "\x00" not in text:
        echoed = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
        expected = text.replace("\n", " ").replace("\r", " ")
        assert echoed.stdout.decode(errors="surrogatepass") == expected
    literal = hcl(text)
    assert "${" not in literal.replace("$${", "")
    assert json.loads(literal.replace("$${", "${").replace("%%{", "%{")) == text


def test_the_container_is_a_stated_version_and_never_the_latest() -> None:
    for fields in ({"model": "Qwen2.5-7B-Instruct"}, {"model": "Llama-3-70B"}):
        for _option, kit in kits(fields):
            image = yaml.safe_load(content(kit, "docker-compose.yaml"))["services"]["vllm"]["image"]
            version = next(item.value for item in kit.assumptions if item.field == "engine_version")
            assert image == f"vllm/vllm-openai:v{version}"
            assert str(version) in content(kit, "serve.sh")


@pytest.mark.parametrize("method", ["lora", "full"])
def test_settings_that_nobody_named_are_said_with_their_source(method: str) -> None:
    for _option, kit in kits({"task": "finetune", "model": "Qwen2.5-7B", "method": method}):
        settings_ = yaml.safe_load(content(kit, "train.yaml"))
        said = {item.field: item.value for item in kit.assumptions}
        assert said["learning_rate"] == settings_["learning_rate"]
        assert said["gradient_accumulation"] == settings_["gradient_accumulation_steps"]
        assert any("LLaMA-Factory" in source.title for source in kit.sources)


@pytest.mark.parametrize(
    "fields",
    [
        {"task": "finetune", "model": "Qwen2.5-7B", "method": "lora", "micro_batch": 2},
        {"task": "finetune", "model": "Qwen2.5-7B", "method": "full"},
        {"task": "pretrain", "params_b": 1.5, "gpu_wanted": ("A10",)},
    ],
)
def test_the_files_train_the_batch_that_the_hours_are_for(fields: dict[str, object]) -> None:
    for option, kit in kits(fields):
        assert isinstance(option.speed, TrainingTimeReport)
        batch = next(item.value for item in option.speed.assumptions if item.field == "global_batch")
        if any(file.name == "train.yaml" for file in kit.files):
            settings_ = yaml.safe_load(content(kit, "train.yaml"))
            micro, steps = settings_["per_device_train_batch_size"], settings_["gradient_accumulation_steps"]
            assert micro * steps * option.plan.data_parallel == batch
        else:
            assert f"--global-batch-size {batch}" in content(kit, "train.sh")
