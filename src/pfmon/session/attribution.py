"""Who caused what: the increments of a signal, block by block and instruction by instruction."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from pfmon.signals import retired
from pfmon.stream.blocks import BlockRecord, InstructionRecord
from pfmon.stream.data_tally import DataTally
from pfmon.stream.marks import NO_INSTRUCTION, NO_MARKS, MarkSite, MarkTotals
from pfmon.stream.tally import Tally

Increment = tuple[int, int]
"""The number of an instruction in its block (or NO_INSTRUCTION), and what it adds to a signal."""


class Blocks(Protocol):
    """Where the records of blocks come from."""

    def block_count(self) -> int:
        """How many blocks have numbers."""

    def block(self, number: int) -> BlockRecord:
        """The record of one."""


class SiteMarks:
    """The marks that one instruction caused, as retired.Marks; ``ranged``: those in the data ranges only."""

    def __init__(self, sites: Sequence[MarkSite], ranged: bool) -> None:
        self._totals = {site.kind: site.inside if ranged else site.all for site in sites}

    def marks(self, kind: int) -> MarkTotals:
        """Totals of one kind."""
        return self._totals.get(kind, NO_MARKS)


class BlockTotals(NamedTuple):
    """What a run did in one block.

    ``executed[i]`` of the runs had condition i true; ``sites`` are the marks by number of the instruction,
    ``inside`` how many of an instruction's accesses were in the data ranges. ``record`` is None for what happened
    before the first block.
    """

    record: BlockRecord | None
    runs: int
    executed: Sequence[int]
    sites: dict[int, list[MarkSite]]
    inside: dict[int, int]

    def instruction(self, number: int) -> InstructionRecord | None:
        """An instruction of the block; None for NO_INSTRUCTION."""
        return self.record.instructions[number] if self.record and number != NO_INSTRUCTION else None

    def held(self, instruction: InstructionRecord) -> int:
        """How often an instruction's condition held."""
        return self.runs if instruction.condition is None else self.executed[instruction.condition]


def block_totals(blocks: Blocks, tally: Tally) -> Iterator[BlockTotals]:
    """All blocks that ran, and what happened before the first one, if anything did."""
    sites: dict[int | None, dict[int, list[MarkSite]]] = {}
    for site in tally.sites_of_marks():
        sites.setdefault(site.block, {}).setdefault(site.instruction, []).append(site)
    for number in range(blocks.block_count()):
        if runs := tally.runs(number):
            inside = tally.inside(number) if isinstance(tally, DataTally) else {}
            yield BlockTotals(blocks.block(number), runs, tally.executed(number), sites.get(number, {}), inside)
    if None in sites:
        yield BlockTotals(None, 0, (), sites[None], {})


def increments(signal: str, totals: BlockTotals, ranged: bool = False) -> Iterator[Increment]:
    """What the instructions of a block added to a signal; ``ranged``: by accesses in the data ranges only.

    Memory accesses carry the tag of the data ranges (Montecito manual section 3.3.7): what has no address, such as
    chk.a, is in no range.
    """
    if totals.record:
        if weigh := retired.WEIGHTS.get(signal):
            yield from _weighed(weigh, totals, ranged)
        whole = retired.BLOCKS.get(signal)
        if whole and not ranged and (once := whole(totals.record)):
            yield len(totals.record.instructions) - 1, totals.runs * once
    if totals.sites and (parts := retired.MARKS.get(signal)):
        for number, sites in totals.sites.items():
            marks = SiteMarks(sites, ranged)
            if total := sum(part(marks) for part in parts):
                yield number, total


def _weighed(
    weigh: Callable[[InstructionRecord], retired.Weight], totals: BlockTotals, ranged: bool
) -> Iterator[Increment]:
    """Increments of the instructions themselves."""
    assert totals.record
    for number, instruction in enumerate(totals.record.instructions):
        weight = weigh(instruction)
        if weight is retired.NOTHING:
            continue
        if ranged:
            total = weight.executed * totals.inside.get(number, 0)
        else:
            total = totals.runs * weight.retired + totals.held(instruction) * weight.executed
        if total:
            yield number, total
