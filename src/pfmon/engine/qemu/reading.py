"""What reads the stream of a process that qemu executes: its blocks, and the reader of what the plugin writes."""

from __future__ import annotations

import signal

from pfmon.engine.api import Ending
from pfmon.engine.qemu.describe import Describer
from pfmon.engine.qemu.reader import Reader
from pfmon.engine.qemu.x86 import PAYLOAD_BYTES, capstone_library, facts, register
from pfmon.stream.table import BlockTable, InstructionSet

FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP}
"""Signals that an instruction raises."""

TROUBLES = {
    1: "it has more than 256 threads at a time",
    2: "it has more code than there is room for",
    3: "memory ran out",
}
"""Why the plugin gave up (layout.h, enum trouble)."""


def killed(number: int) -> Ending:
    """How a program ended that a signal killed."""
    return Ending(128 + number, number, signal.strsignal(number) or f"signal {number}")


def reading(instruction_set: InstructionSet, traced: bool) -> tuple[BlockTable, Reader]:
    """A table of blocks and the reader that fills it; ``traced``: with the addresses of accesses. PfmonError."""
    table = BlockTable(instruction_set, PAYLOAD_BYTES)
    is_64 = instruction_set is InstructionSet.X86_64
    return table, Reader(Describer(table, capstone_library(), facts, register, is_64), traced)
