"""The plain recount of a machine's records, which others are compared with: made-up cycles, counted by hand."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from guests import SMALL, guest, quiet
from plain_counts import BACK, FRONT, LOST, NOBODY, Part, PlainCounts

from pfmon.counting.totals.record_query import occurrences_of
from pfmon.errors import PfmonError
from pfmon.machine._machine import Cause, FrontCause, Occurrence
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, RangeRequest, Request
from pfmon.session.run.programmed_pmu import ProgrammedPmu
from pfmon.stream._stream import Consumer


class Record:
    """What a machine would give, as plain data."""

    def __init__(
        self,
        *,
        groups: Sequence[tuple[Sequence[Part], int]] = (),
        bubbles: Mapping[int, Sequence[tuple[int | None, int, int, int]]] | None = None,
        levels: Mapping[str, Sequence[int]] | None = None,
        left: int = 0,
    ) -> None:
        self._groups, self._bubbles, self._levels, self._left = groups, bubbles or {}, levels or {}, left

    def time(self) -> tuple[int, int]:
        cycles = sum(count for _, count in self._groups) + sum(cycles for *_, cycles in self.bubbles(BACK))
        return cycles, cycles // 8

    def kernel_clock(self) -> int:
        return 0

    def occurrences(self) -> Mapping[tuple[int | None, int, int, int], int]:
        found: dict[tuple[int | None, int, int, int], int] = {}
        for parts, count in self._groups:
            for block, _, _, _, notes in parts:
                for instruction, occurrence, inside, times in notes:
                    key = (block, instruction, occurrence, inside)
                    found[key] = found.get(key, 0) + times * count
        return found

    def bubbles(self, kind: int) -> Sequence[tuple[int | None, int, int, int]]:
        return self._bubbles.get(kind, ())

    def levels(self) -> Mapping[str, Sequence[int]]:
        return self._levels

    def groups(self) -> Iterable[tuple[Sequence[Part], int]]:
        return self._groups

    def dispersal(self) -> Iterable[tuple[int | None, int, int, int]]:
        return [(parts[-1][0], parts[-1][2], self._left, count) for parts, count in self._groups]


@pytest.fixture(scope="module")
def program() -> Any:
    """A finished run: blocks to refer to."""
    started = guest("fib", SMALL["fib"])
    with quiet():
        started.run(Consumer())
    started.close()
    return started


def longest(blocks: Any) -> int:
    """A block of several bundles."""
    return max(range(blocks.block_count()), key=lambda number: len(blocks.block(number).instructions))


def count(program: Any, record: Record, event: str, pmu: str = "montecito", **request: Any) -> int:
    """What one event comes to."""
    options = {name: request.pop(name) for name in ("threshold", "mesi") if name in request}
    counting = ProgrammedPmu(get(pmu), Request((EventRequest(event, **options),), **request))
    (monitor,) = counting.unit.monitors
    return plain(program, record, counting).count(monitor)


def plain(program: Any, record: Record, counting: ProgrammedPmu) -> PlainCounts:
    registers = counting.counters.registers
    return PlainCounts(record, program.table.block, get(counting.programming.pmu), registers.contents(), 2)


def test_occurrences_add_up_over_cycles(program: Any) -> None:
    miss, write = int(Occurrence.L1D_READ_MISS), int(Occurrence.L2_DATA_WRITE)
    record = Record(groups=[(((0, 0, 1, 3, [(0, miss, 0, 1), (1, miss, 0, 1), (1, write, 0, 1)]),), 5)])
    assert count(program, record, "L1D_READ_MISSES_ALL") == 10
    assert count(program, record, "L2D_REFERENCES_WRITES") == 5


def test_a_threshold_counts_cycles_with_more(program: Any) -> None:
    """Montecito manual 3.2.1.3: a threshold t counts the cycles in which the increment exceeds t."""
    miss = int(Occurrence.L2_DATA_MISS)
    cycles_by_misses = {1: 7, 2: 5, 3: 3, 4: 2}
    record = Record(
        groups=[
            (((0, 0, 3, 15, [(n, miss, 0, 1) for n in range(misses)]),), cycles)
            for misses, cycles in cycles_by_misses.items()
        ]
    )
    total = count(program, record, "L2D_INSERT_MISSES")
    over = [count(program, record, "L2D_INSERT_MISSES", threshold=t) for t in (1, 2, 3)]
    at_least_one = sum(cycles_by_misses.values())
    assert over == [10, 5, 2]
    assert total == at_least_one + sum(over), "a histogram by threshold sums up to the total"


def test_a_threshold_on_retired_instructions_looks_at_what_issued_together(program: Any) -> None:
    blocks = program.processor
    block = longest(blocks)
    record = Record(
        groups=[
            (((block, 0, 5, 63, ()),), 4),  # six instructions of a block
            (((0, 0, 1, 3, ()), (block, 0, 0, 1, ())), 10),  # two of one and the first of the next
            (((block, 0, 0, 1, ()),), 100),
        ]
    )
    assert [count(program, record, "IA64_INST_RETIRED", threshold=t) for t in (1, 2, 3, 5)] == [14, 14, 4, 4]


def test_an_instruction_that_is_predicated_off_retires_and_does_not_execute(program: Any) -> None:
    blocks = program.processor
    block, place = next(
        (number, place)
        for number in range(blocks.block_count())
        for place, one in enumerate(blocks.block(number).instructions)
        if one.qp and one.row and one.row.units != ("B",)
    )
    on = Record(groups=[(((block, place, place, 1, ()),), 3)])
    off = Record(groups=[(((block, place, place, 0, ()),), 3)])
    for record, squashed in ((on, 0), (off, 3)):
        assert count(program, record, "CPU_OP_CYCLES_QUAL") == 3
        doubled = Record(groups=[(tuple(parts) * 2, cycles) for parts, cycles in record.groups()])
        assert count(program, doubled, "PREDICATE_SQUASHED_RETIRED", threshold=1) == squashed


def test_the_worked_table_of_the_manual(program: Any) -> None:
    """Montecito manual table 3-1: five requests that arrive one a cycle and stay for three."""
    arrivals, latency, cycles = [1, 2, 3, 4, 5], 3, 8
    live = [sum(start <= cycle < start + latency for start in arrivals) for cycle in range(1, cycles + 1)]
    assert live == [1, 2, 3, 3, 3, 2, 1, 0]
    histogram = [live.count(number) for number in range(17)]
    inserted = int(Occurrence.BUS_READ_DATA)
    record = Record(groups=[(((0, 0, 0, 1, [(0, inserted, 0, 1)]),), 5)], levels={"BRQ": histogram})
    n_live = count(program, record, "ER_BRQ_LIVE_REQ_LO") + 8 * count(program, record, "ER_BRQ_LIVE_REQ_HI")
    n_total = count(program, record, "ER_BRQ_REQ_INSERTED")
    assert (n_live, n_total) == (15, 5)
    assert n_live / cycles == 15 / 8
    assert n_live / n_total == 3
    over = [count(program, record, "ER_BRQ_LIVE_REQ_LO", threshold=t) for t in (1, 2)]
    assert over == [5, 3]
    busy = sum(1 for number in live if number)
    assert busy + sum(over) == n_live


def test_mesi_states_choose_among_occurrences(program: Any) -> None:
    names = ("L3_DATA_READ_HIT_S", "L3_DATA_READ_HIT_E", "L3_DATA_READ_HIT_M", "L3_DATA_READ_MISS_I")
    numbers = {name: int(Occurrence[name]) for name in names}
    notes = [(0, number, 0, times) for number, times in zip(numbers.values(), (1, 10, 100, 1000), strict=True)]
    record = Record(groups=[(((0, 0, 0, 1, notes),), 1)])
    found = {
        states: count(program, record, "L3_READS_DATA_READ_ALL", mesi=states)
        for states in ("S", "E", "M", "I", "ME", "MESI")
    }
    assert found == {"S": 1, "E": 10, "M": 100, "I": 1000, "ME": 110, "MESI": 1111}


def test_states_are_a_bit_each() -> None:
    names = {int(value): name for name, value in Occurrence.__members__.items()}
    for bit, letter in enumerate("ISEM"):
        chosen = occurrences_of("l3_reads.all_all", 1 << bit)
        assert chosen and all(names[number].endswith(f"_{letter}") for number in chosen)
    assert occurrences_of("l3_reads.all_all", 0) == frozenset()


def test_cycles_are_bubbles_and_cycles_that_retire(program: Any) -> None:
    record = Record(
        groups=[(((0, 0, 0, 1, ()),), 40)],
        bubbles={
            BACK: [(0, 1, int(Cause.GRALL), 30), (0, 2, int(Cause.FE_IMISS), 20), (None, NOBODY, int(Cause.XPN), 10)]
        },
    )
    assert count(program, record, "CPU_OP_CYCLES_ALL") == 100
    assert count(program, record, "BACK_END_BUBBLE_ALL") == 60
    assert count(program, record, "BACK_END_BUBBLE_FE") == 20
    assert count(program, record, "BE_EXE_BUBBLE_ALL") == 30
    assert count(program, record, "BE_FLUSH_BUBBLE_XPN") == 10
    assert count(program, record, "SI_CYCLES") == 12
    assert count(program, record, "DISP_STALLED") == 60


def test_qualified_cycles_are_those_in_which_a_qualified_instruction_retired(program: Any) -> None:
    blocks = program.processor
    block = longest(blocks)
    first, other = blocks.block(block).instructions[0], blocks.block(0).instructions[0]
    assert first.address & ~0xFFF != other.address & ~0xFFF or first.address != other.address
    record = Record(groups=[(((block, 0, 2, 7, ()),), 6), (((0, 0, 0, 1, ()),), 50)])
    bundle = first.address & ~15
    assert count(program, record, "CPU_OP_CYCLES_QUAL") == 56
    assert count(program, record, "CPU_OP_CYCLES_QUAL", irange=RangeRequest(((bundle, bundle + 16),))) == 6


def test_front_end_and_lost_bandwidth_are_kinds_of_their_own(program: Any) -> None:
    miss, full = int(FrontCause.FRONT_IMISS), int(FrontCause.FRONT_IBFULL)
    record = Record(bubbles={FRONT: [(0, 0, miss, 3), (0, 0, full, 5)], LOST: [(0, 0, miss, 7)]})
    assert count(program, record, "FE_BUBBLE_ALL") == 8
    assert count(program, record, "FE_BUBBLE_IMISS") == 3
    assert count(program, record, "FE_BUBBLE_ALLBUT_IBFULL") == 3
    assert count(program, record, "BE_LOST_BW_DUE_TO_FE_IMISS") == 7


def test_syllables_are_read_from_what_dispersal_left_over(program: Any) -> None:
    left = 1 | 2 << 3 | 0 << 6 | 1 << 9 | 1 << 12 | 0 << 14 | 3 << 16
    record = Record(groups=[(((0, 0, 0, 1, ()),), 10)], left=left)
    assert count(program, record, "INST_DISPERSED") == 30
    assert count(program, record, "SYLL_NOT_DISPERSED_ALL") == 40
    assert count(program, record, "SYLL_NOT_DISPERSED_IMPL") == 20
    assert count(program, record, "SYLL_OVERCOUNT_ALL") == 10
    assert count(program, record, "SYLL_NOT_DISPERSED_ALL", threshold=3) == 10
    assert count(program, record, "SYLL_NOT_DISPERSED_ALL", threshold=4) == 0


def test_code_ranges_qualify_what_happened(program: Any) -> None:
    blocks = program.processor
    block = longest(blocks)
    bundle = blocks.block(block).instructions[0].address & ~15
    miss = int(Occurrence.L1D_READ_MISS)
    inside = [n for n, one in enumerate(blocks.block(block).instructions) if one.address & ~15 == bundle]
    notes = [(n, miss, 0, 1) for n in range(6)]
    record = Record(groups=[(((block, 0, 5, 63, notes),), 9)])
    assert count(program, record, "L1D_READ_MISSES_ALL") == 54
    assert count(program, record, "L1D_READ_MISSES_ALL", irange=RangeRequest(((bundle, bundle + 16),))) == 9 * len(
        inside
    )


def test_what_cannot_happen_is_zero_for_a_reason_and_what_is_not_modelled_is_refused(program: Any) -> None:
    assert count(program, Record(), "L2I_UC_READS_ALL_ALL") == 0
    with pytest.raises(PfmonError, match="not modelled"):
        count(program, Record(), "L2I_SPEC_ABORTS")


@pytest.mark.parametrize(
    ("event", "words"),
    [("FE_LOST_BW_ALL", "sums of lost bundles"), ("MISALIGNED_LOADS_RETIRED", "which cycle")],
)
def test_a_threshold_that_cannot_be_honoured_is_refused(program: Any, event: str, words: str) -> None:
    with pytest.raises(PfmonError, match=words):
        count(program, Record(), event, threshold=1)


def test_increments_name_the_instruction(program: Any) -> None:
    miss = int(Occurrence.L1D_READ_MISS)
    record = Record(groups=[(((0, 0, 1, 3, [(1, miss, 0, 1)]),), 5)])
    counting = ProgrammedPmu(get("montecito"), Request((EventRequest("L1D_READ_MISSES_ALL"),)))
    (monitor,) = counting.unit.monitors
    assert plain(program, record, counting).by_place(monitor) == {(0, 1): 5}


def test_registers_that_the_stack_engine_moves_count_in_cycles_of_their_own(program: Any) -> None:
    """Seven at two a cycle: three cycles with two, one with one."""
    read = int(Occurrence.L1D_READ)
    record = Record(groups=[(((0, 1, 0, 0, [(0, read, 0, 1)] * 7),), 10)])
    assert count(program, record, "LOADS_RETIRED", threshold=1) == 30
    assert count(program, record, "RSE_REFERENCES_RETIRED_LOAD", threshold=1) == 30
    assert count(program, record, "STORES_RETIRED", threshold=1) == 0
