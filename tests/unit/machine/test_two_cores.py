"""Two Montecito cores on one bus (manual 2.5): caches of their own, a bus that whoever asks first gets first."""

import pytest
from core_runs import Both, examples
from machine_runs import run_machine

from pfmon.machine._machine import Machine, Occurrence
from pfmon.session.coupled.coupled_run import TwoCores

SMALL = ("l3.size=768K",)
SLOW_BUS = (*SMALL, "bus.frequency=50 MHz")
CHASE, STREAM = ["2048", "20000"], ["512", "2"]


def both(first: str, second: str, *arguments: list[str] | None, figures: tuple[str, ...] = ()) -> Both:
    return examples(first, second, figures, arguments=arguments or (None, None), kind=TwoCores)


def times(machine: Machine, *names: str) -> int:
    """How often something happened."""
    wanted = {int(Occurrence[name]) for name in names}
    return sum(count for (_, _, what, _), count in machine.occurrences().items() if what in wanted)


@pytest.mark.parametrize(("first", "second"), [("queens", "fib"), ("sort", "matmul")])
def test_a_core_beside_one_that_rarely_needs_the_bus_is_almost_alone(first: str, second: str) -> None:
    """Caches, TLBs and predictors are its own: every miss stays a miss; only the bus may make it wait."""
    found = both(first, second)
    for name, one in zip((first, second), found.threads, strict=True):
        alone = run_machine(name, "montecito")
        for what in ("L3_DATA_READ_MISS_I", "L2_DATA_READ", "L1D_READ", "L1I_DEMAND_MISS", "L2DTLB_MISS"):
            assert times(one, what) == times(alone, what)
        assert alone.cycles <= one.cycles < alone.cycles * 1.1


def test_every_cycle_is_an_issue_or_a_bubble() -> None:
    for one in both("chase", "sort").threads:
        assert one.cycles == one.records.cycles_with_issue() + sum(cycles for *_, cycles in one.bubbles())
        assert one.time()[0] == one.cycles


@pytest.mark.slow
def test_runs_repeat_to_the_last_digit() -> None:
    one, other = (both("chase", "stream", CHASE, STREAM, figures=SMALL) for _ in range(2))
    assert one.core.cycles() == other.core.cycles()
    for first, second in zip(one.threads, other.threads, strict=True):
        assert first.occurrences() == second.occurrences()


@pytest.mark.slow
def test_who_is_core_0_hardly_matters() -> None:
    """The arbiter is fair (2.5.1): the same two programs, the other way round."""
    figures = SMALL
    one, other = (
        both("chase", "stream", CHASE, STREAM, figures=figures),
        both("stream", "chase", STREAM, CHASE, figures=figures),
    )
    for first, second in zip(one.threads, reversed(other.threads), strict=True):
        assert first.cycles == pytest.approx(second.cycles, rel=0.01)


@pytest.mark.slow
def test_bandwidth_is_shared() -> None:
    """Two programs that only wait for lines from memory: the bus is busy all the time, and each has half of it."""
    alone = run_machine("stream", "montecito", arguments=STREAM, overrides=list(SLOW_BUS))
    found = both("stream", "stream", STREAM, STREAM, figures=SLOW_BUS)
    lines = [times(one, "BUS_READ_DATA", "BUS_READ_OWN", "BUS_WRITE_BACK") for one in found.threads]
    line_cycles = 1600 * (128 // 16) // 50  # a line's transfers at the bus's rate, in cycles of the core
    assert min(lines) > 50_000
    assert max(one.cycles for one in found.threads) >= sum(lines) * line_cycles
    for one in found.threads:
        assert 1.9 * alone.cycles < one.cycles < 2.05 * alone.cycles


@pytest.mark.slow
def test_a_stream_is_faster_beside_a_chase_than_beside_a_stream() -> None:
    beside_chase = both("stream", "chase", STREAM, CHASE, figures=SLOW_BUS).threads[0].cycles
    beside_stream = both("stream", "stream", STREAM, STREAM, figures=SLOW_BUS).threads[0].cycles
    assert beside_chase < beside_stream
