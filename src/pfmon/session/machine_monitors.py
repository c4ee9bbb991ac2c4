"""Monitors that count what the machine decides: cycles, misses, stalls, mispredictions, and thresholds on any event."""

from collections.abc import Iterator, Sequence

from pfmon.errors import PfmonError
from pfmon.pmu.event import Event
from pfmon.pmu.programming import Monitor
from pfmon.pmu.qualify import Qualifier
from pfmon.session.attribution import Blocks, BlockTotals
from pfmon.session.machine_counts import MachineCounts, Place
from pfmon.session.per_cycle import PerCycle, check_threshold
from pfmon.session.qualified import Contribution
from pfmon.session.tags import Tags
from pfmon.signals import machine, retired
from pfmon.stream.blocks import BlockRecord, InstructionRecord
from pfmon.stream.marks import NO_INSTRUCTION

CYCLE_BY_CYCLE = ("per_cycle", "qualified", "stops")
"""Kinds of signals that need a look at single cycles even without a threshold."""


def check_countable(event: Event) -> None:
    """PfmonError for an event whose signal nothing produces."""
    if event.fidelity == "unmodelled":
        raise PfmonError(f"{event.name} is not modelled: {event.reason}")
    if event.signal not in retired.available() and event.signal not in machine.meanings():
        raise PfmonError(f"{event.name} cannot be counted: nothing produces {event.signal}")


def check_monitor(monitor: Monitor) -> None:
    """PfmonError for a threshold that cannot be honoured."""
    check_threshold(monitor.event, monitor.threshold)


def needs_machine(monitor: Monitor) -> bool:
    """Whether architecture alone does not tell what a monitor counts."""
    if monitor.threshold:
        return True
    if monitor.signal in retired.available():  # without a look at the machine's signals: that takes long
        return False
    meaning = machine.meanings().get(monitor.signal)
    return meaning is not None and meaning.kind != "never"


class Records:
    """Records of blocks, made once."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._records: dict[int, BlockRecord] = {}
        self._totals: dict[int | None, BlockTotals] = {None: BlockTotals(None, 0, (), {}, {})}

    def block_count(self) -> int:
        return self._blocks.block_count()

    def block(self, number: int) -> BlockRecord:
        if number not in self._records:
            self._records[number] = self._blocks.block(number)
        return self._records[number]

    def totals(self, number: int | None) -> BlockTotals:
        """A block in the form of what a run did in it; the machine's counts say what and how often."""
        if number not in self._totals and number is not None:
            self._totals[number] = BlockTotals(self.block(number), 0, (), {}, {})
        return self._totals[number]

    def instruction(self, place: Place) -> InstructionRecord | None:
        block, number = place
        return None if block is None or number == NO_INSTRUCTION else self.block(block).instructions[number]


def machine_contributions(
    qualifier: Qualifier, monitors: Sequence[Monitor], blocks: Blocks, counts: MachineCounts
) -> Iterator[Contribution]:
    """Everything that the monitors count, by instruction. Contribution.event is the number of the monitor."""
    records, tags = Records(blocks), Tags(qualifier)
    per_cycle = PerCycle(counts, records, tags)
    in_ranges = qualifier.data_blocks() is not None
    for number, monitor in enumerate(monitors):
        event = monitor.event
        ranged = in_ranges and event.dar
        states = monitor.mesi if event.mesi else None
        meaning = machine.meanings().get(event.signal)
        if monitor.threshold or (meaning and meaning.kind in CYCLE_BY_CYCLE):
            found = per_cycle.increments(event, monitor.threshold, ranged, states)
        else:
            found = (
                (place, increment)
                for place, increment in counts.increments(event.signal, ranged, states)
                if tags.passes(event, records.instruction(place))
            )
        for place, increment in found:
            if increment:
                yield Contribution(number, records.totals(place[0]), place[1], increment)
