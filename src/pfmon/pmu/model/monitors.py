"""Decoding of each counter's event from register contents alone.

`read_counters` is the inverse of programming: from any configuration register contents to events, levels and
thresholds. Each processor has a `CounterDecoder` beside its registers and rules (`targets/NAME/programmer.py`,
`intel.py`, `powerpc.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pfmon.errors import RuleError
from pfmon.pmu.model.event_table import EventTable
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.pmu.registers.register_tables import RegisterValues

if TYPE_CHECKING:
    from pfmon.pmu.model.pmu_model import PmuModel


class UnknownMonitor(NamedTuple):
    """An enabled counter whose selection is not in the event table: its number, event code and unit mask, the reason;
    the selecting register, and the manual's section."""

    pmd: int
    code: int
    umask: int
    reason: str
    register: str
    source: str


class MonitorReading(NamedTuple):
    """The decoded counters: the enabled monitors, by counter, and those whose event is unknown. A disabled counter (plm
    0, Montecito manual table 3-5; Intel's enables) is in neither."""

    monitors: tuple[Monitor, ...]
    unknown: tuple[UnknownMonitor, ...]


class CounterDecoder(ABC):
    """Decodes one processor's counters; implemented by each family (`ia64_pmu.py`, `intel.py`, ...)."""

    def __init__(self, events: EventTable, counters: Iterable[int], values: RegisterValues) -> None:
        self.events = events
        self.counters = tuple(counters)
        self.values = values

    @abstractmethod
    def read(self) -> MonitorReading:
        """Decode all counters."""


def read_counters(model: PmuModel, registers: RegisterFile | Mapping[str, int]) -> MonitorReading:
    """Return the event of each counter under register contents.

    ``registers`` are a register file, or values by name; registers that are not given are in the reset state.
    """
    decoder = model.programmer.decoder
    values = registers.contents() if isinstance(registers, RegisterFile) else registers
    return decoder(model.events, model.bank.numbers, RegisterValues(model.registers, values)).read()


def monitors(model: PmuModel, registers: RegisterFile | Mapping[str, int]) -> tuple[Monitor, ...]:
    """Return the enabled monitors. RuleError: one of them counts no known event."""
    reading = read_counters(model, registers)
    counters_count_known_events(reading.unknown)
    return reading.monitors


def counters_count_known_events(unknown: Iterable[UnknownMonitor]) -> None:
    """A counter with a reserved event code counts no known event (Montecito manual table 3-6, es; Intel SDM volume 3
    section 30.2.1.1)."""
    for one in unknown:
        raise RuleError(
            "counters_count_known_events",
            f"{one.register}: event code 0x{one.code:x} with unit mask 0x{one.umask:x}: {one.reason}",
            one.source,
        )
