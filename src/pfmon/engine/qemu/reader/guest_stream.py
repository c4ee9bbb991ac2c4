"""Parts for reading the stream of a qemu process: its block table, and the reader."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import NamedTuple

from pfmon.engine.api import ExitReport
from pfmon.engine.qemu._qemu import Describer, PluginReader, max_area_bytes
from pfmon.engine.qemu.qemu_binary import capstone_library
from pfmon.engine.qemu.qemu_targets import PAYLOAD_BYTES, TARGETS
from pfmon.stream._stream import BlockTable, InstructionSet

FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP}
"""Signals that an instruction raises."""

NEEDS = (
    "a program under qemu needs about 0.4 GB of address space, one of 32 bits 5 GB, and each process that is followed "
    "0.1 GB more"
)
NO_ROOM = f"there is no room for the memory shared with qemu: {NEEDS}"
QEMU_HAS_NO_ROOM = "Cannot allocate memory"
"""In qemu's message when it cannot begin."""


class Share(NamedTuple):
    """One part in so many of the address space that is left, where it is limited (ulimit -v)."""

    table: int
    area: int


MAX_AREA_BYTES = 1 << 30
"""Of any area (layout.h)."""

SHARES = {False: Share(4, 16), True: Share(32, 64)}
"""Of a single process, and of each that is followed: their tables stay to the end of the run."""
TROUBLES = {
    1: "it has more than 256 threads at a time",
    2: "it has more code than there is room for: 1 GB, and less where memory is limited (ulimit -v, -f)",
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
    followed: bool = False,
    area_bytes: int = 0,
    most_area_bytes: int = MAX_AREA_BYTES,
    in_line: bool = False,
) -> tuple[BlockTable, PluginReader]:
    """A block table and the reader that fills it; ``traced``: with the addresses of accesses; ``parent``: the parent
    process's table; ``totals``: only counters of block runs; ``on_mapped`` as in `api.Start`;
    ``followed``: for one of several processes; ``area_bytes``: of its parent's area, 0: what fits, up to
    ``most_area_bytes``; ``in_line``: translated code writes the stream in line (layout.h). PfmonError."""
    table = BlockTable(instruction_set, PAYLOAD_BYTES, share=SHARES[followed].table)
    target = TARGETS[instruction_set]
    describer: Describer = import_module(target.module).describer(table, _library(), target.architecture, target.mode)
    if parent is not None:
        describer.begin_as(parent)
    describer.on_mapped = on_mapped
    try:
        room = area_bytes or min(most_area_bytes, max_area_bytes(SHARES[followed].area))
        return table, PluginReader(describer, traced, totals, room, in_line)
    except MemoryError as error:
        raise MemoryError(NO_ROOM) from error
