"""Event select registers, as Intel's and AMD's PMUs have them: one for each counter, with an event's code and unit
mask, levels, CMASK, INV and edge detection. intel.py and amd.py have what differs."""

from __future__ import annotations

from abc import abstractmethod

from pfmon.errors import RuleError
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.monitors import CounterDecoder, MonitorReading, UnknownMonitor
from pfmon.pmu.model.programmer import Programmer
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.model.request import EventRequest
from pfmon.pmu.registers.msr_file import USER_LEVELS

NO_CONDITION = (0, False, False)


class EventSelectDecoder(CounterDecoder):
    """Counters with a select register each."""

    def read(self) -> MonitorReading:
        """Decode all enabled counters."""
        found = [self.counter(number) for number in self.counters if self.levels(number)]
        return MonitorReading(
            tuple(one for one in found if isinstance(one, Monitor)),
            tuple(one for one in found if isinstance(one, UnknownMonitor)),
        )

    @abstractmethod
    def levels(self, number: int) -> int:
        """Return the privilege levels at which a counter counts; 0: it is disabled."""

    @abstractmethod
    def event(self, number: int) -> Event | None:
        """Return the event that a counter counts; None: there is no such event."""

    @abstractmethod
    def counter(self, number: int) -> Monitor | UnknownMonitor:
        """Decode one enabled counter."""


class EventSelectProgrammer(Programmer):
    """The settings of counters with a select register each."""

    def check_thresholds(self) -> None:
        """Check CMASK, which replaces thresholds: any value of its field is legal, and INV needs one."""
        for event, wanted in self.requested():
            invert_needs_a_threshold(event, wanted)
            an_events_own_condition_stands(event, wanted)

    def monitor(self, event: Event, wanted: EventRequest, number: int) -> Monitor:
        """Return the setting of an event's counter. The control INT is set by default: sampling and 64-bit counts need
        the interrupt."""
        plm = self.plm(wanted.plm)
        user_levels_go_together(plm)
        return Monitor(
            event,
            number,
            number,
            plm,
            False,
            0,
            wanted.threshold,
            bool(self.request.controls.get("int", 1)),
            edge=wanted.edge,
            invert=wanted.invert,
            cmask=True,
        )


def conditional(wanted: EventRequest) -> bool:
    """Return whether the request needs CMASK, INV or E."""
    return bool(wanted.threshold or wanted.edge or wanted.invert)


def an_events_own_condition_stands(event: Event, wanted: EventRequest) -> None:
    """A counter has one CMASK, INV and E: those that define an event leave none to choose (section 30.2.1.1)."""
    if any(event.condition) and conditional(wanted):
        own = ", ".join(name for name, used in zip(("CMASK", "INV", "E"), event.condition, strict=True) if used)
        raise RuleError(
            "an_events_own_condition_stands",
            f"{event.name} is defined by {own}: it takes no threshold, no invert and no edge of yours",
            "Intel SDM volume 3 section 30.2.1.1",
        )


def user_levels_go_together(plm: int) -> None:
    """USR selects levels 1, 2 and 3 together (section 30.2.1.1)."""
    if plm & USER_LEVELS not in (0, 8, USER_LEVELS):
        raise RuleError(
            "user_levels_go_together",
            "levels 1 and 2 cannot be counted apart from level 3: use u, k or uk",
            "Intel SDM volume 3 section 30.2.1.1",
        )


def invert_needs_a_threshold(event: Event, wanted: EventRequest) -> None:
    """INV inverts the comparison with CMASK, which is off when CMASK is zero (section 30.2.1.1)."""
    if wanted.invert and not wanted.threshold:
        raise RuleError(
            "invert_needs_a_threshold",
            f"{event.name}: invert needs a threshold (CMASK) to compare with",
            "Intel SDM volume 3 section 30.2.1.1",
        )
