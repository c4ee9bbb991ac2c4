"""The model-specific registers of Intel architectural performance monitoring, version 4 (Intel SDM volume 3, sections
18.2.4 and 17.4.7).

Beside version 2's: status bits can be set, a register says what is in use, counters can be written with their whole
width, and a monitoring interrupt freezes the counters by a status bit (CTR_Frz) instead of clearing
IA32_PERF_GLOBAL_CTRL.
"""

from __future__ import annotations

from pfmon.errors import BadValueError
from pfmon.pmu.registers.msr_file import CONTROL, FIXED, STATUS, MsrFile, msr_access_needs_level_0
from pfmon.pmu.registers.register_file import CounterBank
from pfmon.pmu.registers.register_tables import RegisterSet

STATUS_RESET, STATUS_SET = "ia32_perf_global_status_reset", "ia32_perf_global_status_set"
IN_USE = "ia32_perf_global_inuse"
WHOLE_WIDTH = "ia32_a_"


class MsrV4File(MsrFile):
    """The registers of version 4."""

    def __init__(self, registers: RegisterSet, bank: CounterBank) -> None:
        super().__init__(registers, bank)
        status = registers[STATUS]
        self._counters_frozen = status.field("ctr_frz").mask
        self._branches_frozen = status.field("lbr_frz").mask

    @property
    def version(self) -> int:
        """4."""
        return 4

    def read(self, name: str, cpl: int = 0) -> int:
        """RDMSR: level 0 only. IA32_PERF_GLOBAL_INUSE follows from other registers; IA32_A_PMCn is IA32_PMCn."""
        msr_access_needs_level_0(cpl)
        name = self.registers[name].name
        if name == IN_USE:
            return self._in_use()
        return super().read(name.replace(WHOLE_WIDTH, "ia32_"), cpl)

    def write(self, name: str, value: int, cpl: int = 0) -> None:
        """WRMSR: level 0 only; reserved bits fault, as do the registers that say what is."""
        msr_access_needs_level_0(cpl)
        register = self.registers[name]
        if register.name == IN_USE:
            raise BadValueError("IA32_PERF_GLOBAL_INUSE is read only (general protection fault)", "inuse_is_read_only")
        if register.name in (STATUS_RESET, STATUS_SET):
            register.accept(value)
            before = self._held[STATUS]
            self._held[STATUS] = before | value if register.name == STATUS_SET else before & ~value
            self.configured += bool((before ^ self._held[STATUS]) & self._counters_frozen)
        elif register.name.startswith(WHOLE_WIDTH):
            self._held[register.name.replace(WHOLE_WIDTH, "ia32_")] = register.accept(value)
        else:
            super().write(name, value, cpl)

    @property
    def frozen(self) -> bool:
        """Whether CTR_Frz or IA32_PERF_GLOBAL_CTRL stops every counter (section 18.2.4.1)."""
        return bool(self._held[STATUS] & self._counters_frozen) or not self._held[CONTROL]

    def enabled(self, pmd: int) -> bool:
        """Return whether the counter runs at the current privilege level."""
        return not self._held[STATUS] & self._counters_frozen and super().enabled(pmd)

    def _freeze(self) -> None:
        """Freeze the counters and branch recording, as IA32_DEBUGCTL says (section 17.4.7)."""
        if self.field("ia32_debugctl", "freeze_perfmon_on_pmi"):
            self._held[STATUS] |= self._counters_frozen
        if self.field("ia32_debugctl", "freeze_lbrs_on_pmi"):
            self._held[STATUS] |= self._branches_frozen

    def _in_use(self) -> int:
        """Return IA32_PERF_GLOBAL_INUSE: the counters with an event or an enable, and whether one of them may interrupt
        (section 18.2.4.3)."""
        used = 0
        interrupts = False
        for number in self.bank.numbers:
            control = self._control(number)
            fixed = number - FIXED[0]
            enabled = control[f"en{fixed}"] if number in FIXED else control["event"]
            used |= (enabled != 0) << number
            interrupts |= bool(control[f"pmi{fixed}"] if number in FIXED else control["int"])
        return used | interrupts << 63


class MsrV5File(MsrV4File):
    """The registers of version 5: the same, without AnyThread, and with a fourth fixed-function counter (section
    18.2.5)."""

    @property
    def version(self) -> int:
        """5."""
        return 5
