"""Counting: from a stream's totals to the values of a PMU's counters."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from pfmon.errors import PfmonError
from pfmon.pmu.event import Event
from pfmon.pmu.model import PmuModel
from pfmon.pmu.programming import Programming
from pfmon.retirement.blocks import BlockRecord
from pfmon.retirement.tally import Tally
from pfmon.session.counters import VirtualCounters
from pfmon.signals import retired


class Count(NamedTuple):
    """What one event came to: the name as the PMU has it, the PMD, the privilege levels, the value."""

    name: str
    pmd: int
    plm: int
    value: int


class Blocks(Protocol):
    """Where the records of blocks come from."""

    def block_count(self) -> int:
        """How many blocks have numbers."""

    def block(self, number: int) -> BlockRecord:
        """The record of one."""


USER = 1 << 3
"""The bit of plm for privilege level 3, at which programs run."""


def check_countable(event: Event) -> None:
    """PfmonError for an event whose signal nothing produces."""
    if event.fidelity == "unmodelled":
        raise PfmonError(f"{event.name} is not modelled: {event.reason}")
    if event.signal not in retired.available():
        raise PfmonError(
            f"{event.name} is decided by the machine (its time, caches or predictors), which this version "
            "does not simulate; events that architecture decides can be counted, such as IA64_INST_RETIRED"
        )


class Counting:
    """One event set on one PMU."""

    def __init__(self, model: PmuModel, events: Iterable[str], plm: str = "u") -> None:
        """Program the PMU; PfmonError when an event is unknown or not countable, or no assignment exists."""
        requests = list(events)
        for name in requests:
            check_countable(model.events[name])
        self.programming: Programming = model.program(requests, plm=plm)
        self.counters = VirtualCounters(model.register_file(), self.programming)

    def take(self, blocks: Blocks, tally: Tally) -> None:
        """Add what a run's totals come to."""
        signals = [monitor.signal for monitor in self.programming.monitors if monitor.plm & USER]
        totals = signal_totals(signals, blocks, tally)
        for monitor in self.programming.monitors:
            if monitor.plm & USER:
                self.counters.add(monitor, totals[monitor.signal])

    def counts(self) -> list[Count]:
        """The values, in the order in which the events were asked for."""
        return [
            Count(monitor.event.name, monitor.pmd, monitor.plm, self.counters.value(monitor))
            for monitor in self.programming.monitors
        ]


def signal_totals(signals: Sequence[str], blocks: Blocks, tally: Tally) -> dict[str, int]:
    """The increments of each signal in everything that the tally has seen."""
    totals = dict.fromkeys(signals, 0)
    for number in range(blocks.block_count()):
        runs = tally.runs(number)
        if runs:
            record = blocks.block(number)
            executed = tally.executed(number)
            for signal in totals:
                totals[signal] += block_increments(signal, record, runs, executed)
    for signal in totals:
        totals[signal] += sum(part(tally) for part in retired.MARKS.get(signal, ()))
    return totals


def block_increments(signal: str, record: BlockRecord, runs: int, executed: Sequence[int]) -> int:
    """What ``runs`` of a block add to a signal; ``executed[i]`` of them had its condition i true."""
    total = 0
    if whole := retired.BLOCKS.get(signal):
        total += runs * whole(record)
    if weigh := retired.WEIGHTS.get(signal):
        for instruction in record.instructions:
            weight = weigh(instruction)
            held = runs if instruction.condition is None else executed[instruction.condition]
            total += runs * weight.retired + held * weight.executed
    return total
