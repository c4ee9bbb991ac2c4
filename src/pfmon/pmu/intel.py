"""Intel architectural performance monitoring, versions 1 and 2 (Intel SDM volume 3, section 30.2).

Counters are numbered as in IA32_PERF_GLOBAL_CTRL: 0 and 1 are IA32_PMC0 and 1, 32 to 34 the fixed-function
counters. A general protection fault is a BadValueError that says so.
"""

from __future__ import annotations

from pfmon.errors import BadValueError, RuleError
from pfmon.pmu.file import RegisterFile
from pfmon.pmu.programmer import Programmer
from pfmon.pmu.programming import Monitor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import ClassVar

    from pfmon.pmu.event import Event
    from pfmon.pmu.file import CounterBank
    from pfmon.pmu.register import RegisterSet
    from pfmon.pmu.request import EventRequest

GENERAL = (0, 1)
FIXED = (32, 33, 34)
COUNTER_CONTROLS = ("pc", "int")
"""Fields that a control sets for all counters; fixed-function ones have no PC."""
SECTION = "Intel SDM volume 3 sections 30.2.1.1 and 30.2.2"
WIDTH = 40
COUNT = (1 << WIDTH) - 1
RDPMC_FIXED = 1 << 30
USER_LEVELS = 0b1110

MSR_ADDRESSES = {
    **{f"ia32_pmc{n}": 0x0C1 + n for n in GENERAL},
    **{f"ia32_perfevtsel{n}": 0x186 + n for n in GENERAL},
    "ia32_debugctl": 0x1D9,
    **{f"ia32_fixed_ctr{n}": 0x309 + n for n in range(3)},
    "ia32_fixed_ctr_ctrl": 0x38D,
    "ia32_perf_global_status": 0x38E,
    "ia32_perf_global_ctrl": 0x38F,
    "ia32_perf_global_ovf_ctrl": 0x390,
}


def cpuid_0a(version: int) -> tuple[int, int, int, int]:
    """EAX, EBX, ECX, EDX of CPUID leaf 0AH: version, counters, widths, and no event left out.

    EAX: version 7:0, general counters 15:8, their width 23:16, length of the EBX vector 31:24. EDX from
    version 2 on: fixed-function counters 4:0, their width 12:5.
    """
    eax = version | len(GENERAL) << 8 | WIDTH << 16 | 7 << 24
    return eax, 0, 0, len(FIXED) | WIDTH << 5 if version >= 2 else 0


class MsrFile(RegisterFile):
    """The model-specific registers of one logical processor. `cpl` is the current privilege level."""

    def __init__(self, registers: RegisterSet, bank: CounterBank) -> None:
        super().__init__(registers, bank)
        self.cpl = 0
        self._before = dict.fromkeys(bank.numbers, False)

    @property
    def version(self) -> int:
        """1, or 2 with the fixed-function counters and the global registers."""
        return 2 if "ia32_perf_global_ctrl" in self.registers else 1

    def address(self, msr: int) -> str:
        """The name of the register at an MSR address."""
        for name, number in MSR_ADDRESSES.items():
            if number == msr and name in self.registers:
                return name
        raise BadValueError(f"MSR {msr:#x} is not there (general protection fault)", "msrs_must_exist")

    def read(self, name: str, cpl: int = 0) -> int:
        """RDMSR: level 0 only."""
        msr_access_needs_level_0(cpl)
        return self._held[self.registers[name].name]

    def rdpmc(self, index: int) -> int:
        """RDPMC: general counters by number, fixed-function ones with bit 30 set."""
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
        if register.name == "ia32_perf_global_status":
            raise BadValueError(
                "IA32_PERF_GLOBAL_STATUS is read only (general protection fault)", "global_status_is_read_only"
            )
        held = register.accept(value)
        if register.name.startswith("ia32_pmc"):
            held = (value & 0xFFFFFFFF) | (COUNT ^ 0xFFFFFFFF if value >> 31 & 1 else 0)
        if register.name == "ia32_perf_global_ovf_ctrl":
            self._held["ia32_perf_global_status"] &= ~value
            held = 0
        self._held[register.name] = held

    @property
    def frozen(self) -> bool:
        """Whether IA32_PERF_GLOBAL_CTRL disables every counter."""
        return self.version > 1 and not self._held["ia32_perf_global_ctrl"]

    def _levels(self, counter: int) -> int:
        """The privilege levels at which a counter's own control lets it count."""
        if counter in FIXED:
            control = self.field("ia32_fixed_ctr_ctrl", f"en{counter - 32}")
            return (control & 1) | (USER_LEVELS if control & 2 else 0)
        select = f"ia32_perfevtsel{counter}"
        if not self.field(select, "en"):
            return 0
        return self.field(select, "os") | (USER_LEVELS if self.field(select, "usr") else 0)

    def enabled(self, pmd: int) -> bool:
        """Whether the counter runs at the current privilege level."""
        if self.version > 1 and not self._held["ia32_perf_global_ctrl"] >> pmd & 1:
            return False
        return bool(self._levels(pmd) >> self.cpl & 1)

    def counter_name(self, counter: int) -> str:
        """The register that holds a counter."""
        return f"ia32_fixed_ctr{counter - 32}" if counter in FIXED else f"ia32_pmc{counter}"

    def count(self, pmd: int) -> int:
        """The counter's 40 bits."""
        return self._held[self.counter_name(pmd)] & COUNT

    def headroom(self, pmd: int) -> int:
        """The increments after which the counter wraps."""
        return COUNT + 1 - self.count(pmd)

    def add(self, pmd: int, increment: int) -> bool:
        """Add to a counter; True when it wraps. Whether it is enabled is the caller's to know (`enabled`)."""
        total = self.count(pmd) + increment
        self._held[self.counter_name(pmd)] = total & COUNT
        if total <= COUNT:
            return False
        self._overflow(pmd)
        return True

    def _overflow(self, pmd: int) -> None:
        """A counter wrapped: status, the interrupt, and the freeze of IA32_DEBUGCTL."""
        if self.version > 1:
            self._held["ia32_perf_global_status"] |= 1 << pmd
        signalled = (
            self.field("ia32_fixed_ctr_ctrl", f"pmi{pmd - 32}")
            if pmd in FIXED
            else self.field(f"ia32_perfevtsel{pmd}", "int")
        )
        if signalled:
            self.interrupt = True
            if self.version > 1 and self.field("ia32_debugctl", "freeze_perfmon_on_pmi"):
                self._held["ia32_perf_global_ctrl"] = 0

    def clock(self, counter: int, occurrences: int) -> bool:
        """One cycle with so many occurrences of the counter's event; True when the counter wraps.

        CMASK, INV and E of the event select register apply (section 30.2.1.1); fixed-function counters have
        none.
        """
        if not self.enabled(counter):
            return False
        if counter in FIXED:
            return self.add(counter, occurrences)
        select = self.registers["ia32_perfevtsel0"].decode(self._held[f"ia32_perfevtsel{counter}"])
        step = occurrences
        if select["cmask"]:
            step = int((occurrences >= select["cmask"]) != bool(select["inv"]))
        if select["e"]:
            now = step > 0
            step = int(now and not self._before[counter])
            self._before[counter] = now
        return self.add(counter, step)

    def take_overflows(self) -> list[int]:
        """The counters that have overflowed; clears the status and the interrupt (version 2)."""
        status = self._held.get("ia32_perf_global_status", 0)
        if self.version > 1:
            self._held["ia32_perf_global_status"] = 0
        self.interrupt = False
        return [number for number in self.bank.numbers if status >> number & 1]


class IntelV1Programmer(Programmer):
    """Two general counters, each with its event select register."""

    pmu = "intel_v1"
    architecture = "x86"
    counters: tuple[int, ...] = GENERAL
    width = WIDTH
    counter_source = "Intel SDM volume 3 section 30.2.1.1"
    register_file: ClassVar[type[RegisterFile]] = MsrFile

    event_options = ("edge", "invert")
    features: tuple[str, ...] = ("controls",)

    def check(self) -> None:
        """Controls beside PC and INT, which every counter has, are fields of IA32_DEBUGCTL."""
        controls_are_fields(self.debug_controls(), self.registers)
        super().check()

    def debug_controls(self) -> dict[str, int]:
        """The controls that are not of single counters."""
        return {name: value for name, value in self.request.controls.items() if name not in COUNTER_CONTROLS}

    def check_thresholds(self) -> None:
        """CMASK takes the place of thresholds: any value of its field, and INV needs one."""
        for event, wanted in self.requested():
            invert_needs_a_threshold(event, wanted)

    def assignment(self, allowed: Sequence[Sequence[int]]) -> list[int] | None:
        """Fixed-function counters first, so that general ones stay free for other events."""
        narrowed = [
            [c for c in counters if c in GENERAL or not (conditional(wanted) or self.request.controls.get("pc"))]
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
        """The interrupt is requested unless the control INT says otherwise: sampling and 64-bit counts need it."""
        plm = self.plm(wanted.plm)
        user_levels_go_together(plm)
        return Monitor(
            event, number, number, plm, False, 0, wanted.threshold, bool(self.request.controls.get("int", 1))
        )

    def program_monitor(self, monitor: Monitor) -> None:
        """The event select register, or the fixed-function counter's share of its control register."""
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


class IntelV2Programmer(IntelV1Programmer):
    """Version 1 with three fixed-function counters and the global registers."""

    pmu = "intel_v2"
    counters = GENERAL + FIXED
    counter_source = "Intel SDM volume 3 section 30.2.2"

    def program_features(self) -> None:
        """IA32_PERF_GLOBAL_CTRL last, which starts all counters at once; IA32_DEBUGCTL before it."""
        if controls := self.debug_controls():
            self.writes["ia32_debugctl"] = self.registers["ia32_debugctl"].encode(**controls)
        enables = 0
        for number in self.pmds:
            enables |= 1 << number
        self.writes["ia32_perf_global_ctrl"] = enables


def controls_are_fields(controls: Mapping[str, int], registers: RegisterSet) -> None:
    """What can be set beside the events: PC and INT of all counters, and IA32_DEBUGCTL (version 2; section 30.2.2)."""
    known = list(COUNTER_CONTROLS)
    if "ia32_debugctl" in registers:
        known += [field.name for field in registers["ia32_debugctl"].fields]
    for name in controls:
        if name not in known:
            raise RuleError("controls_are_fields", f"no control {name!r}; there are {', '.join(known)}", SECTION)


def conditional(wanted: EventRequest) -> bool:
    """Whether the request needs CMASK, INV or E."""
    return bool(wanted.threshold or wanted.edge or wanted.invert)


def msr_access_needs_level_0(cpl: int) -> None:
    """RDMSR and WRMSR fault at other levels."""
    if cpl:
        raise BadValueError(
            "RDMSR and WRMSR work at privilege level 0 only (general protection fault)", "msr_access_needs_level_0"
        )


def user_levels_go_together(plm: int) -> None:
    """USR stands for levels 1, 2 and 3 alike (section 30.2.1.1)."""
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
