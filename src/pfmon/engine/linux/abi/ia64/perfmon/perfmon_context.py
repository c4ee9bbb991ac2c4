"""A perfmon context: the registers of one monitoring session, loaded or not (Linux up to 5.9,
arch/ia64/kernel/perfmon.c).

A context is created unloaded; its registers are then written. Loaded onto a task it owns the PMU; an overflow with
notification masks it until it is restarted. A context is for one task, by its thread's number, or for the single
processor (system-wide).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pfmon.engine.linux.abi.ia64.perfmon.default_format import SamplingBuffer
from pfmon.engine.linux.abi.ia64.perfmon.kernel_registers import KernelRegisters, numbers
from pfmon.engine.linux.abi.ia64.perfmon.soft_counters import MASK, SoftCounter
from pfmon.engine.linux.process.process import Process

UNLOADED, LOADED, MASKED = "unloaded", "loaded", "masked"
DEBUG_REGISTERS = 8


class MessageFile(Protocol):
    """The file of a context's descriptor."""

    def overflowed(self, pmds: int) -> None:
        """Report an overflow."""

    def ended(self) -> None:
        """Report the end of the task."""

    def forget(self) -> None:
        """Drop unread messages."""


class PerfmonContext:
    """The state of one context; the commands in this package change it."""

    def __init__(self, registers: KernelRegisters, system: bool, blocking: bool, silent: bool) -> None:
        """``system``: system-wide, it monitors the processor; ``blocking``: an overflow stops the task; ``silent``: no
        messages."""
        self.registers = registers
        self.system, self.blocking, self.silent = system, blocking, silent
        self.state = UNLOADED
        self.task: int | None = None
        self.target: Process
        """The process of the monitored thread, while it is loaded."""
        self.pmcs = {number: one.default for number, one in registers.pmcs.items() if number}
        self.pmds = {number: SoftCounter() for number in registers.pmds}
        self.ibrs = [0] * DEBUG_REGISTERS
        self.dbrs = [0] * DEBUG_REGISTERS
        self.uses_debug_registers = False
        self.used_pmds = 0
        self.overflowed = 0
        """PMDs that are reset at the restart."""
        self.running = False
        """PSR.pp: whether a system-wide context was started."""
        self.file: MessageFile
        self.buffer: SamplingBuffer | None = None

    @property
    def is_attached(self) -> bool:
        """Whether it owns the PMU."""
        return self.state != UNLOADED

    def ended(self) -> None:
        """Report the end of its task."""
        self.file.ended()

    def unload(self) -> None:
        """Take the PMU away from it."""
        self.state, self.task, self.running = UNLOADED, None, False

    def counts(self, pmd: int) -> bool:
        """Whether a PMD is an event counter."""
        return self.registers.pmds[pmd].counts

    def use(self, pmds: int) -> None:
        """Let the program read these PMDs."""
        self.used_pmds |= pmds

    def values(self) -> Mapping[str, int]:
        """The PMU's configuration, by register."""
        made = {f"pmc{number}": value for number, value in self.pmcs.items() if self.registers.pmcs[number].mask}
        used = self.uses_debug_registers
        made |= {f"ibr{number}": value if used else 0 for number, value in enumerate(self.ibrs)}
        return made | {f"dbr{number}": value if used else 0 for number, value in enumerate(self.dbrs)}

    def watched(self, width: int) -> list[int]:
        """The counters whose next hardware overflow is one of all 64 bits, and visible to the program."""
        top = MASK >> width << width
        return [
            pmd
            for pmd in numbers(self.used_pmds)
            if self.counts(pmd)
            and (self.buffer is not None or self.pmds[pmd].notifies)
            and self.pmds[pmd].value & top == top
        ]
