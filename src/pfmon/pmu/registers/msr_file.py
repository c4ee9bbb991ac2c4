"""The model-specific registers of Intel architectural performance monitoring, versions 1 and 2 (Intel SDM volume 3,
section 30.2); msr_v4_file.py has version 4's, amd_file.py AMD's.

Counters are numbered as in IA32_PERF_GLOBAL_CTRL: 0 is IA32_PMC0, and so on; 32 to 35 the fixed-function
counters. A general protection fault is a BadValueError that says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.errors import BadValueError
from pfmon.pmu.registers.register_file import CounterBank, RegisterFile
from pfmon.pmu.registers.register_tables import RegisterSet
from pfmon.pmu.target import (
    LAST_BRANCH_TOS,
    PEBS_DATA_ADDRESS,
    PEBS_DATA_SOURCE,
    PEBS_EVENTING_IP,
    PEBS_LATENCY,
)

GENERAL = tuple(range(8))
FIXED = (32, 33, 34, 35)
"""The counters that a register exists for; a PMU has those of its `Target.counters`."""
RDPMC_FIXED = 1 << 30
USER_LEVELS = 0b1110
PROGRAM_LEVEL = 3
STATUS, CONTROL = "ia32_perf_global_status", "ia32_perf_global_ctrl"
OVERFLOW_CONTROL = "ia32_perf_global_ovf_ctrl"

MSR_ADDRESSES = {
    **{f"ia32_pmc{n}": 0x0C1 + n for n in GENERAL},
    **{f"ia32_perfevtsel{n}": 0x186 + n for n in GENERAL},
    "ia32_debugctl": 0x1D9,
    **{f"ia32_fixed_ctr{n}": 0x309 + n for n in range(4)},
    "ia32_perf_metrics": 0x329,
    "ia32_fixed_ctr_ctrl": 0x38D,
    STATUS: 0x38E,
    CONTROL: 0x38F,
    OVERFLOW_CONTROL: 0x390,
    "ia32_perf_global_status_reset": 0x390,
    "ia32_perf_global_status_set": 0x391,
    "ia32_perf_global_inuse": 0x392,
    **{f"ia32_a_pmc{n}": 0x4C1 + n for n in GENERAL},
    **{f"msr_offcore_rsp_{n}": 0x1A6 + n for n in range(2)},
    "msr_pebs_ld_lat_threshold": 0x3F6,
    "msr_pebs_frontend": 0x3F7,
    "msr_lbr_select": 0x1C8,
    "ia32_pebs_enable": 0x3F1,
}
"""Addresses; of two names for one address a PMU has one (version 4's IA32_PERF_GLOBAL_STATUS_RESET)."""


LAST_BRANCH_NAMES = {
    range(0x40, 0x44): "msr_lastbranch_{}_from_ip",  # Core 2's
    range(0x60, 0x64): "msr_lastbranch_{}_to_ip",
    range(LAST_BRANCH_TOS, LAST_BRANCH_TOS + 1): "msr_lastbranch_tos",
    range(0x680, 0x6A0): "msr_lastbranch_{}_from_ip",
    range(0x6C0, 0x6E0): "msr_lastbranch_{}_to_ip",
    range(0xDC0, 0xDE0): "msr_lbr_info_{}",
}
"""MSR addresses of last branch records -> their names (Intel SDM volume 3, sections 17.4.8, 17.5 and 17.7)."""


PEBS_NAMES = {
    PEBS_DATA_ADDRESS: "pebs_data_linear_address",
    PEBS_DATA_SOURCE: "pebs_data_source",
    PEBS_LATENCY: "pebs_latency",
    PEBS_EVENTING_IP: "pebs_eventing_ip",
}
"""Fields of the record of a precise load, by their offset in it -> their names (section 18.8.1.2)."""


def cpuid_0a(bank: CounterBank, version: int) -> tuple[int, int, int, int]:
    """Return EAX, EBX, ECX, EDX of CPUID leaf 0AH: version, counters, widths, and all events available.

    EAX: version 7:0, general counters 15:8, their width 23:16, length of the EBX vector 31:24. EDX from
    version 2 on: fixed-function counters 4:0, their width 12:5. From version 5 on the slots of the allocator are one of
    the events, ECX has a bit for each fixed-function counter, and EDX 15 says that there is no AnyThread.
    """
    fixed = sum(counter in FIXED for counter in bank.numbers)
    events, existing, no_any_thread = (8, (1 << fixed) - 1, 1 << 15) if version >= 5 else (7, 0, 0)
    eax = version | len(bank.numbers) - fixed << 8 | bank.width << 16 | events << 24
    return eax, 0, existing, (fixed | bank.width << 5 if version >= 2 else 0) | no_any_thread


def counter_name(counter: int) -> str:
    """Return the register of a counter."""
    return f"ia32_fixed_ctr{counter - FIXED[0]}" if counter in FIXED else f"ia32_pmc{counter}"


def data_register_name(number: int) -> str:
    """Return the register of a counter, or one of last branch records, whose number is its MSR address, or a field of a
    precise load's record, whose number is its offset."""
    if number in PEBS_NAMES:
        return PEBS_NAMES[number]
    for numbers, name in LAST_BRANCH_NAMES.items():
        if number in numbers:
            return name.format(number - numbers.start)
    return counter_name(number)


def select_register(counter: int) -> str:
    """Return the register that selects a counter's event, or its levels."""
    return "ia32_fixed_ctr_ctrl" if counter in FIXED else f"ia32_perfevtsel{counter}"


def control_levels(counter: int, fields: Mapping[str, int]) -> int:
    """Return the privilege levels that a counter's own control, the fields of `select_register`, enables: USR selects
    1, 2 and 3 together (section 30.2.1.1), as does bit 1 of the fixed-function counters' enables."""
    if counter in FIXED:
        enable = fields[f"en{counter - FIXED[0]}"]
        user, kernel = enable >> 1, enable & 1
    else:
        user, kernel = fields["usr"] & fields["en"], fields["os"] & fields["en"]
    return (USER_LEVELS if user else 0) | kernel


def signals_overflow(counter: int, fields: Mapping[str, int]) -> bool:
    """Return whether a counter's own control enables the overflow interrupt."""
    return bool(fields[f"pmi{counter - FIXED[0]}" if counter in FIXED else "int"])


NO_CONFIGURATION = frozenset((*map(counter_name, (*GENERAL, *FIXED)), OVERFLOW_CONTROL))
"""Registers that do not control counting."""


class MsrFile(RegisterFile):
    """The model-specific registers of one logical processor. `cpl` is the current privilege level; `rdpmc_at_any_level`
    is CR4.PCE."""

    def __init__(self, registers: RegisterSet, bank: CounterBank) -> None:
        super().__init__(registers, bank)
        self.cpl = 0
        self.rdpmc_at_any_level = True
        self._before = dict.fromkeys(bank.numbers, False)
        self._wrapped = 0
        """The counters that have wrapped. Version 1 has no status register: its handler inspects the counters."""
        self._enables_before_freeze = 0

    counter_name = staticmethod(counter_name)
    select_register = staticmethod(select_register)

    @property
    def version(self) -> int:
        """1, or 2 with the fixed-function counters and the global registers."""
        return 2 if CONTROL in self.registers else 1

    def address(self, msr: int) -> str:
        """Return the name of the register at an MSR address."""
        for name, number in MSR_ADDRESSES.items():
            if number == msr and name in self.registers:
                return name
        raise BadValueError(f"MSR {msr:#x} is not there (general protection fault)", "msrs_must_exist")

    def reset(self) -> None:
        """Enter the reset state, in which no counter has wrapped."""
        super().reset()
        self._wrapped = self._enables_before_freeze = 0

    def read(self, name: str, cpl: int = 0) -> int:
        """RDMSR: level 0 only."""
        msr_access_needs_level_0(cpl)
        return self._held[self.registers[name].name]

    def rdpmc(self, index: int, cpl: int = 0) -> int:
        """RDPMC: general counters by number, fixed-function ones with bit 30 set; above level 0 if CR4.PCE is set."""
        if cpl and not self.rdpmc_at_any_level:
            raise BadValueError("RDPMC without CR4.PCE (general protection fault)", "rdpmc_needs_level_0_or_pce")
        number = index & ~RDPMC_FIXED
        counter = 32 + number if index & RDPMC_FIXED else number
        if counter not in self.bank.numbers or (number >= 32):
            raise BadValueError(
                f"RDPMC of counter {index:#x} (general protection fault)", "rdpmc_needs_a_counter_that_exists"
            )
        return self.count(counter)

    def write(self, name: str, value: int, cpl: int = 0) -> None:
        """WRMSR: level 0 only; reserved bits fault, the status register is read only.

        A write to a general counter takes 32 bits and extends bit 31.
        """
        msr_access_needs_level_0(cpl)
        register = self.registers[name]
        if register.name == STATUS:
            raise BadValueError(
                "IA32_PERF_GLOBAL_STATUS is read only (general protection fault)", "global_status_is_read_only"
            )
        held = register.accept(value)
        if register.name.startswith("ia32_pmc"):
            held = (value & 0xFFFFFFFF) | ((1 << self.bank.width) - (1 << 32) if value >> 31 & 1 else 0)
        if register.name == OVERFLOW_CONTROL:
            self._held[STATUS] &= ~value
            held = 0
        if register.name == CONTROL:
            self._enables_before_freeze = 0
        if held != self._held[register.name] and register.name not in NO_CONFIGURATION:
            self.configured += 1
        self._held[register.name] = held

    def data_register(self, number: int) -> str | None:
        """Return a counter's name; there are no other data registers."""
        return self.counter_name(number) if number in self.bank.numbers else None

    def read_data(self, number: int, cpl: int) -> int:
        """Read a counter by RDPMC."""
        return self.rdpmc(RDPMC_FIXED | number - FIXED[0] if number in FIXED else number, cpl)

    @property
    def frozen(self) -> bool:
        """Whether IA32_PERF_GLOBAL_CTRL disables every counter."""
        return self.version > 1 and not self._held[CONTROL]

    def stop(self) -> None:
        """Clear IA32_PERF_GLOBAL_CTRL; in version 1 each counter's enable."""
        if self.version > 1:
            self.write(CONTROL, 0)
            return
        for counter in self.bank.numbers:
            self.set_field(self.select_register(counter), "en", 0)

    def _control(self, counter: int) -> dict[str, int]:
        """Return the fields of a counter's own control."""
        name = self.select_register(counter)
        return self.registers[name].decode(self._held[name])

    def enabled(self, pmd: int) -> bool:
        """Return whether the counter runs at the current privilege level."""
        if self.version > 1 and not self._held[CONTROL] >> pmd & 1:
            return False
        return bool(control_levels(pmd, self._control(pmd)) >> self.cpl & 1)

    def run_program(self) -> None:
        """Enter level 3."""
        self.configured += self.cpl != PROGRAM_LEVEL
        self.cpl = PROGRAM_LEVEL

    def set_secure(self, secure: bool) -> None:
        """Set CR4.PCE."""
        self.rdpmc_at_any_level = not secure

    def _overflow(self, pmd: int) -> None:
        """Handle a wrapped counter: status, interrupt, and IA32_DEBUGCTL's freeze."""
        self._wrapped |= 1 << pmd
        if self.version > 1:
            self._held[STATUS] |= 1 << pmd
        if signals_overflow(pmd, self._control(pmd)):
            self.interrupt = True
            if self.version > 1:
                self._freeze()

    def _freeze(self) -> None:
        """Clear IA32_PERF_GLOBAL_CTRL, if IA32_DEBUGCTL wants that at an interrupt (section 30.2.2)."""
        if self.field("ia32_debugctl", "freeze_perfmon_on_pmi"):
            self._enables_before_freeze |= self._held[CONTROL]
            self._held[CONTROL] = 0

    def clock(self, counter: int, occurrences: int) -> bool:
        """Count one cycle with a number of occurrences of the counter's event; return whether the counter wraps.

        CMASK, INV and E of the event select register apply (section 30.2.1.1); fixed-function counters have
        none.
        """
        if not self.enabled(counter):
            return False
        if counter in FIXED:
            return self.add(counter, occurrences)
        select = self._control(counter)
        step = occurrences
        if select["cmask"]:
            step = int((occurrences >= select["cmask"]) != bool(select["inv"]))
        if select["e"]:
            now = step > 0
            step = int(now and not self._before[counter])
            self._before[counter] = now
        return self.add(counter, step)

    def take_overflows(self) -> list[int]:
        """Return the counters that have overflowed. As a handler does, clear the status and the interrupt, and
        re-enable what the freeze disabled."""
        wrapped = self._held[STATUS] if self.version > 1 else self._wrapped
        self._wrapped = 0
        self.interrupt = False
        if self.version > 1:
            self._held[STATUS] = 0
            self._held[CONTROL] |= self._enables_before_freeze
            self._enables_before_freeze = 0
        return [number for number in self.bank.numbers if wrapped >> number & 1]


def msr_access_needs_level_0(cpl: int) -> None:
    """RDMSR and WRMSR fault at other levels."""
    if cpl:
        raise BadValueError(
            "RDMSR and WRMSR work at privilege level 0 only (general protection fault)", "msr_access_needs_level_0"
        )
