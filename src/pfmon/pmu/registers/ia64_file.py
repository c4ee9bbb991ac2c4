"""The register file of the Itaniums.

Generic performance counters of IA-64 processors count in the low W bits (32 on Itanium, 47 on Itanium 2 and Montecito).
A carry out of them sets the counter's bit in PMC0 and, when PMC.oi is set, PMC0.fr, which freezes all monitoring, and
the interrupt (Montecito manual sections 3.3.2, 3.3.4 and 3.3.11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pfmon.errors import BadValueError
from pfmon.pmu.model.request import INTERRUPTS_ALONE, PLM_KERNEL
from pfmon.pmu.qualify.filters import ALL_PRIVILEGES, privileges
from pfmon.pmu.registers.register_file import CounterBank, RegisterFile
from pfmon.pmu.registers.register_tables import WORD

if TYPE_CHECKING:
    from pfmon.pmu.registers.register_tables import RegisterSet


MAX_REMEMBERED_SETTINGS = 256
"""Maximum number of cached settings for which it is known whether a counter counts."""


TRACE_EXTENSIONS = 0x3333333333333333
"""The bits of PMD39 that mean something in trace mode: b1 and bruflush of each entry (Montecito manual table 3-29)."""


PSR_UP, PSR_PP = 2, 3
"""The bits of a block's privilege that hold PSR.up and PSR.pp (block_table.pxd)."""


class Ia64File(RegisterFile):
    """The registers of an Itanium: PMCs, PMDs, breakpoint registers, and the bits of PSR, DCR and PMV that control
    monitoring."""

    def __init__(self, registers: RegisterSet, bank: CounterBank) -> None:
        super().__init__(registers, bank)
        self.notifications = 0
        self._known_effects: dict[int, tuple[int, int, int]] = {}
        self._known_enabled: dict[tuple[int, int, int, int], bool] = {}
        self._whole_system = self._levels_alone = False
        self._interrupts = ""

    def read(self, name: str, cpl: int = 0) -> int:
        """Return the result of a read at a privilege level.

        A PMC is read at level 0 only. An unprivileged read of a PMD returns 0 when PSR.sp is set or when the
        counter is privileged (PMC.pm, table 3-5).
        """
        register = self.registers[name]
        if cpl:
            if not register.name.startswith("pmd"):
                raise BadValueError(
                    f"{register.name} is read at privilege level 0 only", "registers_need_privilege_level_0"
                )
            if self._hidden(register.number):
                return 0
        return register.shown(self._held[register.name])

    def _hidden(self, number: int) -> bool:
        """Return whether unprivileged software reads PMD `number` as 0."""
        if self._held["psr"] & self.registers["psr"].field("sp").mask:
            return True
        return number in self.bank.numbers and self.field(f"pmc{number}", "pm") == 1

    def write(self, name: str, value: int, cpl: int = 0) -> None:
        """Write a register as the hardware does: reserved bits keep their value, ignored ones stay zero."""
        register = self.registers[name]
        if cpl:
            raise BadValueError(
                f"{register.name} is written at privilege level 0 only", "registers_need_privilege_level_0"
            )
        accepted = register.accept(value)
        if accepted != self._held[register.name]:
            self._held[register.name] = accepted
            if not register.name.startswith("pmd") and register.name != "pmc0":
                self.configured += 1

    def data_register(self, number: int) -> str | None:
        """Return the name of the PMD of that number."""
        name = f"pmd{number}"
        return name if name in self.registers else None

    def read_data(self, number: int, cpl: int) -> int:
        """Read a PMD; one that does not exist reads as 0."""
        name = self.data_register(number)
        return self.read(name, cpl) if name else 0

    @property
    def frozen(self) -> bool:
        """Whether PMC0.fr stops all monitoring."""
        return bool(self._held["pmc0"] & 1)

    def stop(self) -> None:
        """Set PMC0.fr."""
        self.set_field("pmc0", "fr", 1)

    def freeze(self, frozen: bool) -> None:
        """Set or clear PMC0.fr."""
        self.write("pmc0", int(frozen))

    def enabled(self, pmd: int) -> bool:
        """Return whether the counter counts now: not frozen, PSR.up or PSR.pp by PMC.pm, PSR.cpl within PMC.plm, PSR.is
        not masked by PMC.ism.

        Montecito manual section 3.3.1, Itanium manual sections 6.1.3.2 and 6.1.3.3. Bit 0 of ism masks IA-64 code,
        bit 1 IA-32 code: 0 both, 1 IA-32 only, 2 IA-64 only (Montecito manual table 3-5), 3 neither. PMC4.enable of
        Itanium 2 is ignored: programming leaves it at zero.
        """
        return self._enabled_at(pmd, self.field("psr", "cpl"))

    def may_count(self, pmd: int) -> bool:
        """Return whether the counter counts in the current state; in that of a whole processor, frozen or not: its code
        freezes and thaws the counters without programming them anew."""
        if self._whole_system:
            return self._runs(pmd, self._held["psr"], self._held[f"pmc{pmd}"], 0)
        return self.enabled(pmd)

    def enabled_in_kernel(self, pmd: int) -> bool:
        """Return whether the counter counts while the operating system runs, at level 0."""
        return self._enabled_at(pmd, 0)

    def _enabled_at(self, pmd: int, cpl: int) -> bool:
        """Return whether the counter counts at a level; cached by setting, as every overflow checks all counters."""
        if self.frozen:
            return False
        asked = pmd, self._held["psr"], self._held[f"pmc{pmd}"], cpl
        known = self._known_enabled.get(asked)
        if known is None:
            if len(self._known_enabled) >= MAX_REMEMBERED_SETTINGS:
                self._known_enabled.clear()
            known = self._known_enabled[asked] = self._runs(*asked)
        return known

    def _runs(self, pmd: int, psr_value: int, pmc_value: int, cpl: int) -> bool:
        psr = self.registers["psr"].decode(psr_value)
        configuration = self.registers[f"pmc{pmd}"].decode(pmc_value)
        if self._whole_system:  # the code's own privilege decides, instruction by instruction
            running, level = 1, configuration["plm"]
        else:
            running = psr["pp"] if configuration["pm"] else psr["up"]
            level = configuration["plm"] >> cpl & 1
        masked = configuration["ism"] >> psr["is"] & 1
        return bool(running and level and not masked)

    def run_program(self) -> None:
        """Enter the state in which a monitored program runs: level 3, IA-64 code, user and privileged monitors on."""
        for name, value in {"up": 1, "pp": 1, "cpl": 3, "is": 0}.items():
            self.set_field("psr", name, value)

    @property
    def whole_system(self) -> bool:
        """Whether the registers count a whole processor's code, at all its privileges."""
        return self._whole_system

    def run_system(self, levels_alone: bool = False, interrupts: str = "") -> None:
        """Enter the state in which the code of a whole processor runs, whose level, PSR.up and PSR.pp change. A monitor
        counts the code whose privilege its plm and pm select (Montecito manual section 3.2.3.2); with ``levels_alone``
        its plm does: for monitors that the code knows nothing of, so that its PSR.up and PSR.pp are not for them.
        ``interrupts``: what counts at level 0, where interruptions set PSR.pp: INTERRUPTS_ALONE, INTERRUPTS_EXCLUDED;
        "": all."""
        self._whole_system, self._levels_alone, self._interrupts = True, levels_alone, interrupts
        self._known_enabled.clear()
        self.set_field("psr", "is", 0)

    def privileges(self, plm: int, pm: bool) -> int:
        """Return the privileges at which a monitor with these fields counts, a bit each."""
        if not self._whole_system:
            return ALL_PRIVILEGES
        found = privileges(plm, None if self._levels_alone else PSR_PP if pm else PSR_UP)
        if not self._interrupts:
            return found
        handlers = privileges(PLM_KERNEL, PSR_PP)
        others = privileges(PLM_KERNEL, None) & ~handlers
        return found & ~(others if self._interrupts == INTERRUPTS_ALONE else handlers)

    def set_secure(self, secure: bool) -> None:
        """Set PSR.sp."""
        self.set_field("psr", "sp", int(secure))

    def interruption(self) -> None:
        """Deliver an interruption: level 0, IA-64 code, PSR.pp from DCR.pp.

        So DCR.pp controls whether privileged monitors count in handlers (Itanium manual section 6.1.3.2).
        """
        self.set_field("psr", "pp", self.field("dcr", "pp"))
        self.set_field("psr", "cpl", 0)
        self.set_field("psr", "is", 0)

    def _overflow(self, pmd: int) -> None:
        """Handle a wrapped counter: set its bit in PMC0, and with PMC.oi freeze and raise one interrupt.

        With PMC.ev an external notification occurs, independent of PMC.oi (table 3-6); `notifications` counts these.
        """
        self._held["pmc0"] |= 1 << pmd
        notify, interrupt = self._effects(pmd)
        self.notifications += notify
        if interrupt:
            self._held["pmc0"] |= 1
            self.interrupt = True

    def _effects(self, pmd: int) -> tuple[int, int]:
        """Return PMC.ev and PMC.oi of a counter; cached by programming, as samplers overflow often."""
        known = self._known_effects.get(pmd)
        if known is None or known[0] != self.configured:
            known = (self.configured, self.field(f"pmc{pmd}", "ev"), self.field(f"pmc{pmd}", "oi"))
            self._known_effects[pmd] = known
        return known[1:]

    @property
    def pending_vector(self) -> int | None:
        """The vector of the pending interrupt, None if there is none or PMV masks it (section 3.3.11)."""
        if not self.interrupt or self.field("pmv", "m"):
            return None
        return self.field("pmv", "vector")

    def take_overflows(self) -> list[int]:
        """Return the counters that have overflowed; clear PMC0 and the interrupt, as a handler does."""
        status = self._held["pmc0"]
        self._held["pmc0"] = 0
        self.interrupt = False
        return [number for number in self.bank.numbers if status >> number & 1]


class MontecitoFile(Ia64File):
    """In trace mode bits 3:2 of each entry of PMD39 read zero, and writes of them are ignored (Montecito manual table
    3-29)."""

    def _defined(self, name: str) -> int:
        """The bits of a register that mean something in the mode of the buffer: PMC42.mode of the IP-EAR is 1xx."""
        traces = self.registers[name].name == "pmd39" and not self.field("pmc42", "mode") >> 2
        return TRACE_EXTENSIONS if traces else WORD

    def read(self, name: str, cpl: int = 0) -> int:
        """As `Ia64File.read`."""
        return super().read(name, cpl) & self._defined(name)

    def write(self, name: str, value: int, cpl: int = 0) -> None:
        """As `Ia64File.write`."""
        defined = self._defined(name)
        if defined != WORD and 0 <= value <= WORD:
            value = (value & defined) | (self._held["pmd39"] & ~defined)
        super().write(name, value, cpl)
