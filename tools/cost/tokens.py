"""Cost per million tokens, input and output apart, from the rates of a speed report at its load."""

from __future__ import annotations

from decimal import Decimal

from tools.contracts.cost import CostRequest, TokenCost

_MICRO = Decimal("0.000001")
_SECONDS = 3600


def per_million(hourly: Decimal | None, tokens_per_s: float | None) -> Decimal | None:
    """The whole hourly price spread over one kind of token."""
    if hourly is None or tokens_per_s is None:
        return None
    return (hourly * 1_000_000 / (Decimal(str(tokens_per_s)) * _SECONDS)).quantize(_MICRO)


def token_cost(request: CostRequest, hourly: Decimal | None) -> TokenCost | None:
    """Input and output tokens, each charged for the time it takes; None without all three rates.

    Prefill of I input tokens a second takes I / P of the time at a prefill rate P; the rest of the time
    goes to the O output tokens a second. So input x I + output x O is the price of the second.
    """
    total, output, prefill = (
        request.total_tokens_per_s,
        request.output_tokens_per_s,
        request.prefill_tokens_per_s,
    )
    if hourly is None or not total or not output or not prefill or total <= output:
        return None
    taken = total - output
    share = min(1.0, taken / prefill)
    for_input = hourly * Decimal(str(share))
    cost_of_input = per_million(for_input, taken)
    cost_of_output = per_million(hourly - for_input, output)
    alone = per_million(hourly, output)
    if cost_of_input is None or cost_of_output is None or alone is None:
        return None
    return TokenCost(
        input_price=cost_of_input,
        output_price=cost_of_output,
        output_only_price=alone,
        input_tokens_per_s=taken,
        output_tokens_per_s=output,
        prefill_percent=100 * share,
    )
