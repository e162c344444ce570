"""What a plan can carry: the best concurrency under latency targets, arrival rates, users who think."""

from __future__ import annotations

from collections.abc import Callable

from tools.throughput.core import Load, Speed, serve_steps
from tools.throughput.steps import Stepper


def best_concurrency(
    replica: Stepper,
    input_tokens: int,
    output_tokens: int,
    limit: int,
    ttft_ms: float | None = None,
    tpot_ms: float | None = None,
) -> tuple[int, Speed | None]:
    """The highest concurrency up to `limit` that keeps both targets, with its speed; (0, None) if none does.

    Latencies grow with concurrency, so the search is a bisection of a dozen evaluations.
    """

    def meets(speed: Speed) -> bool:
        return (ttft_ms is None or speed.ttft_ms <= ttft_ms) and (tpot_ms is None or speed.tpot_ms <= tpot_ms)

    def speed_at(concurrency: int) -> Speed:
        return serve_steps(replica, Load(input_tokens, output_tokens, concurrency))

    if limit < 1:
        return 0, None
    top = speed_at(limit)
    if meets(top):
        return limit, top
    low, high, best = 0, limit, None
    while high - low > max(1, low // 64):
        middle = (low + high) // 2
        speed = speed_at(middle)
        if meets(speed):
            low, best = middle, speed
        else:
            high = middle
    return low, best


def concurrency_for_rate(
    replica: Stepper, input_tokens: int, output_tokens: int, requests_per_s: float, limit: int
) -> int | None:
    """The lowest concurrency whose throughput reaches the arrival rate (open loop); None if none does."""
    return _first_enough(
        lambda n: serve_steps(replica, Load(input_tokens, output_tokens, n)).requests_per_s >= requests_per_s,
        limit,
    )


def users_served(speed: Speed, concurrency: float, think_time_s: float) -> float:
    """Users who keep `concurrency` requests in flight when each waits `think_time_s` between an answer and
    the next question (closed loop, Little's law): N = X (R + Z)."""
    return concurrency + speed.requests_per_s * think_time_s


def concurrency_of_users(
    replica: Stepper, input_tokens: int, output_tokens: int, users: int, think_time_s: float
) -> int:
    """Requests in flight when `users` share the plan in a closed loop with a think time."""

    def enough(concurrency: int) -> bool:
        speed = serve_steps(replica, Load(input_tokens, output_tokens, concurrency))
        return users_served(speed, concurrency, think_time_s) >= users

    return _first_enough(enough, users) or users


def _first_enough(enough: Callable[[int], bool], limit: int) -> int | None:
    """The smallest number from 1 to `limit` for which a growing predicate holds."""
    if limit < 1 or not enough(limit):
        return None
    low, high = 0, limit
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
