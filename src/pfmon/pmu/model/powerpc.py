"""PowerPC performance monitors with event-triggered counting (IBM, IPCOM000113677D, 1994).

`ppc604e` is the subset of the disclosure that the PowerPC 604e implements: PMC1INTCONTROL for PMC1, PMCINTCONTROL and
PMCTRIGGER for PMC2 to PMC4 together. `ibm1994` is the disclosure's own general form: one PMCnINTCONTROL for
each counter, one PMCnCOUNTCTL for each but the first, all in MMCR0 (above the 604e's 32 bits of it: the text gives no
positions). spr_file.py has the register file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NoReturn

from pfmon.errors import BadValueError, RuleError
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.monitors import CounterDecoder, MonitorReading, UnknownMonitor
from pfmon.pmu.model.programmer import Programmer
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.model.request import EventRequest
from pfmon.pmu.qualify.qualifier import Qualification, Unqualified
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.pmu.registers.register_tables import RegisterSet
from pfmon.pmu.registers.spr_file import UNTIL_NEGATIVE, UNTIL_NEGATIVE_OR_SIGNALLED, WIDTH, GeneralSprFile, SprFile

SECTION = "PowerPC 604 manual section 9.1.1"
SPR_NUMBERS = {
    "mmcr0": 952,
    "pmc1": 953,
    "pmc2": 954,
    "sia": 955,
    "mmcr1": 956,
    "pmc3": 957,
    "pmc4": 958,
    "sda": 959,
}
SELECT = {1: "mmcr0", 2: "mmcr0", 3: "mmcr1", 4: "mmcr1"}


class PowerPcDecoder(CounterDecoder):
    """MMCR0 and MMCR1. A counter whose select field is 0 counts nothing (PowerPC 604 manual tables 9-2 and 9-3)."""

    def read(self) -> MonitorReading:
        """Decode all counters that count in some state."""
        levels = self.levels()
        found = [self._counter(number, levels) for number in self.counters if levels and self._select(number)]
        return MonitorReading(
            tuple(one for one in found if isinstance(one, Monitor)),
            tuple(one for one in found if isinstance(one, UnknownMonitor)),
        )

    def levels(self) -> int:
        """Return the privilege levels at which all counters count; 0: MMCR0 disables them."""
        control = self.values.fields("mmcr0")
        return 0 if control["dis"] else (0 if control["dp"] else 1) | (0 if control["du"] else 8)

    def _select(self, number: int) -> int:
        return self.values.field(SELECT[number], f"pmc{number}select")

    def _counter(self, number: int, levels: int) -> Monitor | UnknownMonitor:
        """Decode one enabled counter."""
        code = self._select(number)
        event = next((one for one in self.events.canonical(code) if number in one.counters), None)
        if event is None:
            reason = f"PMC{number} has no event of this code"
            return UnknownMonitor(number, code, 0, reason, SELECT[number].upper(), SECTION)
        return Monitor(event, number, number, levels, False, 0, 0, False)


class PowerPc604eProgrammer(Programmer):
    """MMCR0 and MMCR1 of the PowerPC 604e."""

    register_file: ClassVar[type[RegisterFile]] = SprFile
    decoder: ClassVar[type[CounterDecoder]] = PowerPcDecoder
    qualification: ClassVar[type[Qualification]] = Unqualified

    @classmethod
    def data_name(cls, number: int) -> str:
        """Return a counter's name, PMC1 to PMC4."""
        return f"PMC{number}"

    def check(self) -> None:
        """Check that all counters share one privilege mask."""
        for event, wanted in self.requested():
            counters_share_their_privilege_levels(event, wanted.plm, self.request.plm)
        states_are_supervisor_and_problem(self.request.plm)
        super().check()

    def check_thresholds(self) -> None:
        """Check that no event has a threshold: the only one is in MMCR0, for events that measure the duration of
        misses."""
        for event, wanted in self.requested():
            threshold_is_a_control_of_mmcr0(event, wanted.threshold)

    def monitor(self, event: Event, wanted: EventRequest, number: int) -> Monitor:
        """Return the setting of an event's counter; controls enable its interrupt."""
        return Monitor(event, number, number, self.request.plm, False, 0, wanted.threshold, False)

    def program_monitor(self, monitor: Monitor) -> None:
        """Write the counter's select field."""
        name = SELECT[monitor.pmd]
        register = self.registers[name]
        field = register.field(f"pmc{monitor.pmd}select")
        self.writes[name] = self.writes.get(name, 0) | field.put(name, monitor.event.code)

    def program_features(self) -> None:
        """Write the state and controls. MMCR1 and the counters are written before MMCR0, which starts counting."""
        plm = self.request.plm
        controls = {"dp": int(not plm & 1), "du": int(not plm & 8), **self.request.controls}
        values = {name: self.writes.pop(name, 0) for name in ("mmcr1", "mmcr0")}
        for control, content in controls.items():
            name = self.register_of(control)
            self.check_control(control, content)
            values[name] |= self.registers[name].field(control).put(name, content)
        for name, value in self.request.preload.items():
            counters_in_use_are_loaded(name, value, self.pmds)
        self.writes.update({"mmcr1": values["mmcr1"], **self.request.preload, "mmcr0": values["mmcr0"]})

    def check_control(self, control: str, content: int) -> None:
        """Check the value of a control."""
        counters_count_what_events_say(control)

    def register_of(self, control: str) -> str:
        """Return the register with a control field; the error lists all fields."""
        for name in ("mmcr1", "mmcr0"):
            if any(field.name == control for field in self.registers[name].fields):
                found = name
                break
        else:
            controls_are_fields_of_mmcr0_and_mmcr1(control, self.registers)
        return found


class Ibm1994Programmer(PowerPc604eProgrammer):
    """The disclosure's general form."""

    register_file: ClassVar[type[RegisterFile]] = GeneralSprFile

    def check_control(self, control: str, content: int) -> None:
        """Check the value of a control, including PMCnCOUNTCTL."""
        super().check_control(control, content)
        countctl_says_what_a_counter_waits_for(control, content)


def controls_are_fields_of_mmcr0_and_mmcr1(control: str, registers: RegisterSet) -> NoReturn:
    """The monitor's controls are fields of two registers (PowerPC 604 manual table 9-1)."""
    known = [field.name for name in ("mmcr0", "mmcr1") for field in registers[name].fields]
    raise RuleError(
        "controls_are_fields_of_mmcr0_and_mmcr1",
        f"no control {control!r}; there are {', '.join(known)}",
        SECTION,
    )


def counters_count_what_events_say(control: str) -> None:
    """PMCnSELECT is written for the events (PowerPC 604 manual table 9-1)."""
    if control.startswith("pmc") and control.endswith("select"):
        raise RuleError(
            "counters_count_what_events_say", f"--controls={control}: -e says which event a counter counts", SECTION
        )


def countctl_says_what_a_counter_waits_for(control: str, content: int) -> None:
    """PMCnCOUNTCTL selects the trigger: none, PMC1, or PMC1 and the interrupt (IPCOM000113677D: "until the PMC1 counter
    is negative or
    an interrupt is signalled" for PMC2 of its example, "until the PMC1 counter is negative" for PMC3)."""
    if control.endswith("countctl") and content > UNTIL_NEGATIVE_OR_SIGNALLED:
        raise RuleError(
            "countctl_says_what_a_counter_waits_for",
            f"{control}={content}: 0 counts always, {UNTIL_NEGATIVE} waits until PMC1 is negative, "
            f"{UNTIL_NEGATIVE_OR_SIGNALLED} until then or the interrupt",
            "IPCOM000113677D",
        )


def counters_in_use_are_loaded(name: str, value: int, used: Sequence[int]) -> None:
    """Only counters in use can be loaded, with 32 bits (PowerPC 604 manual section 9.1)."""
    counters = [f"pmc{number}" for number in used]
    if name not in counters:
        raise BadValueError(
            f"--preload: {name.upper()} counts no event; {', '.join(counters).upper() or 'none'} do",
            "counters_in_use_are_loaded",
        )
    if not 0 <= value < 1 << WIDTH:
        raise BadValueError(
            f"--preload={name.upper()}={value:#x}: counters have {WIDTH} bits", "counters_in_use_are_loaded"
        )


def threshold_is_a_control_of_mmcr0(event: Event, threshold: int) -> None:
    """MMCR0.threshold serves the threshold events of PMC1 (PowerPC 604 manual section 9.1.2.2)."""
    if threshold:
        raise RuleError(
            "threshold_is_a_control_of_mmcr0",
            f"{event.name} has no threshold of its own; set the control `threshold` (0-63 cycles)",
            "PowerPC 604 manual section 9.1.2.2",
        )


def states_are_supervisor_and_problem(plm: int) -> None:
    """MSR.pr distinguishes two states, here levels 0 and 3 (PowerPC 604 manual table 9-1, MMCR0.dp and .du)."""
    if plm & ~9:
        raise RuleError(
            "states_are_supervisor_and_problem",
            "a PowerPC has supervisor state (-k) and user state (-u), no levels 1 and 2",
            SECTION,
        )


def counters_share_their_privilege_levels(event: Event, plm: int | None, default: int) -> None:
    """DP and DU apply to all counters (PowerPC 604 manual table 9-1, MMCR0)."""
    if plm and plm != default:
        raise RuleError(
            "counters_share_their_privilege_levels",
            f"{event.name} has its own privilege levels; MMCR0 has one setting for all counters",
            SECTION,
        )
