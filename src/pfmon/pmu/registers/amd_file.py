"""The model-specific registers of AMD's core performance counters (AMD APM volume 2, section 13.2; PPR of Family 19h
Model 21h, section 2.1.17).

Six counters with an event select register each, PERF_CTL0 to 5 and PERF_CTR0 to 5. The first four are also at the
addresses of the processors before (PERF_LEGACY_CTL, PERF_LEGACY_CTR): these are the same registers.
"""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.errors import BadValueError
from pfmon.pmu.registers.msr_file import MsrFile, msr_access_needs_level_0
from pfmon.pmu.registers.register_file import CounterBank
from pfmon.pmu.registers.register_tables import RegisterSet
from pfmon.pmu.target import IBS_DC_LINADDR, IBS_OP_DATA2, IBS_OP_DATA3, IBS_OP_RIP, IBS_RECORD

COUNTERS = tuple(range(6))
LEGACY = tuple(range(4))
LEGACY_NAME = "perf_legacy_"
MERGE = 0xFFF
"""The event of a counter with an odd number that extends the one before it (PPR section 2.1.17.3)."""
OP_SAMPLING, FETCH_SAMPLING = 32, 33
"""Numbers of instruction-based sampling, behind those of counters."""
SAMPLING = {OP_SAMPLING: ("ibs_op_ctl", "op_en"), FETCH_SAMPLING: ("ibs_fetch_ctl", "fetch_en")}
"""Its control registers, with their enables."""

STATUS, CONTROL = "perf_cntr_global_status", "perf_cntr_global_ctl"
STATUS_CLEAR = "perf_cntr_global_status_clr"
LAST_BRANCH_FROM, LAST_BRANCH_TO, LAST_BRANCHES = 0xC001_0300, 0xC001_0301, 16
"""Last branch records: the registers of entry 0, each entry two behind the one before it, and their number."""

AMD_ADDRESSES = {
    **{f"perf_legacy_ctl{n}": 0xC001_0000 + n for n in LEGACY},
    **{f"perf_legacy_ctr{n}": 0xC001_0004 + n for n in LEGACY},
    **{f"perf_ctl{n}": 0xC001_0200 + 2 * n for n in COUNTERS},
    **{f"perf_ctr{n}": 0xC001_0201 + 2 * n for n in COUNTERS},
    "ibs_fetch_ctl": 0xC001_1030,
    "ibs_fetch_linaddr": 0xC001_1031,
    "ibs_fetch_physaddr": 0xC001_1032,
    "ibs_op_ctl": 0xC001_1033,
    "ibs_op_rip": IBS_OP_RIP,
    "ibs_op_data": 0xC001_1035,
    "ibs_op_data2": IBS_OP_DATA2,
    "ibs_op_data3": IBS_OP_DATA3,
    "ibs_dc_linaddr": IBS_DC_LINADDR,
    "ibs_dc_physaddr": 0xC001_1039,
    "ibs_ctl": 0xC001_103A,
    "bp_ibstgt_rip": 0xC001_103B,
    "ic_ibs_extd_ctl": 0xC001_103C,
    STATUS: 0xC000_0300,
    CONTROL: 0xC000_0301,
    STATUS_CLEAR: 0xC000_0302,
    "lbr_select": 0xC000_010E,
    "dbg_extn_cfg": 0xC000_010F,
}
IBS, PERF_CTR_EXT_CORE = 1 << 10, 1 << 23


def cpuid_80000001_ecx(bank: CounterBank) -> int:
    """Return the bits of CPUID Fn8000_0001 ECX about monitoring: PerfCtrExtCore, there are six core counters, at
    C001_0200h and up; IBS. Leaf 0AH is zero on AMD's processors (AMD APM volume 3, appendix E.3)."""
    counters = sum(number not in SAMPLING for number in bank.numbers)
    return PERF_CTR_EXT_CORE * (counters > len(LEGACY)) | IBS * (OP_SAMPLING in bank.numbers)


RECORD_NAMES = {number: name for name, number in AMD_ADDRESSES.items() if number in IBS_RECORD}
RECORD_NAMES |= {LAST_BRANCH_FROM + 2 * n: f"last_branch_stack_from_ip_{n}" for n in range(LAST_BRANCHES)}
RECORD_NAMES |= {LAST_BRANCH_TO + 2 * n: f"last_branch_stack_to_ip_{n}" for n in range(LAST_BRANCHES)}


def cpuid_80000022(bank: CounterBank, last_branches: int) -> tuple[int, int]:
    """Return EAX and EBX of CPUID Fn8000_0022: PerfMonV2 and LbrStack in EAX 0 and 1; the core counters in EBX 3:0,
    last branch records in 9:4 (AMD APM volume 3, appendix E.4)."""
    counters = sum(number not in SAMPLING for number in bank.numbers)
    return 0b11, counters | last_branches << 4


def amd_counter_name(counter: int) -> str:
    """Return the register of a counter, of a sampled op, or the control register of sampling."""
    if counter in SAMPLING:
        return SAMPLING[counter][0]
    return RECORD_NAMES.get(counter) or f"perf_ctr{counter}"


def amd_select_register(counter: int) -> str:
    """Return the register that selects a counter's event, or what is sampled."""
    return SAMPLING[counter][0] if counter in SAMPLING else f"perf_ctl{counter}"


def present_name(name: str) -> str:
    """Return the name of the register that is also at the address of an older one."""
    return name.replace(LEGACY_NAME, "perf_")


class AmdFile(MsrFile):
    """The registers of one logical processor without global control: each counter has its own enable (En). Of
    sampling the file holds how much is left of the period, as a counter of 48 bits that overflows; the register counts
    up to OpMaxCnt."""

    counter_name = staticmethod(amd_counter_name)
    select_register = staticmethod(amd_select_register)

    def __init__(self, registers: RegisterSet, bank: CounterBank) -> None:
        super().__init__(registers, bank)
        self._sampled = dict.fromkeys(SAMPLING, 0)

    @property
    def version(self) -> int:
        """0: there is no architectural version of Intel's."""
        return 0

    def address(self, msr: int) -> str:
        """Return the name of the register at an MSR address."""
        for name, number in AMD_ADDRESSES.items():
            if number == msr and name in self.registers:
                return name
        raise BadValueError(f"MSR {msr:#x} is not there (general protection fault)", "msrs_must_exist")

    def read(self, name: str, cpl: int = 0) -> int:
        """RDMSR: level 0 only."""
        return super().read(present_name(self.registers[name].name), cpl)

    def write(self, name: str, value: int, cpl: int = 0) -> None:
        """WRMSR: level 0 only; reserved bits keep zero. A counter is written with all its bits."""
        msr_access_needs_level_0(cpl)
        register = self.registers[name]
        held, own = register.accept(value), present_name(register.name)
        if held != self._held[own] and not own.startswith("perf_ctr"):
            self.configured += 1
        self._held[own] = held

    def rdpmc(self, index: int, cpl: int = 0) -> int:
        """RDPMC: the core counters by number (AMD APM volume 3, RDPMC); above level 0 if CR4.PCE is set."""
        if index not in self.bank.numbers or index in SAMPLING:
            raise BadValueError(
                f"RDPMC of counter {index:#x} (general protection fault)", "rdpmc_needs_a_counter_that_exists"
            )
        return super().rdpmc(index, cpl)

    def selected(self, counter: int) -> int:
        """Return the event code that a counter selects, 0 if it is not enabled."""
        control = self._control(counter)
        return (control["event"] | control["event_high"] << 8) if control["en"] else 0

    def enabled(self, pmd: int) -> bool:
        """Return whether the counter runs at the current privilege level. One that extends another counts nothing
        itself; sampling has no levels."""
        if pmd in SAMPLING:
            return bool(self.field(*SAMPLING[pmd]))
        return self.selected(pmd) != MERGE and super().enabled(pmd)

    def stop(self) -> None:
        """Clear the enable of each counter, and of sampling."""
        for counter in self.bank.numbers:
            self.set_field(*SAMPLING.get(counter, (amd_select_register(counter), "en")), 0)

    def count(self, pmd: int) -> int:
        """Return the counter's count bits as an unsigned number."""
        return self._sampled[pmd] if pmd in SAMPLING else super().count(pmd)

    def store(self, values: Mapping[int, int]) -> None:
        """Store values in data registers, as the PMU itself does."""
        self._sampled.update({number: value for number, value in values.items() if number in SAMPLING})
        super().store({number: value for number, value in values.items() if number not in SAMPLING})

    def _advance(self, pmd: int, increment: int) -> bool:
        """Add to a counter; return whether there was a carry out of it."""
        if pmd not in SAMPLING:
            return super()._advance(pmd, increment)
        count = self._sampled[pmd] + increment
        self._sampled[pmd] = count & (self._limit - 1)
        return count >= self._limit

    def _overflow(self, pmd: int) -> None:
        """Handle a wrapped counter; sampling interrupts at each sample, and says that there is one (IbsOpVal)."""
        if pmd not in SAMPLING:
            super()._overflow(pmd)
            return
        self._wrapped |= 1 << pmd
        self.interrupt = True
        name, enable = SAMPLING[pmd]
        self._held[name] |= self.registers[name].field(enable.replace("_en", "_val")).mask

    def _control(self, counter: int) -> dict[str, int]:
        """Return the fields of a counter's own control, edge detection under Intel's name, too."""
        fields = super()._control(counter)
        return fields | {"e": fields["edge"]}


class AmdV2File(AmdFile):
    """The registers with global control and status (PerfMonV2, AMD APM volume 2, section 13.2.1)."""

    def write(self, name: str, value: int, cpl: int = 0) -> None:
        """WRMSR: level 0 only. The status register is read only; ones in its clear register clear bits."""
        msr_access_needs_level_0(cpl)
        own = self.registers[name].name
        if own == STATUS_CLEAR:
            self._held[STATUS] &= ~self.registers[own].accept(value)
        elif own != STATUS:
            super().write(name, value, cpl)

    @property
    def frozen(self) -> bool:
        """Whether nothing is enabled: no counter by the global control, and no sampling."""
        sampling = any(number in SAMPLING and self.enabled(number) for number in self.bank.numbers)
        return not self._held[CONTROL] and not sampling

    def enabled(self, pmd: int) -> bool:
        """Return whether the counter runs at the current privilege level."""
        return (pmd in SAMPLING or bool(self._held[CONTROL] >> pmd & 1)) and super().enabled(pmd)

    def stop(self) -> None:
        """Clear the global control, and the enables of sampling."""
        self.write(CONTROL, 0)
        for name, enable in SAMPLING.values():
            self.set_field(name, enable, 0)

    def _overflow(self, pmd: int) -> None:
        """Handle a wrapped counter: its bit in the status, too."""
        if pmd not in SAMPLING:
            self._held[STATUS] |= 1 << pmd
        super()._overflow(pmd)

    def take_overflows(self) -> list[int]:
        """Return the counters that have overflowed; clear the status and the interrupt, as a handler does."""
        self._held[STATUS] = 0
        return super().take_overflows()
