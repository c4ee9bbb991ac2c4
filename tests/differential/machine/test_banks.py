"""Banks and tag ports of L2: one read of a bank in a cycle, four accesses to the tags; what finds none is issued again.

Montecito manual, 2.3.3.2: the tags are four-ported, "the data array is pseudo four-ported with 16-byte banks".
"""

import random

import pytest
from enumerated import members
from ia64_assembly import Line
from ia64_machine import DATA
from machine_code import loop, open_bundle, run_code

from pfmon.machine._machine import L2, Occurrence, RequestKind
from pfmon.machine.config.machine_config import load

READ, FLOAT_READ, WRITE, PREFETCH = members(RequestKind, "REQUEST", "READ FLOAT_READ WRITE PREFETCH")
MACHINES = ["itanium2", "montecito"]
BANK, BANKS, START, LONG = 16, 16, 1 << 20, 10_000
ROUND = BANK * BANKS  # bytes until banks repeat
LINE = 128
SAME_SET = 1 << 15  # bytes: 256 KB in eight ways
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


def cancels(noted: list[tuple[int, int]]) -> list[str]:
    """Why an access was issued again."""
    names = [Occurrence(occurrence).name for occurrence, _ in noted]
    return [name.removeprefix("OZQ_CANCEL_") for name in names if name.startswith("OZQ_CANCEL_")]


# --- in L2


def test_reads_of_four_banks_are_served_together(machine: str) -> None:
    l2, now = below(machine), LONG * 100
    for number in range(4):
        ready, _, noted = l2.request_at(START + (128 + BANK) * number, READ, now)
        assert (ready, conflicts(noted)) == (now + L2_HIT, 0)


def test_reads_of_one_bank_take_a_cycle_each(machine: str) -> None:
    """What is cancelled the queue issues again, which takes seven cycles at least: then it has the bank to itself."""
    l2, now = below(machine), LONG * 100
    found = [l2.request_at(START + ROUND * number, READ, now) for number in range(4)]
    assert [ready - now for ready, _, _ in found] == [L2_HIT, QUEUED, QUEUED + 1, QUEUED + 2]
    assert [conflicts(noted) for *_, noted in found] == [0, 1, 1, 1]


def test_what_is_issued_again_disturbs_a_later_cycle(machine: str) -> None:
    """Two reads meet; the second has the bank two cycles later, and who comes then to this bank has not."""
    again = QUEUED - L2_HIT
    for bank, wait in ((0, again), (1, 0)):
        l2, now = below(machine), LONG * 100
        for number in range(2):
            l2.request_at(START + ROUND * number, READ, now)
        assert not l2.quick_at(START, FLOAT_READ, now + again)
        ready, _, noted = l2.request_at(START + ROUND * 2 + BANK * bank, READ, now + again)
        assert ready == now + again + L2_HIT + wait
        assert conflicts(noted) == (wait > 0)
        assert l2.quick_at(START, FLOAT_READ, now + 3 * again)


def test_the_tags_are_four_ported(machine: str) -> None:
    """Whatever an access does it looks for its line: the fifth of a cycle is issued again."""
    l2, now = below(machine), LONG * 100
    kinds = [READ, WRITE, PREFETCH, FLOAT_READ, READ]
    found = [l2.request_at(START + (LINE + BANK) * number, kind, now) for number, kind in enumerate(kinds)]
    assert [cancels(noted) for *_, noted in found] == [[], [], [], [], ["OVER_SUB"]]
    assert found[-1][0] == now + QUEUED


def test_the_number_of_tag_ports_is_a_figure() -> None:
    for ports, cancelled in ((4, 4), (6, 2), (64, 0)):
        l2 = L2(load("montecito", [f"l2d.tag_ports={ports}"]))
        noted = [l2.request_at(START + (LINE + BANK) * number, READ, LONG)[2] for number in range(8)]
        assert sum("OVER_SUB" in cancels(one) for one in noted) == cancelled


# --- fills and write-backs


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize(
    ("missed", "kind", "in_the_line", "beside_it"),
    [
        (READ, READ, ["FILL"], []),
        (READ, WRITE, ["FILL_STORE"], []),
        (WRITE, READ, ["FILL"], []),
        (WRITE, WRITE, ["FILL_STORE"], ["OZDATA"]),
    ],
)
def test_a_fill_takes_the_banks_of_its_line(
    machine: str, half: int, missed: int, kind: int, in_the_line: list[str], beside_it: list[str]
) -> None:
    """A line lies in eight of 16 banks. Its fill is written in the cycle before it is there, with what the data buffer
    has for it: then no store finds that."""
    for place in (0, 1):
        for early, cancelled in ((1, in_the_line if place == half else beside_it), (0, []), (2, [])):
            l2, now = below(machine), LONG * 100
            ready, _, _ = l2.request_at(START + (1 << 19) + LINE * half, READ, now)
            if missed == WRITE:
                l2 = below(machine)
                l2.request_at(START + (1 << 19) + LINE * half, WRITE, now)
            *_, noted = l2.request_at(START + LINE * place, kind, ready - early)
            assert cancels(noted) == cancelled


@pytest.mark.parametrize("kind", [READ, WRITE])
def test_a_line_on_its_way_out_is_read_from_its_banks(machine: str, kind: int) -> None:
    for place, cancelled in ((0, ["WRITE_BACK"]), (1, [])):
        l2, now = below(machine), LONG * 100
        for way in range(1, 9):
            l2.request_at(START + SAME_SET * way, WRITE, now + LONG * way)
        for number in range(2):
            l2.request_at(START + 4 * LINE + LINE * number, READ, now + LONG * (10 + number))
        l2.request_at(START + SAME_SET * 9, READ, now + LONG * 20)
        *_, noted = l2.request_at(START + 4 * LINE + LINE * place, kind, now + LONG * 20)
        assert cancels(noted) == cancelled


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


def test_the_last_of_four_loads_of_one_bank_comes_four_cycles_later(machine: str) -> None:
    """Three are issued again, the first of them two cycles later, one in a cycle."""
    apart, together = passes(machine, BANK), passes(machine, ROUND)
    assert apart[1] == 0 and together[1] == 3
    assert together[0] - apart[0] == QUEUED - L2_HIT + 2


def test_a_bank_as_wide_as_everything_makes_all_meet() -> None:
    assert passes("montecito", BANK, ("l2d.banks=1",))[1] == 3


# --- the memo


@pytest.mark.parametrize("seed", range(6))
def test_the_memo_knows_who_meets_whom(machine: str, seed: int) -> None:
    """Loads of other banks in each pass, beside stores and misses: nothing but speed depends on the memo."""
    draw = random.Random(seed)
    head = [f"movl r{24 + number}={DATA + 4096 + BANK * draw.randrange(64):#x}" for number in range(4)]
    steps = [f"xor r{24 + number}={draw.choice((0, 16, 32, 48))},r{24 + number}" for number in range(4)]
    others = [
        "stfd [r24]=f12",
        "ldfd f13=[r20],64",
        "ldfd f14=[r27]",
        "ldfd f15=[r26]",
        "st8 [r25]=r20",
        "mf",
        "ldfd f16=[r24]",
    ]
    code = [*head, *loop([*four_loads(), *steps, "fma.s0 f12=f8,f9,f11", *draw.sample(others, seed)], 60)]
    with_memo, without = (run_code(code, machine, memo=memo) for memo in (True, False))
    assert with_memo.repeated > 0
    assert with_memo.cycles == without.cycles
    assert with_memo.occurrences() == without.occurrences()
