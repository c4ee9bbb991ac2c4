"""Two programs on the two hardware threads of a Montecito core: what the manual says of them, and what adds up."""

from itertools import combinations_with_replacement

import pytest
from core_runs import Both, assembled, examples
from grids import each, first_quick, sampled
from machine_code import loop
from machine_runs import PROGRAMS, run_machine

from pfmon.machine._machine import Cause, Machine

PAIRS = [("queens", "fib"), ("chase", "sort"), ("matmul", "matmul"), ("strings", "hashmap")]
SLOW_PAIRS = [
    pytest.param(*pair, marks=pytest.mark.slow) for pair in zip(sorted(PROGRAMS), sorted(PROGRAMS)[1:], strict=False)
]
ALL_PAIRS = [pytest.param(*pair, marks=pytest.mark.slow) for pair in combinations_with_replacement(sorted(PROGRAMS), 2)]
EVERY_PAIR = [*PAIRS, *SLOW_PAIRS]
SHORT = ["smt.quantum=1000"]


def switching(both: Both, number: int) -> int:
    return sum(cycles for *_, cause, cycles in both.threads[number].bubbles() if cause == Cause.THREAD_SWITCH)


@sampled(16)
@each(("first", "second"), [*PAIRS, *ALL_PAIRS])
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


@pytest.mark.parametrize(("first", "second"), first_quick(EVERY_PAIR))
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
        assert issued(one) == issued(run_machine(name, "montecito"))


def issued(machine: Machine) -> dict[tuple[int, int], int]:
    """How often each instruction issued."""
    found: dict[tuple[int, int], int] = {}
    for parts, count in machine.groups():
        for part in parts:
            for instruction in range(part[1], part[2] + 1):
                found[part[0], instruction] = found.get((part[0], instruction), 0) + count
    return found


# --- the manual's sentences

LOOP = [f"adds r{number}=1,r{number}" for number in (4, 5, 6)]
LONG = loop(LOOP, 9000)
"""More than twenty quanta of SHORT."""


def test_two_programs_that_only_compute_switch_by_time_outs() -> None:
    """Section 2.4.1.1: time-outs ensure fairness. L3 misses are those of the beginning."""
    both = assembled([loop(LOOP, 9000)] * 2, ["smt.quantum=1000"])
    cycles = both.core.cycles()
    for one in cycles:
        assert one.switches["timer"] > 8
        assert one.switches["l3"] <= 4
    assert abs(cycles[0].active - cycles[1].active) < 1500


def test_a_switch_costs_15_cycles() -> None:
    """Section 2.4.1: 15 cycles from initiation until the background thread retires an instruction. More time-outs cost
    so much more: the cycle in which the instruction retires is the program's own."""
    rare, often = (assembled([loop(LOOP, 9000)] * 2, [f"smt.quantum={quantum}"]) for quantum in (1000000, 1000))
    totals = [sum(one.active for one in both.core.cycles()) for both in (rare, often)]
    switches = [sum(sum(one.switches.values()) for one in both.core.cycles()) for both in (rare, often)]
    fetched_again = 3  # of a pass at most: what was fetched is flushed, and the group is formed anew
    extra = totals[1] - totals[0] - 14 * (switches[1] - switches[0])
    assert switches[1] > switches[0] + 20
    assert 0 <= extra <= fetched_again * (switches[1] - switches[0])


@pytest.mark.parametrize("instruction", ["hint.m 0", "hint.i 0", "hint.f 0"])
def test_a_pause_yields(instruction: str) -> None:
    """Section 2.4.1.2: hint@pause forces a switch, and another hint does not."""
    paused = assembled([loop([*LOOP, instruction], 20), LONG], SHORT)
    assert paused.core.cycles()[0].switches["hint"] == 20
    other = instruction.replace(" 0", " 1")
    assert assembled([loop([*LOOP, other], 20), LONG], SHORT).core.cycles()[0].switches["hint"] == 0


def test_a_predicated_pause_yields_when_its_predicate_holds() -> None:
    """Section 2.4.1.2: this instruction can be predicated to conditionally initiate a thread switch."""
    code = loop([*LOOP, "cmp.eq p6,p7=r0,r0", "(p7) hint.m 0"], 20)
    assert assembled([code, LONG], SHORT).core.cycles()[0].switches["hint"] == 0


def test_hint_b_is_a_nop() -> None:
    """Table 2-4, note: hint.b does not have any impact on multi-thread control in Montecito."""
    assert assembled([loop([*LOOP, "hint.b 0"], 20), LONG], SHORT).core.cycles()[0].switches["hint"] == 0


@pytest.mark.slow
def test_waits_for_memory_overlap() -> None:
    """Section 2.4.1: while one thread waits for memory the other has the core."""
    small = ["l3.size=768K"]
    words = ["2048", "30000"]
    both = examples("chase", "chase", small, arguments=[words, words])
    alone = run_machine("chase", "montecito", arguments=words, overrides=small)
    waits = sum(cycles for *_, cause, cycles in alone.bubbles() if cause == Cause.GRALL)
    assert waits > alone.cycles / 2
    assert max(one.cycles for one in both.threads) < 2 * alone.cycles - waits / 2
