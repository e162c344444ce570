"""A dialogue that forgets what was said, or keeps what is over, answers another question."""

from __future__ import annotations

from typing import Any


def test_a_follow_up_changes_one_slot_and_keeps_the_rest(reader: Any) -> None:
    reading = reader("部署 Qwen2.5-72B,8k 上下文,20 并发", "换成 int4 呢")
    assert reading.follow_up
    assert reading.changed == ("precision", "allow_quantization")
    request = reading.request
    assert (request.model, request.precision) == ("Qwen/Qwen2.5-72B-Instruct", "awq-int4")
    assert (request.context_tokens, request.concurrency) == (8192, 20)
    assert reading.intent == "size"


def test_a_doubled_budget_is_twice_the_budget(reader: Any) -> None:
    reading = reader("Llama 3.1 8B under 10 CNY per hour", "what if the budget doubles?")
    assert reading.request.budget is not None
    assert (reading.request.budget.amount, reading.request.budget.period) == (20, "hour")
    assert reading.changed == ("budget",)


def test_another_region_replaces_the_first(reader: Any) -> None:
    assert reader("32B 推理,杭州", "上海呢").request.regions == ("cn-shanghai",)


def test_the_other_size_of_the_same_family(reader: Any) -> None:
    assert (
        reader("Can I run Qwen2.5-14B on A10?", "and the 32B?").request.model == "Qwen/Qwen2.5-32B-Instruct"
    )


def test_another_card_drops_the_count_of_the_first(reader: Any) -> None:
    request = reader("72B on 8xT4?", "and an L20?").request
    assert request.gpu_wanted == ("L20",)
    assert request.gpu_count is None


def test_a_card_refused_later_is_no_longer_wanted(reader: Any) -> None:
    request = reader("Llama-3-70B on 2xA100", "不要 A100,换 L20").request
    assert request.gpu_wanted == ("L20",)
    assert request.gpu_excluded == ("A100-80GB",)


def test_a_refused_precision_is_taken_back(reader: Any) -> None:
    request = reader("72B int4 on A100", "no, int4 is not acceptable").request
    assert request.precision == ""
    assert request.allow_quantization is False


def test_a_new_matter_drops_the_request(reader: Any) -> None:
    reading = reader(
        "部署 Qwen2.5-7B 用什么卡", "nvidia-smi 报错 couldn't communicate with the NVIDIA driver"
    )
    assert not reading.follow_up
    assert reading.request.model == ""
    assert reading.intent == "troubleshoot"


def test_a_new_model_with_its_own_question_is_a_new_request(reader: Any) -> None:
    reading = reader(
        "Qwen2.5-72B int4, 20 users, Singapore", "How much VRAM does Llama-3-8B need for full finetuning?"
    )
    assert reading.request.model == "meta-llama/Meta-Llama-3-8B-Instruct"
    assert (reading.request.precision, reading.request.regions, reading.request.users) == ("", (), None)


def test_start_over_forgets_everything(reader: Any) -> None:
    for word in ("重新来", "start over", "Forget everything."):
        reading = reader("部署 70B,每小时 50 元", word)
        assert reading.intent == "reset"
        assert reading.slots == {}
    assert reader("部署 70B", "重新来", "7B 用什么卡").request.params_b == 7


def test_thanks_leave_the_request_in_place(reader: Any) -> None:
    reading = reader("部署 70B", "谢谢", "20 并发呢")
    assert (reading.request.params_b, reading.request.concurrency) == (70, 20)


def test_answers_to_questions_complete_the_request(reader: Any) -> None:
    reading = reader("想租个显卡服务器", "推理, Qwen2.5-14B", "10 个人用,预算每月 6000")
    assert reading.intent == "size"
    assert reading.request.users == 10
    assert reading.request.model == "Qwen/Qwen2.5-14B-Instruct"
    assert reading.request.budget is not None


def test_an_out_of_memory_report_becomes_arithmetic_once_model_and_card_are_known(reader: Any) -> None:
    assert reader("sglang keeps going oom").intent == "troubleshoot"
    assert reader("sglang keeps going oom", "4xT4, 32B").intent == "memory"


def test_nothing_is_asked_twice(reader: Any) -> None:
    assert reader("给我推荐显卡").clarify == "task_and_model"
    assert reader("给我推荐显卡", "便宜点的就行").clarify == ""


def test_the_answer_is_in_the_language_of_the_question(reader: Any) -> None:
    assert reader("预算 $800/month, in Tokyo region, 想跑 Qwen3 8B 的 API, 24x7").language == "zh"
    assert reader("What does 按量付费 mean for a GPU instance?").language == "en"
    assert reader("想微调一个 32b", "qlora").language == "zh"
    assert reader("Does a V100 run Qwen2.5-14B?", "fp16").language == "en"
