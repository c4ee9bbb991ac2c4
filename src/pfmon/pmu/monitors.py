"""What each counter of an Itanium counts, read from register contents alone.

`read_counters` is the inverse of programming: from the configuration registers to events, levels and thresholds,
whoever wrote them. What is different in each processor is a `CounterDecoder` beside its registers and rules
(`itanium.py`, `itanium2.py`, `montecito.py`).
"""

from __future__ import annotations

from pfmon.errors import PfmonError, RuleError
from pfmon.light_typing import NamedTuple
from pfmon.pmu.file import RegisterFile
from pfmon.pmu.programming import Monitor
from pfmon.pmu.values import RegisterValues

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pfmon.pmu.event import Event, EventTable
    from pfmon.pmu.model import PmuModel

Encoding = tuple[int, int]
"""An event code and a unit mask."""


class Unknown(NamedTuple):
    """A counter that is switched on and counts nothing that the event table names: where, what is in es and umask, and
    why no event is found."""

    pmd: int
    code: int
    umask: int
    reason: str


class Reading(NamedTuple):
    """What the counters are set to: the monitors that are switched on, by counter, and those whose event is unknown.
    A counter that is switched off (plm 0, Montecito manual table 3-5) is in neither."""

    monitors: tuple[Monitor, ...]
    unknown: tuple[Unknown, ...]


class CounterDecoder:
    """Finds the events of one processor's counters; a processor's class fills in what it does otherwise."""

    def __init__(self, events: EventTable, counters: Iterable[int], values: RegisterValues) -> None:
        self.events = events
        self.counters = tuple(counters)
        self.values = values

    # What a processor fills in.

    def umask(self, number: int, event: Event, own: int) -> int:
        """The unit mask that holds for a counter; ``event`` is one of those with the counter's code."""
        return own

    def heads(self, number: int, event: Event) -> int | None:
        """The counter whose event selects the set of the event's group; None: the event belongs to no set."""
        return None

    def all_threads(self, number: int, event: Event, fields: Mapping[str, int]) -> bool:
        """Whether a counter, with these fields, counts for both threads."""
        return False

    def ear_setting(self, kind: str) -> tuple[str, int] | None:
        """Mode and unit mask of an event address register (`iear`, `dear`); None: it captures nothing."""
        return None

    # Common to all.

    def read(self) -> Reading:
        """All counters."""
        found = [self._counter(number) for number in self.counters if self.values.field(f"pmc{number}", "plm")]
        return Reading(
            tuple(one for one in found if isinstance(one, Monitor)),
            tuple(one for one in found if isinstance(one, Unknown)),
        )

    def _counter(self, number: int) -> Monitor | Unknown:
        """One counter that is switched on."""
        event = self.event(number)
        fields = self.values.fields(f"pmc{number}")
        reason = self._contradiction(number, event) if event else "no event has this code and unit mask"
        if event is None or reason:
            return Unknown(number, fields["es"], fields["umask"], reason)
        return Monitor(
            event,
            number,
            number,
            fields["plm"],
            bool(fields["pm"]),
            fields["ism"],
            fields["threshold"],
            bool(fields["oi"]),
            self.all_threads(number, event, fields),
            fields.get("mesi", 0) if event.mesi else 0,
            bool(fields["ev"]),
        )

    def event(self, number: int) -> Event | None:
        """The event of a counter, the canonical one of several names; None if there is none."""
        fields = self.values.fields(f"pmc{number}")
        alike = self.events.canonical(fields["es"])
        if not alike:
            return None
        if kind := self.events.ear_kind(fields["es"]):
            return self._ear_event(kind, fields["es"])
        if len(alike) == 1 and not alike[0].umask:
            return alike[0]
        umask = self.umask(number, alike[0], fields["umask"])
        return next((event for event in alike if event.umask == umask), None)

    def _ear_event(self, kind: str, code: int) -> Event | None:
        """The event that counts an event address register's captures: the one of its mode and unit mask, if there is
        one. The counter's own unit mask has no part in it."""
        setting = self.ear_setting(kind)
        captures = f"{kind}_{setting[0]}" if setting else "-"
        umask = setting[1] if setting else 0
        members = self.events.with_code(code)
        for wanted in ((captures, umask), ("-", 0)):
            for event in members:
                if (event.ear, event.umask) == wanted:
                    return event
        return None

    def _contradiction(self, number: int, event: Event) -> str:
        """Why a counter cannot count its event, or ""."""
        if number not in event.counters:
            return f"{event.name} cannot be counted on PMD{number}"
        head = self.heads(number, event)
        if head is None or head == number:
            return ""
        selecting = self.event(head)
        if selecting is None or selecting.set != event.set:
            return f"{event.name} is of set {event.set}, which PMC{head} does not select"
        return ""


def read_counters(model: PmuModel, registers: RegisterFile | Mapping[str, int]) -> Reading:
    """What register contents make each counter count.

    ``registers`` are a register file, or values by name; registers that are not given are in the reset state.
    """
    decoder = model.programmer.decoder
    if decoder is None:
        raise PfmonError(f"{model.name}: its counters are not read from registers")
    values = registers.contents() if isinstance(registers, RegisterFile) else registers
    return decoder(model.events, model.bank.numbers, RegisterValues(model.registers, values)).read()


def monitors(model: PmuModel, registers: RegisterFile | Mapping[str, int]) -> tuple[Monitor, ...]:
    """The monitors that are switched on. RuleError: one of them counts no event that is known."""
    reading = read_counters(model, registers)
    counters_count_known_events(reading.unknown)
    return reading.monitors


def counters_count_known_events(unknown: Iterable[Unknown]) -> None:
    """A counter with a reserved event code counts nothing that has a name (Montecito manual table 3-6, es)."""
    for one in unknown:
        raise RuleError(
            "counters_count_known_events",
            f"PMC{one.pmd}: event code 0x{one.code:x} with unit mask 0x{one.umask:x}: {one.reason}",
            "Montecito manual table 3-6",
        )
