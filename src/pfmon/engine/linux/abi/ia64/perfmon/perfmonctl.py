"""The commands of perfmonctl, with their arguments (Linux up to 5.9, arch/ia64/kernel/perfmon.c).

Arguments are read first, and written back after the command, even if it failed: the flags of a register show which one
was wrong.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from struct import Struct
from typing import NamedTuple

from pfmon.engine.linux.abi.ia64.perfmon import context_commands, register_commands
from pfmon.engine.linux.abi.ia64.perfmon.context_file import ContextFile
from pfmon.engine.linux.abi.ia64.perfmon.perfmon_context import MASKED, PerfmonContext
from pfmon.engine.linux.abi.ia64.perfmon.perfmon_structures import (
    BUFFER_ARGUMENT,
    CONTEXT,
    DEBUG,
    DEBUG_REGISTER,
    DEFAULT_FORMAT,
    FEATURES,
    LOAD,
    NO_FORMAT,
    REGISTER,
)
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail

MANY = -1
RESTART, UNLOAD = 0x0A, 0x11
MAX_ARGUMENT_BYTES = 4096


class PerfmonCommand(NamedTuple):
    """One command: its function, which takes the context (``file``) if any, and its argument, which it may change; the
    layout of an item of the argument, and the number of items (MANY: at least one)."""

    run: Callable[..., None]
    file: bool = True
    layout: Struct | None = None
    items: int = 0
    answers: bool = True


COMMANDS = {
    0x01: PerfmonCommand(register_commands.write_pmcs, layout=REGISTER, items=MANY),
    0x02: PerfmonCommand(register_commands.write_pmds, layout=REGISTER, items=MANY),
    0x03: PerfmonCommand(register_commands.read_pmds, layout=REGISTER, items=MANY),
    0x04: PerfmonCommand(context_commands.stop),
    0x05: PerfmonCommand(context_commands.start),
    0x08: PerfmonCommand(context_commands.create, file=False, layout=CONTEXT, items=1),
    0x0A: PerfmonCommand(context_commands.restart),
    0x0C: PerfmonCommand(register_commands.features, file=False, layout=FEATURES, items=1),
    0x0D: PerfmonCommand(register_commands.debug, file=False, layout=DEBUG, items=1, answers=False),
    0x0F: PerfmonCommand(register_commands.reset_values, file=False, layout=REGISTER, items=MANY),
    0x10: PerfmonCommand(context_commands.load, layout=LOAD, items=1),
    0x11: PerfmonCommand(context_commands.unload),
    0x20: PerfmonCommand(register_commands.write_ibrs, layout=DEBUG_REGISTER, items=MANY),
    0x21: PerfmonCommand(register_commands.write_dbrs, layout=DEBUG_REGISTER, items=MANY),
}


def perfmonctl(process: Process, number: int, what: int, address: int, count: int) -> None:
    """Carry out a command on the context of descriptor ``number``. OSError as the kernel fails."""
    command = COMMANDS.get(what) or fail(errno.EINVAL)
    if (command.items == MANY and count <= 0) or (command.items > 0 and command.items != count):
        fail(errno.EINVAL)
    size = command.layout.size * count if command.layout else 0
    if size > MAX_ARGUMENT_BYTES:
        fail(errno.E2BIG)
    argument = bytearray(process.user.read(address, size) if size else b"")
    extra = process.user.read(address + size, BUFFER_ARGUMENT.size) if _takes_buffer(command, argument) else b""
    context = _context(process, number, what) if command.file else None
    try:
        if context is not None:
            command.run(process, context, argument)
        else:
            command.run(process, argument, extra)
    finally:
        if size and command.answers:
            process.user.check_writable(address, size)
            process.user.write(address, bytes(argument))


def _takes_buffer(command: PerfmonCommand, argument: bytearray) -> bool:
    """Whether the argument of a buffer format follows. EINVAL: unknown format."""
    if command.layout is not CONTEXT:
        return False
    wanted = argument[: len(NO_FORMAT)]
    if wanted not in (NO_FORMAT, DEFAULT_FORMAT):
        fail(errno.EINVAL)
    return wanted == DEFAULT_FORMAT


def _context(process: Process, number: int, what: int) -> PerfmonContext:
    """The context of a descriptor. EBUSY: it monitors another task, which would have to be stopped for the command; a
    masked context can always be written and restarted."""
    file = process.files.get(number)
    if not isinstance(file, ContextFile):
        fail(errno.EBADF)
    context = file.context
    if not context.is_attached or context.system or context.task == process.thread.number:
        return context
    software = what == RESTART or (context.state == MASKED and what != UNLOAD)
    if not software and not context.target.family.stopped:
        fail(errno.EBUSY)
    return context
