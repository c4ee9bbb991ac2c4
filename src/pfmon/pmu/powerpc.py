"""PowerPC performance monitors with event-triggered counting (IBM, IPCOM000113677D, 1994).

`ppc604e` is what the PowerPC 604e implements of the disclosure: PMC1INTCONTROL for PMC1, PMCINTCONTROL and
PMCTRIGGER for PMC2 to PMC4 together. `ibm1994` is the disclosure's own general form: one PMCnINTCONTROL for
each counter, one PMCnCOUNTCTL for each but the first, all in MMCR0 (above the 604e's 32 bits of it: the text gives no
positions). Counters have 32 bits; one whose first bit is set is negative, which is what signals interrupts and triggers
counting.
"""

from __future__ import annotations

from pfmon.errors import BadValueError, RuleError
from pfmon.pmu.file import RegisterFile
from pfmon.pmu.monitors import CounterDecoder, Reading, Unknown
from pfmon.pmu.programmer import Programmer
from pfmon.pmu.programming import Monitor
from pfmon.pmu.qualify import Unqualified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar, NoReturn

    from pfmon.pmu.event import Event
    from pfmon.pmu.file import CounterBank
    from pfmon.pmu.qualify import Qualification
    from pfmon.pmu.register import RegisterSet
    from pfmon.pmu.request import EventRequest

COUNTERS = (1, 2, 3, 4)
WIDTH = 32
NEGATIVE = 1 << 31
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
UNTIL_NEGATIVE = 1
UNTIL_NEGATIVE_OR_SIGNALLED = 2


class SprFile(RegisterFile):
    """The monitor's special-purpose registers and the MSR bits it looks at; `ppc604e`.

    `signalled` stays set from the interrupt until MMCR0 is written.
    """

    def __init__(self, registers: RegisterSet, bank: CounterBank) -> None:
        super().__init__(registers, bank)
        self.signalled = False

    def read(self, name: str, cpl: int = 0) -> int:
        """mfspr: supervisor state only."""
        spr_access_needs_supervisor_state(cpl)
        return self._held[self.registers[name].name]

    def write(self, name: str, value: int, cpl: int = 0) -> None:
        """mtspr: supervisor state only, 32 bits, or as many as the register has. Writing MMCR0 ends the state after an
        interrupt."""
        spr_access_needs_supervisor_state(cpl)
        register = self.registers[name]
        width = max(32, *(field.low + field.width for field in register.fields))
        if not 0 <= value < 1 << width:
            raise BadValueError(f"{register.name} = {value:#x} is not a {width}-bit value", "registers_have_a_width")
        self._held[register.name] = register.accept(value)
        if register.name in ("mmcr0", "mmcr1"):
            self.configured += 1
        if register.name == "mmcr0":
            self.signalled = False

    def data_register(self, number: int) -> str | None:
        """The PMCs are what counts."""
        return f"pmc{number}" if number in self.bank.numbers else None

    def read_data(self, number: int, cpl: int) -> int:
        """mfspr of a counter."""
        return self.read(self._data(number), cpl)

    def run_program(self) -> None:
        """The state in which a monitored program runs: MSR.pr, the problem state."""
        self.set_field("msr", "pr", 1)

    def set_secure(self, secure: bool) -> None:
        """The counters are for supervisor state in any case."""

    def negative(self, counter: int) -> bool:
        """Whether a counter's first bit is set."""
        return bool(self._held[f"pmc{counter}"] & NEGATIVE)

    def signals(self, counter: int) -> bool:
        """Whether a negative counter signals the interrupt."""
        return bool(self.field("mmcr0", "pmc1intcontrol" if counter == 1 else "pmcintcontrol"))

    def waits(self, counter: int) -> bool:
        """Whether a counter still waits for its trigger."""
        return bool(counter > 1 and self.field("mmcr0", "pmctrigger") and not self.negative(1) and not self.signalled)

    @property
    def frozen(self) -> bool:
        """Whether nothing counts: DIS, or DISCOUNT after the interrupt."""
        return bool(self.field("mmcr0", "dis") or (self.signalled and self.field("mmcr0", "discount")))

    def stop(self) -> None:
        """MMCR0.DIS."""
        self.set_field("mmcr0", "dis", 1)

    def enabled(self, pmd: int) -> bool:
        """Whether a counter counts in the current state (MSR.pr, MSR.pm, triggers)."""
        control = self.registers["mmcr0"].decode(self._held["mmcr0"])
        user, marked = self.field("msr", "pr"), self.field("msr", "pm")
        state = control["du"] if user else control["dp"]
        mark = control["dms"] if marked else control["dmr"]
        return not (self.frozen or state or mark or self.waits(pmd))

    def headroom(self, pmd: int) -> int:
        """The increments after which the counter changes its sign bit: becomes negative, or wraps."""
        count = self.count(pmd)
        return NEGATIVE - count if count < NEGATIVE else (1 << WIDTH) - count

    def add(self, pmd: int, increment: int) -> bool:
        """Add to a counter; True when it becomes negative or wraps. `enabled` is the caller's to ask."""
        crossed = self._advance(pmd, increment)
        self._overflow(pmd)
        return crossed

    def _advance(self, pmd: int, increment: int) -> bool:
        """Whether the counter became negative or wrapped."""
        crossed = increment >= self.headroom(pmd)
        self._held[f"pmc{pmd}"] = (self.count(pmd) + increment) % (1 << WIDTH)
        return crossed

    def _overflow(self, pmd: int) -> None:
        """A negative counter signals its interrupt, if it has one, for as long as it is negative."""
        if self.negative(pmd) and self.signals(pmd):
            self._signal()

    def time_base_rise(self) -> None:
        """The time base bit of RTCSELECT rose: signals the interrupt with INTONBITTRANS."""
        if self.field("mmcr0", "intonbittrans"):
            self._signal()

    def _signal(self) -> None:
        """Signal the interrupt if ENINT allows it; ENINT is cleared by that."""
        enable = self.registers["mmcr0"].field("enint").mask
        if self._held["mmcr0"] & enable:
            self._held["mmcr0"] &= ~enable
            self.signalled = self.interrupt = True

    def sample(self, instruction: int, data: int) -> None:
        """The addresses that SIA and SDA hold for the interrupt that was signalled."""
        self._held["sia"] = self.registers["sia"].accept(instruction)
        self._held["sda"] = self.registers["sda"].accept(data)

    def take_overflows(self) -> list[int]:
        """The counters that are negative; the interrupt is taken."""
        self.interrupt = False
        return [counter for counter in self.bank.numbers if self.negative(counter)]


class GeneralSprFile(SprFile):
    """The disclosure's general form; `ibm1994`."""

    def signals(self, counter: int) -> bool:
        """Every counter has its own PMCnINTCONTROL."""
        return bool(self.field("mmcr0", f"pmc{counter}intcontrol"))

    def waits(self, counter: int) -> bool:
        """PMCnCOUNTCTL: until PMC1 is negative, or until then or the interrupt."""
        if counter == 1:
            return False
        control = self.field("mmcr0", f"pmc{counter}countctl")
        if control == UNTIL_NEGATIVE:
            return not self.negative(1)
        return control == UNTIL_NEGATIVE_OR_SIGNALLED and not (self.negative(1) or self.signalled)


class PowerPcDecoder(CounterDecoder):
    """MMCR0 and MMCR1. A counter whose select field is 0 counts nothing (PowerPC 604 manual tables 9-2 and 9-3)."""

    def read(self) -> Reading:
        """All counters that count in some state."""
        levels = self.levels()
        found = [self._counter(number, levels) for number in self.counters if levels and self._select(number)]
        return Reading(
            tuple(one for one in found if isinstance(one, Monitor)),
            tuple(one for one in found if isinstance(one, Unknown)),
        )

    def levels(self) -> int:
        """The privilege levels at which all counters count; 0: MMCR0 switches them off."""
        control = self.values.fields("mmcr0")
        return 0 if control["dis"] else (0 if control["dp"] else 1) | (0 if control["du"] else 8)

    def _select(self, number: int) -> int:
        return self.values.field(SELECT[number], f"pmc{number}select")

    def _counter(self, number: int, levels: int) -> Monitor | Unknown:
        """One counter that is switched on."""
        code = self._select(number)
        event = next((one for one in self.events.canonical(code) if number in one.counters), None)
        if event is None:
            reason = f"PMC{number} has no event of this code"
            return Unknown(number, code, 0, reason, SELECT[number].upper(), SECTION)
        return Monitor(event, number, number, levels, False, 0, 0, False)


class PowerPc604eProgrammer(Programmer):
    """MMCR0 and MMCR1 of the PowerPC 604e."""

    pmu = "ppc604e"
    architecture = "ppc"
    counters = COUNTERS
    width = WIDTH
    counter_source = "PowerPC 604 manual tables 9-2 and 9-3"
    features = ("controls",)
    register_file: ClassVar[type[RegisterFile]] = SprFile
    decoder: ClassVar[type[CounterDecoder]] = PowerPcDecoder
    qualification: ClassVar[type[Qualification]] = Unqualified

    @classmethod
    def data_name(cls, number: int) -> str:
        """Counters are called PMCs."""
        return f"PMC{number}"

    def check(self) -> None:
        """One privilege mask serves all counters."""
        for event, wanted in self.requested():
            counters_share_their_privilege_levels(event, wanted.plm, self.request.plm)
        states_are_supervisor_and_problem(self.request.plm)
        super().check()

    def check_thresholds(self) -> None:
        """There is one threshold, in MMCR0, for the events that measure the length of misses."""
        for event, wanted in self.requested():
            threshold_is_a_control_of_mmcr0(event, wanted.threshold)

    def monitor(self, event: Event, wanted: EventRequest, number: int) -> Monitor:
        """A counter; interrupts are for the controls to say."""
        return Monitor(event, number, number, self.request.plm, False, 0, wanted.threshold, False)

    def program_monitor(self, monitor: Monitor) -> None:
        """The counter's select field."""
        name = SELECT[monitor.pmd]
        register = self.registers[name]
        field = register.field(f"pmc{monitor.pmd}select")
        self.writes[name] = self.writes.get(name, 0) | field.put(name, monitor.event.code)

    def program_features(self) -> None:
        """State and controls. MMCR1 is written before MMCR0, with which counting begins."""
        plm = self.request.plm
        controls = {"dp": int(not plm & 1), "du": int(not plm & 8), **self.request.controls}
        values = {name: self.writes.pop(name, 0) for name in ("mmcr1", "mmcr0")}
        for control, content in controls.items():
            name = self.register_of(control)
            values[name] |= self.registers[name].field(control).put(name, content)
        self.writes.update(values)

    def register_of(self, control: str) -> str:
        """The register with a control field; the error names all of them."""
        for name in ("mmcr1", "mmcr0"):
            if any(field.name == control for field in self.registers[name].fields):
                found = name
                break
        else:
            controls_are_fields_of_mmcr0_and_mmcr1(control, self.registers)
        return found


class Ibm1994Programmer(PowerPc604eProgrammer):
    """The disclosure's general form."""

    pmu = "ibm1994"
    counter_source = "IPCOM000113677D"
    register_file: ClassVar[type[RegisterFile]] = GeneralSprFile


def spr_access_needs_supervisor_state(cpl: int) -> None:
    """mfspr and mtspr of these registers are privileged (program interrupt otherwise)."""
    if cpl:
        raise BadValueError(
            "the performance monitor's registers are for supervisor state (privilege level 0)",
            "spr_access_needs_supervisor_state",
        )


def controls_are_fields_of_mmcr0_and_mmcr1(control: str, registers: RegisterSet) -> NoReturn:
    """The monitor's controls are fields of two registers (PowerPC 604 manual table 9-1)."""
    known = [field.name for name in ("mmcr0", "mmcr1") for field in registers[name].fields]
    raise RuleError(
        "controls_are_fields_of_mmcr0_and_mmcr1",
        f"no control {control!r}; there are {', '.join(known)}",
        SECTION,
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
    """MSR.pr tells two states apart, here levels 0 and 3 (PowerPC 604 manual table 9-1, MMCR0.dp and .du)."""
    if plm & ~9:
        raise RuleError(
            "states_are_supervisor_and_problem",
            "a PowerPC has supervisor state (-k) and user state (-u), no levels 1 and 2",
            SECTION,
        )


def counters_share_their_privilege_levels(event: Event, plm: int | None, default: int) -> None:
    """DP and DU hold for all counters (PowerPC 604 manual table 9-1, MMCR0)."""
    if plm and plm != default:
        raise RuleError(
            "counters_share_their_privilege_levels",
            f"{event.name} has its own privilege levels; MMCR0 has one setting for all counters",
            SECTION,
        )
