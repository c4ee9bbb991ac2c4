"""Intel architectural performance monitoring: programming and decoding of its registers (Intel SDM volume 3, section
30.2). msr_file.py has the register file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pfmon.errors import RuleError
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.monitors import CounterDecoder, MonitorReading, UnknownMonitor
from pfmon.pmu.model.programmer import Programmer
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.model.request import EventRequest
from pfmon.pmu.qualify.qualifier import Qualification, Unqualified
from pfmon.pmu.registers.msr_file import (
    CONTROL,
    FIXED,
    USER_LEVELS,
    MsrFile,
    control_levels,
    counter_name,
    select_register,
    signals_overflow,
)
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.pmu.registers.register_tables import RegisterSet

COUNTER_CONTROLS = ("pc", "int")
"""Fields that a control sets for all counters; fixed-function counters have no PC."""
SECTION = "Intel SDM volume 3 sections 30.2.1.1 and 30.2.2"


class IntelDecoder(CounterDecoder):
    """IA32_PERFEVTSELx, IA32_FIXED_CTR_CTRL and, in version 2, IA32_PERF_GLOBAL_CTRL."""

    def read(self) -> MonitorReading:
        """Decode all enabled counters."""
        found = [self._counter(number) for number in self.counters if self.levels(number)]
        return MonitorReading(
            tuple(one for one in found if isinstance(one, Monitor)),
            tuple(one for one in found if isinstance(one, UnknownMonitor)),
        )

    def levels(self, number: int) -> int:
        """Return the privilege levels at which a counter counts; 0: it is disabled by its own control or by the global
        one."""
        if CONTROL in self.values.registers and not self.values[CONTROL] >> number & 1:
            return 0
        return control_levels(number, self.values.fields(select_register(number)))

    def event(self, number: int) -> Event | None:
        """Return the event of a counter: the one that a general counter selects, or that of a fixed-function
        counter."""
        if number in FIXED:
            fixed = (one for one in self.events if number in one.counters and one.alias_of == "-")
            return next(fixed, None)
        fields = self.values.fields(select_register(number))
        return next((one for one in self.events.canonical(fields["event"]) if one.umask == fields["umask"]), None)

    def _counter(self, number: int) -> Monitor | UnknownMonitor:
        """Decode one enabled counter."""
        name, event = select_register(number), self.event(number)
        fields = self.values.fields(name)
        if event is None:
            reason = "no event has this code and unit mask"
            return UnknownMonitor(number, fields["event"], fields["umask"], reason, name.upper(), SECTION)
        return Monitor(
            event,
            number,
            number,
            self.levels(number),
            False,
            0,
            fields.get("cmask", 0),
            signals_overflow(number, fields),
            edge=bool(fields.get("e", 0)),
            invert=bool(fields.get("inv", 0)),
            cmask=True,
        )


class IntelProgrammer(Programmer):
    """General counters, each with its event select register; from version 2 on also fixed-function counters and the
    global registers, if the register table has them."""

    register_file: ClassVar[type[RegisterFile]] = MsrFile
    decoder: ClassVar[type[CounterDecoder]] = IntelDecoder
    qualification: ClassVar[type[Qualification]] = Unqualified

    @classmethod
    def data_name(cls, number: int) -> str:
        """Return a counter's name, IA32_PMC0 to IA32_FIXED_CTR2."""
        return counter_name(number).upper()

    def check(self) -> None:
        """Check the controls: PC and INT, which every counter has, and the fields of IA32_DEBUGCTL."""
        controls_are_fields(self.debug_controls(), self.registers)
        super().check()

    def debug_controls(self) -> dict[str, int]:
        """Return the controls that belong to no single counter."""
        return {name: value for name, value in self.request.controls.items() if name not in COUNTER_CONTROLS}

    def check_thresholds(self) -> None:
        """Check CMASK, which replaces thresholds: any value of its field is legal, and INV needs one."""
        for event, wanted in self.requested():
            invert_needs_a_threshold(event, wanted)

    def assignment(self, allowed: Sequence[Sequence[int]]) -> list[int] | None:
        """Assign fixed-function counters first, so that general ones stay free for other events."""
        narrowed = [
            [c for c in counters if c not in FIXED or not (conditional(wanted) or self.request.controls.get("pc"))]
            for counters, wanted in zip(allowed, self.request.events, strict=True)
        ]
        preferred: list[Sequence[int]] = []
        taken: set[int] = set()
        for counters in narrowed:
            fixed = [c for c in counters if c in FIXED and c not in taken]
            taken.update(fixed)
            preferred.append(fixed or counters)
        return super().assignment(preferred) or super().assignment(narrowed)

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

    def program_monitor(self, monitor: Monitor) -> None:
        """Write the event select register, or the fixed-function counter's part of its control register."""
        os, user = monitor.plm & 1, bool(monitor.plm & USER_LEVELS)
        if monitor.pmd in FIXED:
            number = monitor.pmd - 32
            control = self.registers["ia32_fixed_ctr_ctrl"].encode(
                **{f"en{number}": os | user << 1, f"pmi{number}": self.request.controls.get("int", 1)}
            )
            self.writes["ia32_fixed_ctr_ctrl"] = self.writes.get("ia32_fixed_ctr_ctrl", 0) | control
            return
        wanted = self.request.events[len(self.pmds)]
        self.writes[f"ia32_perfevtsel{monitor.pmd}"] = self.registers["ia32_perfevtsel0"].encode(
            event=monitor.event.code,
            umask=monitor.event.umask,
            usr=int(user),
            os=os,
            e=int(wanted.edge),
            pc=self.request.controls.get("pc", 0),
            inv=int(wanted.invert),
            int=self.request.controls.get("int", 1),
            en=1,
            cmask=monitor.threshold,
        )

    def program_features(self) -> None:
        """Write IA32_DEBUGCTL, then IA32_PERF_GLOBAL_CTRL, which starts all counters at once (version 2; section
        30.2.2)."""
        if controls := self.debug_controls():
            self.writes["ia32_debugctl"] = self.registers["ia32_debugctl"].encode(**controls)
        if CONTROL in self.registers:
            self.writes[CONTROL] = sum(1 << number for number in set(self.pmds))


def controls_are_fields(controls: Mapping[str, int], registers: RegisterSet) -> None:
    """Controls are PC and INT of all counters, and the fields of IA32_DEBUGCTL (version 2; section 30.2.2)."""
    known = list(COUNTER_CONTROLS)
    if "ia32_debugctl" in registers:
        known += [field.name for field in registers["ia32_debugctl"].fields]
    for name in controls:
        if name not in known:
            raise RuleError("controls_are_fields", f"no control {name!r}; there are {', '.join(known)}", SECTION)


def conditional(wanted: EventRequest) -> bool:
    """Return whether the request needs CMASK, INV or E."""
    return bool(wanted.threshold or wanted.edge or wanted.invert)


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
