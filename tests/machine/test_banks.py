"""Banks of L2's data: reads of one cycle that meet in a bank go one after the other.

Montecito manual, 2.3.3.2: the tags are four-ported, "the data array is pseudo four-ported with 16-byte banks".
"""

import random

import pytest
from enumerated import members
from ia64_assembly import Line
from ia64_machine import DATA
from machine_code import loop, open_bundle, run_code

from pfmon.machine.config import load
from pfmon.machine.l2 import L2, RequestKind
from pfmon.machine.occurrences import Occurrence

READ, FLOAT_READ, WRITE = members(RequestKind, "REQUEST", "READ FLOAT_READ WRITE")
MACHINES = ["itanium2", "montecito"]
BANK, BANKS, START, LONG = 16, 16, 1 << 20, 10_000
L2_HIT = 5  # table 2-8, note 3
QUEUED = 7  # 4.8.4.2: bypasses of 5 and of 7 cycles


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def below(machine: str) -> L2:
    """L2 with eight kilobytes in it."""
    found = L2(load(machine))
    for number in range(64):
        found.request_at(START + 128 * number, FLOAT_READ, LONG * (number + 1))
    return found


def conflicts(noted: list[tuple[int, int]]) -> int:
    return sum(times for occurrence, times in noted if Occurrence(occurrence).name == "OZQ_CANCEL_BANK")


# --- in L2


def test_reads_of_four_banks_are_served_together(machine: str) -> None:
    l2, now = below(machine), LONG * 100
    for number in range(4):
        ready, _, noted = l2.request_at(START + (128 + BANK) * number, READ, now)
        assert (ready, conflicts(noted)) == (now + L2_HIT, 0)


def test_reads_of_one_bank_take_a_cycle_each(machine: str) -> None:
    """Banks repeat every 256 bytes. What is cancelled the queue issues again, which takes seven cycles at least."""
    l2, now = below(machine), LONG * 100
    found = [l2.request_at(START + BANK * BANKS * number, READ, now) for number in range(4)]
    assert [ready - now for ready, _, _ in found] == [L2_HIT, QUEUED, QUEUED, L2_HIT + 3]
    assert [conflicts(noted) for *_, noted in found] == [0, 1, 1, 1]


def test_a_bank_is_free_in_the_next_cycle(machine: str) -> None:
    l2 = below(machine)
    for cycle in range(6):
        ready, _, noted = l2.request_at(START + BANK * BANKS * cycle, READ, LONG * 100 + cycle)
        assert (ready, conflicts(noted)) == (LONG * 100 + cycle + L2_HIT, 0)


def test_writes_wait_in_the_queue_and_disturb_nobody(machine: str) -> None:
    l2, now = below(machine), LONG * 100
    assert l2.request_at(START, WRITE, now)[0] == now
    assert l2.request_at(START + 256, READ, now)[0] == now + L2_HIT


def test_itanium_has_no_published_banks() -> None:
    l2, now = below("itanium"), LONG * 100
    assert {l2.request_at(START + 256 * number, READ, now)[0] for number in range(4)} == {now + 6}


# --- in programs


def four_loads() -> list[Line]:
    """Four floating-point loads of one group."""
    first = open_bundle("MMI", "ldfd f8=[r24]", "ldfd f9=[r25]", "")
    return [first, ("MMI", "ldfd f10=[r26]", "ldfd f11=[r27]", "")]


def passes(machine: str, step: int, overrides: tuple[str, ...] = ()) -> tuple[float, float]:
    """Cycles of a pass until the last of four loads, ``step`` bytes apart, is there; conflicts of a pass."""
    head = [f"movl r{24 + number}={DATA + 4096 + step * number:#x}" for number in range(4)]
    body = [*four_loads(), "fma.s0 f12=f11,f11,f11"]
    few, many = (run_code([*head, *loop(body, times)], machine, overrides) for times in (100, 300))
    met = [
        sum(n for (_, _, o, _), n in found.occurrences().items() if Occurrence(o).name == "OZQ_CANCEL_BANK")
        for found in (few, many)
    ]
    return (many.cycles - few.cycles) / 200, (met[1] - met[0]) / 200


def test_four_loads_of_one_bank_take_four_cycles(machine: str) -> None:
    """The last one's value is there three cycles later than that of four banks."""
    apart, together = passes(machine, BANK), passes(machine, BANK * BANKS)
    assert apart[1] == 0 and together[1] == 3
    assert together[0] - apart[0] == 3


def test_a_bank_as_wide_as_everything_makes_all_meet() -> None:
    assert passes("montecito", BANK, ("l2d.banks=1",))[1] == 3


# --- the memo


@pytest.mark.parametrize("seed", range(6))
def test_the_memo_knows_who_meets_whom(machine: str, seed: int) -> None:
    """Blocks whose loads go to other banks in each pass: nothing but speed depends on the memo."""
    draw = random.Random(seed)
    head = [f"movl r{24 + number}={DATA + 4096 + BANK * draw.randrange(64):#x}" for number in range(4)]
    steps = [f"xor r{24 + number}={draw.choice((0, 16, 32, 48))},r{24 + number}" for number in range(4)]
    code = [*head, *loop([*four_loads(), *steps, "fma.s0 f12=f8,f9,f11"], 60)]
    with_memo, without = (run_code(code, machine, memo=memo) for memo in (True, False))
    assert with_memo.repeated > 0
    assert with_memo.cycles == without.cycles
    assert with_memo.occurrences() == without.occurrences()
