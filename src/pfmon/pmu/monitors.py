"""What each counter counts, read from register contents alone.

`read_counters` is the inverse of programming: from the configuration registers to events, levels and thresholds,
whoever wrote them. What is different in each processor is a `CounterDecoder` beside its registers and rules
(`itanium.py`, `itanium2.py`, `montecito.py`, `intel.py`, `powerpc.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from pfmon.errors import RuleError
from pfmon.light_typing import NamedTuple
from pfmon.pmu.file import RegisterFile
from pfmon.pmu.values import RegisterValues

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pfmon.pmu.event import EventTable
    from pfmon.pmu.model import PmuModel
    from pfmon.pmu.programming import Monitor


class Unknown(NamedTuple):
    """A counter that is switched on and counts nothing that the event table names: where, event code and unit mask, why
    no event is found; the register that selects it, and where the manual says so."""

    pmd: int
    code: int
    umask: int
    reason: str
    register: str
    source: str


class Reading(NamedTuple):
    """What the counters are set to: the monitors that are switched on, by counter, and those whose event is unknown.
    A counter that is switched off (plm 0, Montecito manual table 3-5; Intel's enables) is in neither."""

    monitors: tuple[Monitor, ...]
    unknown: tuple[Unknown, ...]


class CounterDecoder(ABC):
    """Finds what one processor's counters are set to; a family's class says how (`ia64.py`, `intel.py`, ...)."""

    def __init__(self, events: EventTable, counters: Iterable[int], values: RegisterValues) -> None:
        self.events = events
        self.counters = tuple(counters)
        self.values = values

    @abstractmethod
    def read(self) -> Reading:
        """All counters."""


def read_counters(model: PmuModel, registers: RegisterFile | Mapping[str, int]) -> Reading:
    """What register contents make each counter count.

    ``registers`` are a register file, or values by name; registers that are not given are in the reset state.
    """
    decoder = model.programmer.decoder
    values = registers.contents() if isinstance(registers, RegisterFile) else registers
    return decoder(model.events, model.bank.numbers, RegisterValues(model.registers, values)).read()


def monitors(model: PmuModel, registers: RegisterFile | Mapping[str, int]) -> tuple[Monitor, ...]:
    """The monitors that are switched on. RuleError: one of them counts no event that is known."""
    reading = read_counters(model, registers)
    counters_count_known_events(reading.unknown)
    return reading.monitors


def counters_count_known_events(unknown: Iterable[Unknown]) -> None:
    """A counter with a reserved event code counts nothing that has a name (Montecito manual table 3-6, es; Intel SDM
    volume 3 section 30.2.1.1)."""
    for one in unknown:
        raise RuleError(
            "counters_count_known_events",
            f"{one.register}: event code 0x{one.code:x} with unit mask 0x{one.umask:x}: {one.reason}",
            one.source,
        )
