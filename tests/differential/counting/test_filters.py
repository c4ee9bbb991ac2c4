"""Code ranges and opcode matchers as the loops of counting evaluate them, against filters.py, which says what they
mean."""

import struct
from collections.abc import Sequence

import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from totals import EVERYTHING

from pfmon.counting._counting import CountAccumulator, Increments, Tally, add_totals
from pfmon.pmu.qualify.filters import (
    EVERY_BUNDLE,
    EVERY_OPCODE,
    SLOTS,
    CodeFilter,
    FilteredSignal,
    InstructionFilter,
    OpcodeFilter,
)
from pfmon.stream._stream import BlockTable, Cut, Recorder
from pfmon.stream.marks import Mark
from pfmon.stream.recording.block_records import BlockRecord, InstructionRecord

NOWHERE = 2**64 - 1
LONG = 4  # of a long instruction: I-type for a matcher (Montecito manual table 3-11)
UNITS = (*SLOTS, "i")
OF_NOBODY = 1 << 63 | int(Mark.SPILL) << 56 | 255 << 32 | 2

# Few different addresses and bits, so that filters and instructions often meet.
bundles = st.sampled_from([0, 16, 0x4000, 0x4010, 0x4020, 0x5000, 2**61, 2**64 - 32, 2**64 - 16])
masks = st.sampled_from([0, 2**64 - 1, 2**64 - 16, 2**56 - 16, 2**56 - 4096, 0xFF0, 1 << 63])
encodings = st.one_of(st.integers(0, 2**41 - 1), st.sampled_from([0, 1, 2**40, 2**41 - 1, 0x8000000]))
code_filters = st.one_of(
    st.just(EVERY_BUNDLE),
    st.builds(
        CodeFilter,
        st.just(False),
        st.booleans(),
        st.lists(st.tuples(bundles, masks), max_size=4).map(tuple),
        st.lists(st.tuples(bundles, bundles).map(lambda ends: (min(ends), max(ends))), max_size=4).map(tuple),
    ),
)
opcode_filters = st.one_of(
    st.just(EVERY_OPCODE),
    st.builds(
        OpcodeFilter,
        st.just(False),
        st.sets(st.sampled_from(SLOTS)).map(lambda letters: "".join(sorted(letters, key=SLOTS.index))),
        encodings,
        st.one_of(encodings, st.just(0)),
    ),
)
privileges = st.one_of(st.just(0xFFFF), st.integers(0, 0xFFFF))
inner = st.one_of(st.none(), st.tuples(code_filters, code_filters, code_filters))
filters = st.builds(InstructionFilter, code_filters, opcode_filters, privileges, inner)
Code = tuple[int, int, int, int, int]
"""An instruction: bundle, slot, unit, encoding, the privilege at which it runs."""
instructions = st.tuples(bundles, st.integers(0, 2), st.integers(0, 4), encodings, st.sampled_from([0, 3, 4, 7, 9, 15]))


def block_of(code: Sequence[Code]) -> BlockRecord:
    """A block of instructions; the instruction's own address does not tell it from others."""
    records = [
        InstructionRecord(
            bundle | slot, 0, 0, 0, 16, None, 0, 0, privilege, struct.pack("<QQBB6x", encoding, 0, unit, 0)
        )
        for bundle, slot, unit, encoding, privilege in code
    ]
    return BlockRecord(0, code[0][0], tuple(records), Cut.WHOLE, 0, 0)


def counted(code: Sequence[Code], chosen: Sequence[InstructionFilter]) -> tuple[list[list[int]], list[int]]:
    """For each filter, what each instruction counted that ran once in a block of its own; two registers that none of
    them had stored."""
    table = BlockTable(payload_bytes=24)
    numbers = [table.enter(block_of([one])) for one in code]
    stream, tally = Recorder(), Tally(table)
    stream.load([OF_NOBODY, *numbers])
    stream.replay(tally)
    sink = CountAccumulator(2 * len(chosen), table, by_place=True)
    signals = ("inst_retired", "rse_references.store")
    monitors = [FilteredSignal(signal, one, False) for one in chosen for signal in signals]
    add_totals(tally, Increments(monitors), sink)
    by_block: list[list[int]] = [[] for _ in chosen]
    for one in code:
        alone, single = CountAccumulator(2 * len(chosen), table), Tally(table)
        word = Recorder()
        word.load([numbers[code.index(one)]])
        word.replay(single)
        add_totals(single, Increments(monitors), alone)
        for place in range(len(chosen)):
            by_block[place].append(alone.totals()[2 * place])
    for place, counts in enumerate(by_block):
        assert sink.totals()[2 * place] == sum(counts)
    return by_block, sink.totals()[1::2]


@pytest.mark.slow
@examples(150)
@given(st.lists(instructions, min_size=1, max_size=6, unique=True), st.lists(filters, min_size=1, max_size=8))
def test_filters_let_pass_what_they_mean(code: list[Code], chosen: list[InstructionFilter]) -> None:
    found, calls = counted(code, chosen)
    for one, counts, call in zip(chosen, found, calls, strict=True):
        assert counts == [
            int(
                bool(one.privileges >> privilege & 1)
                and one.codes[privilege & 3].passes(bundle)
                and one.opcode.passes(UNITS[unit], encoding)
            )
            for bundle, _, unit, encoding, privilege in code
        ]
        # No instruction did it: it is at no address, and has no opcode. Before it was a reset, at level 0.
        everything = one.opcode.everything or (not one.opcode.mask and set(one.opcode.slots) == set(SLOTS))
        assert call == 2 * int(one.codes[0].passes(NOWHERE) and everything and one.privileges & 1)


def test_filters_beyond_what_there_is_room_for_are_refused() -> None:
    def with_ranges(count: int) -> InstructionFilter:
        return InstructionFilter(
            CodeFilter(False, False, tuple((16 * n, 2**64 - 16) for n in range(count)), ()), EVERY_OPCODE
        )

    Increments([FilteredSignal("inst_retired", with_ranges(4), False)])
    with pytest.raises(ValueError, match="4 pairs"):
        Increments([FilteredSignal("inst_retired", with_ranges(5), False)])
    different = [
        InstructionFilter(CodeFilter(False, False, ((16 * n, 2**64 - 16),), ()), EVERY_OPCODE) for n in range(65)
    ]
    Increments([FilteredSignal("inst_retired", one, False) for one in different[:64] * 3])
    with pytest.raises(ValueError, match="65 different"):
        Increments([FilteredSignal("inst_retired", one, False) for one in different])


def test_the_filter_of_nothing_is_open() -> None:
    assert EVERYTHING.code.passes(NOWHERE) and EVERYTHING.opcode.everything
