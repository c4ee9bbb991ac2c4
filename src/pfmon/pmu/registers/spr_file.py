"""The register file of PowerPC performance monitoring: MMCR0, MMCR1, PMC1 to PMC4, SIA, SDA, and the MSR bits that
affect them.

Counters have 32 bits; a counter whose first bit is set is negative, which signals the interrupt and triggers counting
(IPCOM000113677D). `SprFile` is the 604e's subset of this, `GeneralSprFile` the disclosure's own general form.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pfmon.errors import BadValueError, PfmonError
from pfmon.pmu.registers.register_file import CounterBank, RegisterFile
from pfmon.pmu.registers.register_tables import RegisterSet

WIDTH = 32
NEGATIVE = 1 << 31
ADDRESS = (1 << 32) - 1
CONFIGURATION = frozenset(
    ("dis", "dp", "du", "dms", "dmr", "pr", "pm", "threshold", *(f"pmc{number}select" for number in range(1, 5)))
)
"""Fields that select what is counted; other fields of MMCR0 control triggers and interrupts."""
UNTIL_NEGATIVE = 1
UNTIL_NEGATIVE_OR_SIGNALLED = 2


class SprFile(RegisterFile):
    """The monitor's special-purpose registers and the MSR bits that affect it; `ppc604e`.

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
        before = self._held[register.name]
        self._held[register.name] = register.accept(value)
        says = sum(field.mask for field in register.fields if field.name in CONFIGURATION)
        self.configured += (before ^ self._held[register.name]) & says != 0
        if register.name == "mmcr0":
            self.signalled = False

    def data_register(self, number: int) -> str | None:
        """Return the name of a PMC, the only data registers."""
        return f"pmc{number}" if number in self.bank.numbers else None

    def read_data(self, number: int, cpl: int) -> int:
        """Read a counter by mfspr."""
        return self.read(self._data(number), cpl)

    def run_program(self) -> None:
        """Enter the problem state, MSR.pr, in which a monitored program runs. A counter that is negative already
        signals its interrupt now."""
        self.set_field("msr", "pr", 1)
        self._signal_negatives()

    def set_secure(self, secure: bool) -> None:
        """Do nothing: the counters are always accessible in supervisor state only."""

    def negative(self, counter: int) -> bool:
        """Return whether a counter's first bit is set."""
        return bool(self._held[f"pmc{counter}"] & NEGATIVE)

    def interrupt_control(self, counter: int) -> str:
        """Return the field of MMCR0 that enables a counter's interrupt: one for PMC1, one for all others."""
        return "pmc1intcontrol" if counter == 1 else "pmcintcontrol"

    def signals(self, counter: int) -> bool:
        """Return whether a negative counter signals the interrupt."""
        return bool(self.field("mmcr0", self.interrupt_control(counter)))

    def waits(self, counter: int) -> bool:
        """Return whether a counter still waits for its trigger."""
        return bool(counter > 1 and self.field("mmcr0", "pmctrigger") and not self.negative(1) and not self.signalled)

    def triggered(self) -> bool:
        """Whether some counter counts only from its trigger on."""
        return bool(self.field("mmcr0", "pmctrigger"))

    @property
    def event_triggered(self) -> bool:
        """Whether counters start or stop while a program runs, or an interrupt can be signalled."""
        loaded = any(self.count(counter) for counter in self.bank.numbers)
        return loaded or self.triggered() or bool(self.field("mmcr0", "discount") or self.field("mmcr0", "enint"))

    @property
    def frozen(self) -> bool:
        """Whether counting is frozen: DIS, or DISCOUNT after the interrupt."""
        return bool(self.field("mmcr0", "dis") or (self.signalled and self.field("mmcr0", "discount")))

    def stop(self) -> None:
        """Set MMCR0.DIS."""
        self.set_field("mmcr0", "dis", 1)

    def may_count(self, pmd: int) -> bool:
        """Return whether a counter counts in the current state (MSR.pr, MSR.pm), now or from its trigger on."""
        control = self.registers["mmcr0"].decode(self._held["mmcr0"])
        user, marked = self.field("msr", "pr"), self.field("msr", "pm")
        state = control["du"] if user else control["dp"]
        mark = control["dms"] if marked else control["dmr"]
        return not (control["dis"] or state or mark)

    def enabled(self, pmd: int) -> bool:
        """Return whether a counter counts now: `may_count`, not frozen, and triggered."""
        return self.may_count(pmd) and not self.frozen and not self.waits(pmd)

    def headroom(self, pmd: int) -> int:
        """Return the number of increments after which the counter's sign bit changes: it becomes negative, or wraps."""
        count = self.count(pmd)
        return NEGATIVE - count if count < NEGATIVE else (1 << WIDTH) - count

    def add(self, pmd: int, increment: int) -> bool:
        """Add to a counter; return whether it becomes negative or wraps. The caller checks `enabled`."""
        crossed = self._advance(pmd, increment)
        self._overflow(pmd)
        return crossed

    def _advance(self, pmd: int, increment: int) -> bool:
        """Add to a counter; return whether it became negative or wrapped."""
        crossed = increment >= self.headroom(pmd)
        self._held[f"pmc{pmd}"] = (self.count(pmd) + increment) % (1 << WIDTH)
        return crossed

    def _overflow(self, pmd: int) -> None:
        """Signal the interrupt of a negative counter, if enabled, for as long as it is negative."""
        if self.negative(pmd) and self.signals(pmd):
            self._signal()

    def _signal_negatives(self) -> None:
        for counter in self.bank.numbers:
            self._overflow(counter)

    def time_base_rise(self) -> None:
        """Signal the interrupt, if INTONBITTRANS is set, at a rise of RTCSELECT's time base bit."""
        if self.field("mmcr0", "intonbittrans"):
            self._signal()

    def _signal(self) -> None:
        """Signal the interrupt if ENINT is set, and clear ENINT."""
        enable = self.registers["mmcr0"].field("enint").mask
        if self._held["mmcr0"] & enable:
            self._held["mmcr0"] &= ~enable
            self.signalled = self.interrupt = True

    def sample(self, instruction: int, data: int) -> None:
        """Store the addresses of the signalled interrupt in SIA and SDA."""
        self._held["sia"] = self.registers["sia"].accept(instruction & ADDRESS)
        self._held["sda"] = self.registers["sda"].accept(data & ADDRESS)

    def take_overflows(self) -> list[int]:
        """Return the negative counters; clear the interrupt."""
        self.interrupt = False
        return [counter for counter in self.bank.numbers if self.negative(counter)]

    # Operations of a driver.

    def enable_interrupts(self, counters: Collection[int], controls: Mapping[str, int]) -> None:
        """Enable the interrupt of these counters. PfmonError: one of the requested ``controls`` disables it."""
        for control in ("enint", *map(self.interrupt_control, counters)):
            if controls.get(control) == 0:
                raise PfmonError(f"--controls={control}=0: without the interrupt there are no samples")
            self.set_field("mmcr0", control, 1)

    def end_interrupt(self, loads: Mapping[int, int]) -> None:
        """End the interrupt handler: load counters so that they become negative after the given numbers of events,
        clear the sign bits of other signalling counters, and set ENINT again."""
        values = {counter: self.count(counter) & ~NEGATIVE for counter in self.bank.numbers if self.signals(counter)}
        self.store({**values, **{counter: NEGATIVE - left for counter, left in loads.items()}})
        self.set_field("mmcr0", "enint", 1)


class GeneralSprFile(SprFile):
    """The disclosure's general form; `ibm1994`."""

    def interrupt_control(self, counter: int) -> str:
        """Return the counter's own PMCnINTCONTROL."""
        return f"pmc{counter}intcontrol"

    def waits(self, counter: int) -> bool:
        """Return whether the counter waits by PMCnCOUNTCTL: until PMC1 is negative, or until then or the interrupt."""
        if counter == 1:
            return False
        control = self.field("mmcr0", f"pmc{counter}countctl")
        if control == UNTIL_NEGATIVE:
            return not self.negative(1)
        return control == UNTIL_NEGATIVE_OR_SIGNALLED and not (self.negative(1) or self.signalled)

    def triggered(self) -> bool:
        """Whether some PMCnCOUNTCTL is set."""
        return any(self.field("mmcr0", f"pmc{counter}countctl") for counter in self.bank.numbers if counter > 1)


def spr_access_needs_supervisor_state(cpl: int) -> None:
    """mfspr and mtspr of these registers are privileged (program interrupt otherwise)."""
    if cpl:
        raise BadValueError(
            "the performance monitor's registers are for supervisor state (privilege level 0)",
            "spr_access_needs_supervisor_state",
        )
