"""Qualified counting: what the events of one programming come to, read from its register values."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pfmon.pmu.event import Event
from pfmon.pmu.qualify import Qualifier
from pfmon.session.attribution import Blocks, BlockTotals, block_totals, increments
from pfmon.session.tags import Tags
from pfmon.stream.data_tally import DataTally
from pfmon.stream.shapes import ShapeTable
from pfmon.stream.tally import Tally


class Contribution(NamedTuple):
    """What one instruction of a block added to one event. ``number`` is the instruction's, or NO_INSTRUCTION."""

    event: int
    totals: BlockTotals
    number: int
    increment: int


def make_tally(qualifier: Qualifier, shapes: ShapeTable, traced: bool = False) -> Tally:
    """The reader of the stream that a programming needs; data ranges need one with addresses in it. ``traced``: it has
    them anyway."""
    ranges = qualifier.data_blocks()
    return Tally(shapes, traced) if ranges is None else DataTally(shapes, ranges)


def contributions(
    qualifier: Qualifier, events: Sequence[Event], blocks: Blocks, tally: Tally
) -> Iterator[Contribution]:
    """Everything that the monitors of the events count, by instruction.

    A mark (a register spilled, a misaligned access, a failed check) is qualified by the instruction that caused it:
    that instruction's tags travel with it down the pipeline (Montecito manual section 3.2.3.1).
    """
    tags = Tags(qualifier)
    ranged = qualifier.data_blocks() is not None
    if ranged and not isinstance(tally, DataTally):
        raise TypeError("data ranges are programmed: the stream's addresses are wanted")
    for totals in block_totals(blocks, tally):
        for place, event in enumerate(events):
            for number, increment in increments(event.signal, totals, ranged and event.dar):
                if tags.passes(event, totals.instruction(number)):
                    yield Contribution(place, totals, number, increment)
