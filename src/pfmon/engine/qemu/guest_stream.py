"""Parts for reading the stream of a qemu process: its block table, and the reader."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import cache
from importlib import import_module

from pfmon.engine.api import ExitReport
from pfmon.engine.qemu._qemu import Describer, PluginReader
from pfmon.engine.qemu.capstone_library import capstone_library
from pfmon.engine.qemu.qemu_targets import PAYLOAD_BYTES, TARGETS
from pfmon.stream._stream import BlockTable, InstructionSet

FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP}
"""Signals that an instruction raises."""

NO_ROOM = (
    "there is no room for the memory shared with qemu: a program under qemu, such as one for x86, needs about "
    "3.5 GB of address space"
)
TROUBLES = {
    1: "it has more than 256 threads at a time",
    2: "it has more code than there is room for",
    3: "memory ran out",
}
"""Why the plugin gave up (layout.h, enum trouble)."""


def trouble(reader: PluginReader) -> str:
    """Why the stream is not complete; empty: it is."""
    if reader.damaged:
        return "it has written into pfmon's memory"
    return TROUBLES.get(reader.trouble, "it has written into pfmon's memory") if reader.trouble else ""


def killed(number: int) -> ExitReport:
    """The ending of a program killed by a signal."""
    return ExitReport(128 + number, number, signal.strsignal(number) or f"signal {number}")


_library = cache(capstone_library)  # each process of a program asks for it


def reading(
    instruction_set: InstructionSet,
    traced: bool,
    parent: BlockTable | None = None,
    totals: bool = False,
    on_mapped: Callable[[], None] | None = None,
) -> tuple[BlockTable, PluginReader]:
    """A block table and the reader that fills it; ``traced``: with the addresses of accesses; ``parent``: the parent
    process's table; ``totals``: only counters of block runs; ``on_mapped`` as in `api.Start`. PfmonError."""
    table = BlockTable(instruction_set, PAYLOAD_BYTES)
    target = TARGETS[instruction_set]
    describer: Describer = import_module(target.module).describer(table, _library(), target.architecture, target.mode)
    if parent is not None:
        describer.begin_as(parent)
    describer.on_mapped = on_mapped
    try:
        return table, PluginReader(describer, traced, totals)
    except MemoryError as error:
        raise MemoryError(NO_ROOM) from error
