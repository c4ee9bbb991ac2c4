"""A perfmon context: what one session of monitoring is to count, and the PMU while it does (Linux up to 5.9,
arch/ia64/kernel/perfmon.c).

A context is created unloaded: registers are written into it. Loaded onto a task it has the PMU; an overflow that the
program is to be told of masks it until it is restarted. A context is for one task, by its thread's number, or for
the one processor that there is.
"""

from __future__ import annotations

from pfmon.engine.ia64.linux.perfmon.registers import numbers
from pfmon.engine.ia64.linux.perfmon.soft_counters import MASK, SoftCounter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from pfmon.engine.ia64.linux.perfmon.default_format import SamplingBuffer
    from pfmon.engine.ia64.linux.perfmon.messages import ContextFile
    from pfmon.engine.ia64.linux.perfmon.registers import KernelRegisters
    from pfmon.engine.ia64.linux.process import Process

UNLOADED, LOADED, MASKED = "unloaded", "loaded", "masked"
DEBUG_REGISTERS = 8


class Context:
    """The state of one context; the modules of this package change it by its commands."""

    def __init__(self, registers: KernelRegisters, system: bool, blocking: bool, silent: bool) -> None:
        """``system``: it monitors the processor; ``blocking``: an overflow stops the task; ``silent``: without
        messages."""
        self.registers = registers
        self.system, self.blocking, self.silent = system, blocking, silent
        self.state = UNLOADED
        self.task: int | None = None
        self.target: Process
        """Whose thread the task is, while it is loaded."""
        self.pmcs = {number: one.default for number, one in registers.pmcs.items() if number}
        self.pmds = {number: SoftCounter() for number in registers.pmds}
        self.ibrs = [0] * DEBUG_REGISTERS
        self.dbrs = [0] * DEBUG_REGISTERS
        self.uses_debug_registers = False
        self.used_pmds = 0
        self.overflowed = 0
        """PMDs that are loaded anew when it is restarted."""
        self.running = False
        """PSR.pp: whether a context of the processor was started."""
        self.file: ContextFile
        self.buffer: SamplingBuffer | None = None

    @property
    def is_attached(self) -> bool:
        """Whether it has the PMU."""
        return self.state != UNLOADED

    def unload(self) -> None:
        """It has the PMU no more."""
        self.state, self.task, self.running = UNLOADED, None, False

    def counts(self, pmd: int) -> bool:
        """Whether a PMD is an event counter."""
        return self.registers.pmds[pmd].counts

    def use(self, pmds: int) -> None:
        """The program may read these PMDs."""
        self.used_pmds |= pmds

    def values(self) -> Mapping[str, int]:
        """The configuration for the PMU, by register."""
        made = {f"pmc{number}": value for number, value in self.pmcs.items() if self.registers.pmcs[number].mask}
        used = self.uses_debug_registers
        made |= {f"ibr{number}": value if used else 0 for number, value in enumerate(self.ibrs)}
        return made | {f"dbr{number}": value if used else 0 for number, value in enumerate(self.dbrs)}

    def watched(self, width: int) -> list[int]:
        """The counters whose next overflow is one of all 64 bits, and which the program can see."""
        top = MASK >> width << width
        return [
            pmd
            for pmd in numbers(self.used_pmds)
            if self.counts(pmd)
            and (self.buffer is not None or self.pmds[pmd].notifies)
            and self.pmds[pmd].value & top == top
        ]
