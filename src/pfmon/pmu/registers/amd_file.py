"""The model-specific registers of AMD's core performance counters (AMD APM volume 2, section 13.2; PPR of Family 19h
Model 21h, section 2.1.17).

Six counters with an event select register each, PERF_CTL0 to 5 and PERF_CTR0 to 5. The first four are also at the
addresses of the processors before (PERF_LEGACY_CTL, PERF_LEGACY_CTR): these are the same registers.
"""

from __future__ import annotations

from pfmon.errors import BadValueError
from pfmon.pmu.registers.msr_file import MsrFile, msr_access_needs_level_0
from pfmon.pmu.registers.register_file import CounterBank

COUNTERS = tuple(range(6))
LEGACY = tuple(range(4))
LEGACY_NAME = "perf_legacy_"
MERGE = 0xFFF
"""The event of a counter with an odd number that extends the one before it (PPR section 2.1.17.3)."""

AMD_ADDRESSES = {
    **{f"perf_legacy_ctl{n}": 0xC001_0000 + n for n in LEGACY},
    **{f"perf_legacy_ctr{n}": 0xC001_0004 + n for n in LEGACY},
    **{f"perf_ctl{n}": 0xC001_0200 + 2 * n for n in COUNTERS},
    **{f"perf_ctr{n}": 0xC001_0201 + 2 * n for n in COUNTERS},
}
PERF_CTR_EXT_CORE = 1 << 23


def cpuid_80000001_ecx(bank: CounterBank) -> int:
    """Return the bits of CPUID Fn8000_0001 ECX about core counters: PerfCtrExtCore, there are six, at C001_0200h and
    up. Leaf 0AH is zero on AMD's processors (AMD APM volume 3, appendix E.3)."""
    return PERF_CTR_EXT_CORE if len(bank.numbers) > len(LEGACY) else 0


def amd_counter_name(counter: int) -> str:
    """Return the register of a counter."""
    return f"perf_ctr{counter}"


def amd_select_register(counter: int) -> str:
    """Return the register that selects a counter's event."""
    return f"perf_ctl{counter}"


def present_name(name: str) -> str:
    """Return the name of the register that is also at the address of an older one."""
    return name.replace(LEGACY_NAME, "perf_")


class AmdFile(MsrFile):
    """The registers of one logical processor without global control: each counter has its own enable (En)."""

    counter_name = staticmethod(amd_counter_name)
    select_register = staticmethod(amd_select_register)

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
        if index not in self.bank.numbers:
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
        itself."""
        return self.selected(pmd) != MERGE and super().enabled(pmd)

    def _control(self, counter: int) -> dict[str, int]:
        """Return the fields of a counter's own control, edge detection under Intel's name, too."""
        fields = super()._control(counter)
        return fields | {"e": fields["edge"]}
