"""The perfmon contexts of a process: create, load, start, restart, unload, close; ownership of the PMU."""

from __future__ import annotations

import errno

from pfmon.engine.linux.abi.ia64.perfmon.context_file import ContextFile
from pfmon.engine.linux.abi.ia64.perfmon.context_monitor import ContextMonitor, SystemWideContext, monitor_of
from pfmon.engine.linux.abi.ia64.perfmon.default_format import SamplingBuffer
from pfmon.engine.linux.abi.ia64.perfmon.kernel_registers import registers_of
from pfmon.engine.linux.abi.ia64.perfmon.overflow_handler import handle
from pfmon.engine.linux.abi.ia64.perfmon.perfmon_context import LOADED, MASKED, PerfmonContext
from pfmon.engine.linux.abi.ia64.perfmon.perfmon_structures import (
    BUFFER_ARGUMENT,
    CONTEXT,
    LOAD,
    NO_MESSAGES,
    NOTIFY_BLOCK,
    SYSTEM_WIDE,
)
from pfmon.engine.linux.perf.pmu_ownership import owners_of
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail

INIT = 1


def create(process: Process, argument: bytearray, extra: bytes) -> None:
    """PFM_CREATE_CONTEXT: writes the descriptor and the sampling buffer's address to the argument."""
    name, flags, sets, reserved, _, address, rest = CONTEXT.unpack(argument)
    if flags & SYSTEM_WIDE and flags & NOTIFY_BLOCK:
        fail(errno.EINVAL)
    process.files.free()
    system, blocking, silent = (bool(flags & flag) for flag in (SYSTEM_WIDE, NOTIFY_BLOCK, NO_MESSAGES))
    context = PerfmonContext(registers_of(process.processor), system, blocking, silent)
    if extra:
        context.buffer = SamplingBuffer(process, BUFFER_ARGUMENT.unpack(extra)[0])
        address = context.buffer.address
    context.file = file = ContextFile(process, context, close)
    file.number = process.files.add(file)
    CONTEXT.pack_into(argument, 0, name, flags, sets, reserved, file.number, address, rest)


def close(process: Process, context: PerfmonContext) -> None:
    """Close a context whose last descriptor is closed."""
    if context.is_attached and (context.system or not context.target.is_over):
        owners_of(context.target).unload(context)
    if context.buffer is not None and not process.is_over:
        context.buffer.unmap()


def load(process: Process, context: PerfmonContext, argument: bytearray) -> None:
    """PFM_LOAD_CONTEXT onto the calling task, or onto a stopped one."""
    task = LOAD.unpack(argument)[0]
    if context.is_attached:
        fail(errno.EBUSY)
    own = task == process.thread.number
    if context.blocking and own:
        fail(errno.EINVAL)
    if task <= INIT:
        fail(errno.EPERM)
    context.target = process if own else _other_task(process, context, task)
    context.task = task
    monitor = ContextMonitor(context.target, context, handle)
    try:
        owners_of(context.target).load(monitor)
    except OSError:
        context.unload()
        raise
    if own and not context.system:
        process.abi.allow_monitoring(process.registers, True)
    if context.system:
        process.system.everywhere = SystemWideContext(monitor, context.target)
    context.file.forget()


def _other_task(process: Process, context: PerfmonContext, task: int) -> Process:
    """The process of another task, which has to be stopped."""
    thread = process.system.thread(task) or fail(errno.ESRCH)
    if context.system:
        fail(errno.EINVAL)
    if not thread.process.family.stopped or thread.process.thread is not thread:
        fail(errno.EBUSY)
    return thread.process


def unload(process: Process, context: PerfmonContext, _: bytearray) -> None:
    """PFM_UNLOAD_CONTEXT."""
    if context.is_attached:
        owners_of(context.target).unload(context)


def start(process: Process, context: PerfmonContext, _: bytearray) -> None:
    """PFM_START."""
    if context.state != LOADED:
        fail(errno.EINVAL)
    monitor_of(context).start()


def stop(process: Process, context: PerfmonContext, _: bytearray) -> None:
    """PFM_STOP."""
    if not context.is_attached:
        fail(errno.EINVAL)
    monitor_of(context).stop()


def restart(process: Process, context: PerfmonContext, _: bytearray) -> None:
    """PFM_RESTART: after a notification; with a sampling buffer at any time."""
    if context.state != MASKED and not (context.state == LOADED and context.buffer is not None):
        fail(errno.EBUSY)
    monitor_of(context).restart()
