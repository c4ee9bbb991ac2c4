"""Two programs on the two hardware threads of a Montecito core: what the manual says of them, and what has to add up."""

import pytest
from core_runs import Both, assembled, examples
from machine_runs import PROGRAMS, run_machine

from pfmon.machine.causes import Cause

PAIRS = [("queens", "fib"), ("chase", "sort"), ("matmul", "matmul"), ("strings", "hashmap")]
SLOW_PAIRS = [
    pytest.param(*pair, marks=pytest.mark.slow) for pair in zip(sorted(PROGRAMS), sorted(PROGRAMS)[1:], strict=False)
]
EVERY_PAIR = [*PAIRS, *SLOW_PAIRS]
SHORT = ["smt.quantum=1000"]


def switching(both: Both, number: int) -> int:
    return sum(cycles for *_, cause, cycles in both.threads[number].bubbles() if cause == Cause.THREAD_SWITCH)


@pytest.mark.parametrize(("first", "second"), EVERY_PAIR)
def test_every_cycle_is_one_threads(first: str, second: str) -> None:
    """Cycles with an issue and bubbles are a thread's cycles; those of both are the core's, without a gap."""
    both = examples(first, second, SHORT)
    cycles = both.core.cycles()
    for number, one in enumerate(both.threads):
        issues = one.records.cycles_with_issue()
        bubbles = sum(found for *_, found in one.bubbles())
        assert one.time()[0] == issues + bubbles == cycles[number].active
        assert switching(both, number) == cycles[number].switching
        assert cycles[number].background == cycles[1 - number].active
    last = max(one.cycles for one in both.threads)
    assert sum(one.active for one in cycles) == last
    switches = [sum(one.switches.values()) for one in cycles]
    assert abs(switches[0] - switches[1]) <= 1
    cost = 15 - 1  # the 15th cycle is that in which the first instruction retires
    assert sum(one.switching for one in cycles) == cost * sum(switches)


@pytest.mark.parametrize(("first", "second"), EVERY_PAIR)
def test_the_memo_changes_nothing(first: str, second: str) -> None:
    with_memo, without = examples(first, second, SHORT), examples(first, second, SHORT, memo=False)
    assert with_memo.core.cycles() == without.core.cycles()
    for one, other in zip(with_memo.threads, without.threads, strict=True):
        assert one.repeated > 0 and other.repeated == 0
        assert one.cycles == other.cycles
        assert one.occurrences() == other.occurrences()
        assert sorted(map(str, one.bubbles())) == sorted(map(str, other.bubbles()))
        assert sorted(map(str, one.front_bubbles())) == sorted(map(str, other.front_bubbles()))
        assert dict(one.groups()) == dict(other.groups())
        assert one.levels() == other.levels()


def test_runs_repeat_to_the_last_digit() -> None:
    one, other = examples("chase", "lz"), examples("chase", "lz")
    assert one.core.cycles() == other.core.cycles()
    for first, second in zip(one.threads, other.threads, strict=True):
        assert first.occurrences() == second.occurrences()


def test_what_retires_is_what_retires_alone() -> None:
    """Only times and misses differ."""
    both = examples("queens", "sort", SHORT)
    for name, one in zip(("queens", "sort"), both.threads, strict=True):
        alone = run_machine(name, "montecito")
        retired = [sum(parts[-1][2] - parts[-1][1] + 1 for parts, _ in found.groups()) for found in (one, alone)]
        assert retired[0] > 0
        assert dict_of_executed(one) == dict_of_executed(alone)


def dict_of_executed(machine: object) -> dict[tuple[int, int], int]:
    """How often each instruction issued."""
    found: dict[tuple[int, int], int] = {}
    for parts, count in machine.groups():  # type: ignore[attr-defined]  # a Machine
        for part in parts[-1:]:
            for instruction in range(part[1], part[2] + 1):
                found[part[0], instruction] = found.get((part[0], instruction), 0) + count
    return found
