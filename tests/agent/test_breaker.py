"""A dead model service is not asked by every visitor, and a recovered one is found again."""

from __future__ import annotations

from agent.breaker import FAILURES, PAUSE_S, Breaker


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def dead() -> tuple[Breaker, Clock]:
    clock = Clock()
    breaker = Breaker(clock)
    for _ in range(FAILURES):
        assert breaker.admits()
        breaker.failed()
    return breaker, clock


def test_some_failures_in_a_row_close_the_way() -> None:
    breaker, clock = dead()
    assert not breaker.admits()
    clock.now = PAUSE_S - 1
    assert not breaker.admits()


def test_a_success_between_failures_keeps_the_way_open() -> None:
    breaker = Breaker(Clock())
    for _ in range(2 * FAILURES):
        breaker.failed()
        breaker.succeeded()
    assert breaker.admits()


def test_after_the_pause_one_question_tries_and_the_others_are_spared_the_wait() -> None:
    breaker, clock = dead()
    clock.now = PAUSE_S
    assert [breaker.admits() for _ in range(3)] == [True, False, False]
    breaker.failed()
    clock.now += PAUSE_S - 1
    assert not breaker.admits()


def test_a_service_that_came_back_is_used_again_by_all() -> None:
    breaker, clock = dead()
    clock.now = PAUSE_S
    assert breaker.admits()
    breaker.succeeded()
    assert all(breaker.admits() for _ in range(5))


def test_a_try_that_is_never_heard_of_again_does_not_close_the_way_for_ever() -> None:
    breaker, clock = dead()
    clock.now = PAUSE_S
    assert breaker.admits()
    clock.now += PAUSE_S
    assert breaker.admits()
