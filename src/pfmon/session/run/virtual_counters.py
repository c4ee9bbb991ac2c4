"""Virtual counters of a session: the PMU's registers, extended by their overflows to 64 bits and more."""

from __future__ import annotations

from pfmon.pmu.model.programming import Monitor, Programming
from pfmon.pmu.registers.ia64_file import Ia64File
from pfmon.pmu.registers.register_file import RegisterFile


class VirtualCounters:
    """The programmed counters of one PMU.

    Increments are added to the PMDs; when one wraps, its overflow is handled as by a kernel's handler: the status is
    read and cleared, which ends the freeze, and 2**width is added to a software total.
    """

    def __init__(
        self,
        registers: RegisterFile,
        programming: Programming,
        ia32: bool = False,
        whole_system: bool = False,
        interrupts: str = "",
    ) -> None:
        """``ia32``: an Itanium executes IA-32 code; ``whole_system``: a whole processor's code runs, which does not
        know of the programming, so that its PSR.up and PSR.pp do not decide; ``interrupts``: of the request."""
        self.registers = registers
        self.programming = programming
        self._overflows = dict.fromkeys(programming.counters, 0)
        registers.store(dict.fromkeys(programming.counters, 0))
        for name, value in programming.writes.items():
            registers.write(name, value)
        registers.run_program()
        if ia32:
            registers.set_field("psr", "is", 1)
        if whole_system:
            if not isinstance(registers, Ia64File):
                raise TypeError("only the Itaniums have a system mode")
            registers.run_system(levels_alone=True, interrupts=interrupts)

    def add(self, monitor: Monitor, increment: int) -> None:
        """Add ``increment`` to the monitor's counter."""
        while increment:
            part = min(increment, self.registers.headroom(monitor.pmd))
            if self.registers.add(monitor.pmd, part):
                for pmd in self.registers.take_overflows():
                    self._overflows[pmd] += 1
            increment -= part

    def read(self, monitor: Monitor, count: int) -> int:
        """Return the value that a program at level 3 reads when the monitor has counted ``count`` and its overflows
        have not been handled."""
        held = self.registers.count(monitor.pmd)
        self.registers.store({monitor.pmd: (held + count) & ((1 << self.registers.bank.width) - 1)})
        value = self.registers.read_data(monitor.pmd, cpl=3)
        self.registers.store({monitor.pmd: held})
        return value

    def value(self, monitor: Monitor) -> int:
        """Return the monitor's count."""
        return (self._overflows[monitor.pmd] << self.registers.bank.width) + self.registers.count(monitor.pmd)
