"""System calls that Linux has for IA-64 alone, or in a form of their own there."""

from __future__ import annotations

from typing import cast

from pfmon.engine.linux.abi.ia64.ia64_registers import Ia64Registers
from pfmon.engine.linux.calls import sys_io
from pfmon.engine.linux.calls.syscall_table import CallTable
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process import clone
from pfmon.engine.linux.process.process import Process

CALLS = CallTable()
SECOND_RESULT = 9


@CALLS.register("clone2")
def clone2(p: Process, flags: int, base: int, size: int, parent_tid: int, child_tid: int, tls: int) -> int:
    """clone with the size of the child's memory for both stacks."""
    return clone.clone(p, flags, (base, size), parent_tid, child_tid, tls)


@CALLS.register("pipe")
def pipe(p: Process) -> int:
    """Returns both descriptors, in r8 and r9."""
    reader, writer = sys_io.new_pipe(p, 0)
    cast(Ia64Registers, p.registers).set_gr(SECOND_RESULT, writer)
    return reader


@CALLS.register("getunwind")
def getunwind(p: Process) -> int:
    """The kernel's unwind information: none, superseded by the gate page."""
    return 0


@CALLS.register("old_getpagesize")
def getpagesize(p: Process) -> int:
    """Bytes of a page."""
    return p.memory.page_size


@CALLS.register("perfmonctl")
def perfmonctl(p: Process, fd: int, command: int, argument: int, count: int) -> int:
    """perfmon 2.0."""
    from pfmon.engine.linux.abi.ia64.perfmon import perfmonctl

    perfmonctl.perfmonctl(p, int32(fd), int32(command), argument, int32(count))
    return 0
