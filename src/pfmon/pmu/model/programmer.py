"""Programming common to all PMUs: the request, the assignment of counters, the checks of thresholds.

A family's module (`ia64_pmu.py`, `intel.py`, `amd.py`, `powerpc.py`) adds its registers, a processor's
(`targets/NAME/programmer.py`) its rules. The data of a PMU are in its `Target`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from pfmon.errors import BadValueError, RuleError
from pfmon.pmu.model.assignment import assign, events_need_free_counters
from pfmon.pmu.model.event_table import Event, EventTable
from pfmon.pmu.model.monitors import CounterDecoder
from pfmon.pmu.model.programming import Monitor, Programming, RangeProgramming
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.pmu.qualify.qualifier import Qualification
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.pmu.registers.register_tables import RegisterSet
from pfmon.pmu.target import Target

FEATURES = ("irange", "drange", "iear", "dear", "branch_buffer", "ip_ear", "last_branches")
FEATURE_NAMES = {
    "irange": "code ranges (--irange, --checkpoint-func)",
    "drange": "data ranges (--drange)",
    "opcodes": "opcode matchers (--opc-match...)",
    "controls": "control fields (--controls)",
    "last_branches": "last branch records (--branch-filter)",
    "preload": "counters that can be loaded (--preload)",
}
EVENT_OPTIONS = {
    "mesi": "line states (EVENT:MESI), Montecito's",
    "all_threads": "counting for all threads (--all-threads), Montecito's",
    "edge": "edge detection (--edge), Intel's and AMD's",
    "invert": "inversion (--invert), Intel's and AMD's",
}
"""Options of events that only some PMUs have, with these PMUs."""


class Programmer(ABC):
    """One run of `program`: collects register writes step by step.

    Subclasses name the classes of register file, qualification and decoder, and implement the steps.
    """

    register_file: ClassVar[type[RegisterFile]]
    qualification: ClassVar[type[Qualification]]
    decoder: ClassVar[type[CounterDecoder]]

    def __init__(self, target: Target, request: Request, events: EventTable, registers: RegisterSet) -> None:
        self.target = target
        self.request = request._replace(events=tuple(with_states(events, one) for one in request.events))
        self.table = events
        self.registers = registers
        self.events = [events[wanted.name] for wanted in self.request.events]
        self.writes: dict[str, int] = {}
        self.pmds: list[int] = []
        self.irange: RangeProgramming | None = None
        self.drange: RangeProgramming | None = None

    @classmethod
    def data_name(cls, number: int) -> str:
        """Return a data register's name in the manuals."""
        return f"PMD{number}"

    def run(self) -> Programming:
        """Run all steps: checks, counters, then everything else."""
        self.check()
        monitors = self.program_counters()
        self.program_features()
        writes = {**breakpoints("ibr", self.irange), **breakpoints("dbr", self.drange), **self.writes}
        return Programming(self.target.name, writes, monitors, tuple(self.pmds), self.irange, self.drange)

    # Steps implemented by a family or a processor.

    def assignment(self, allowed: Sequence[Sequence[int]]) -> list[int] | None:
        """Return a counter for every event, or None."""
        return assign(allowed, [{}])

    def allowed(self, event: Event, wanted: EventRequest) -> list[int]:
        """Return the counters that can count an event."""
        return [n for n in event.counters if n in self.target.counters and n not in self.request.unavailable]

    def group_rules(self) -> None:  # noqa: B027  # optional step
        """Check events against one another."""

    @abstractmethod
    def monitor(self, event: Event, wanted: EventRequest, number: int) -> Monitor:
        """Return the setting of an event's counter."""

    @abstractmethod
    def program_monitor(self, monitor: Monitor) -> None:
        """Record the register writes of one counter."""

    def program_features(self) -> None:  # noqa: B027  # optional step
        """Program everything beside the counters."""

    # Common steps.

    def check(self) -> None:
        """Check every rule that does not depend on the assignment."""
        default_plm_must_not_be_zero(self.request.plm)
        self.check_features()
        for event, wanted in self.requested():
            for option in EVENT_OPTIONS:
                event_option_must_exist(event, option, bool(getattr(wanted, option)), self.target.event_options)
        if self.request.check_thresholds:
            self.check_thresholds()

    def check_thresholds(self) -> None:
        """Check the thresholds of events."""
        for event, wanted in self.requested():
            threshold_is_below_max_increment(event, wanted.threshold)

    def check_features(self) -> None:
        """Check that the PMU has every requested feature."""
        wanted = [name for name in FEATURES if getattr(self.request, name) is not None]
        wanted += ["opcodes"] if any(self.request.opcodes) else []
        wanted += [name for name in ("controls", "preload") if getattr(self.request, name)]
        wanted += ["privileged monitors (--system-wide)"] if self.request.system_wide else []
        for name in wanted:
            feature_must_exist(name, self.target.features, self.target.name)

    def requested(self) -> list[tuple[Event, EventRequest]]:
        """Return the events with their requests."""
        return list(zip(self.events, self.request.events, strict=True))

    def plm(self, plm: int | None) -> int:
        """Return a privilege level mask, by default the request's."""
        return plm or self.request.plm

    def program_counters(self) -> tuple[Monitor, ...]:
        """Assign the events and write their configuration registers."""
        self.group_rules()
        allowed = [self.allowed(event, wanted) for event, wanted in self.requested()]
        found = self.assignment(allowed)
        if found is None:
            raise events_need_free_counters([event.name for event in self.events], allowed, self.target.counter_source)
        monitors = tuple(
            self.monitor(event, wanted, number) for (event, wanted), number in zip(self.requested(), found, strict=True)
        )
        for monitor in monitors:
            self.program_monitor(monitor)
            self.pmds.append(monitor.pmd)
        return monitors


def with_states(events: EventTable, wanted: EventRequest) -> EventRequest:
    """Return the request of an event; if perf's name stands for an event with line states, with these."""
    generic = None if wanted.mesi else events.generic(wanted.name)
    return wanted._replace(mesi=generic.states) if generic else wanted


def breakpoints(kind: str, programmed: RangeProgramming | None) -> dict[str, int]:
    """Return the writes of breakpoint registers (`ibr` or `dbr`) for ranges."""
    return {f"{kind}{index}": value for index, value in programmed.registers} if programmed else {}


def feature_must_exist(name: str, features: Sequence[str], pmu: str) -> None:
    """Ranges, opcode matchers, event address registers, branch buffers and controls exist on some PMUs only."""
    if name not in features:
        said = FEATURE_NAMES.get(name, name)
        raise RuleError("feature_must_exist", f"{pmu} has no {said}; it has {', '.join(features) or 'counters only'}")


def event_option_must_exist(event: Event, option: str, used: bool, options: Sequence[str]) -> None:
    """MESI states and all threads exist on Montecito only, edge and inversion on Intel's and AMD's PMUs only."""
    if used and option not in options:
        raise RuleError(
            "event_option_must_exist", f"{event.name}: this PMU has no {EVENT_OPTIONS[option]}; leave it out"
        )


def default_plm_must_not_be_zero(plm: int) -> None:
    """A mask of no levels disables the monitor (Montecito manual table 3-5, plm)."""
    if not plm:
        raise BadValueError(
            "no privilege level is selected: a mask of zero disables the monitor", "default_plm_must_not_be_zero"
        )


def threshold_is_below_max_increment(event: Event, threshold: int) -> None:
    """Legal thresholds are 0 to the maximum increment minus one (pfmon on Itanium 2, section 3)."""
    top = max(event.max_increment - 1, 0)
    if not 0 <= threshold <= top:
        raise BadValueError(
            f"threshold {threshold} of {event.name} is out of range: legal are 0-{top}"
            if top
            else f"{event.name} counts at most one a cycle: its only legal threshold is 0",
            "threshold_is_below_max_increment",
        )
