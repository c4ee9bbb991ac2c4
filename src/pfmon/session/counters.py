"""Counters of a session: the PMU's own registers, extended to 64 bits and more by what overflowed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.pmu.file import RegisterFile
    from pfmon.pmu.programming import Monitor, Programming


class VirtualCounters:
    """The programmed counters of one PMU.

    Increments go into the PMDs; when one wraps, its overflow is taken as a kernel's handler takes it: the
    status is read and cleared, which ends the freeze, and the counter's width is added to a software total.
    """

    def __init__(self, registers: RegisterFile, programming: Programming, ia32: bool = False) -> None:
        """``ia32``: an Itanium executes IA-32 code."""
        self.registers = registers
        self.programming = programming
        self._overflows = dict.fromkeys(programming.counters, 0)
        registers.hold(dict.fromkeys(programming.counters, 0))
        for name, value in programming.writes.items():
            registers.write(name, value)
        registers.run_program()
        if ia32:
            registers.set_field("psr", "is", 1)

    def add(self, monitor: Monitor, increment: int) -> None:
        """Count ``increment`` more of the monitor's event."""
        while increment:
            part = min(increment, self.registers.headroom(monitor.pmd))
            if self.registers.add(monitor.pmd, part):
                for pmd in self.registers.take_overflows():
                    self._overflows[pmd] += 1
            increment -= part

    def read(self, monitor: Monitor, count: int) -> int:
        """What a program at level 3 reads when the monitor has counted so much and nobody has taken its overflows."""
        held = self.registers.count(monitor.pmd)
        self.registers.hold({monitor.pmd: (held + count) & ((1 << self.registers.bank.width) - 1)})
        value = self.registers.read_data(monitor.pmd, cpl=3)
        self.registers.hold({monitor.pmd: held})
        return value

    def value(self, monitor: Monitor) -> int:
        """The monitor's count."""
        return (self._overflows[monitor.pmd] << self.registers.bank.width) + self.registers.count(monitor.pmd)
