"""New threads and new processes (clone(2))."""

from __future__ import annotations

import errno
import os
from copy import copy

from pfmon.engine.linux.abi.structures import U32
from pfmon.engine.linux.files.file_table import programs_descriptors
from pfmon.engine.linux.perf import perf_inherit
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.process_tree import ProcessTree
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.process.thread import Blocked, Thread, Wait
from pfmon.errors import LostError

CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND, CLONE_VFORK = 0x100, 0x200, 0x400, 0x800, 0x4000
CLONE_PARENT, CLONE_THREAD, CLONE_SETTLS = 0x8000, 0x10000, 0x80000
CLONE_PARENT_SETTID, CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID = 0x100000, 0x200000, 0x1000000
CLONE_NAMESPACES = 0x7E020000
OF_THREADS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD
EXIT_SIGNAL = 0xFF
MAX_THREADS = 4096


ChildStack = tuple[int, int | None]
"""Address and bytes of a child's stack; None: the address is the stack pointer."""


class TooManyError(LostError):
    """The programs have created more processes or threads than the run allows at a time."""


def clone(p: Process, flags: int, stack: ChildStack, parent_tid: int, child_tid: int, tls: int) -> int:
    """Create a thread or a process; returns its number. ``stack``: memory for its stack,
    address 0: unchanged. EINVAL for inconsistent flags, and for a partial thread or process."""
    if flags & CLONE_NAMESPACES:
        fail(errno.EPERM)
    if flags & CLONE_THREAD:
        if flags & OF_THREADS != OF_THREADS:
            fail(errno.EINVAL)
        thread = _new_thread(p, flags, stack, tls)
    else:
        if flags & CLONE_VM and not flags & CLONE_VFORK:
            p.notice("clone with shared memory but not as a thread is not supported; it returns EINVAL")
            fail(errno.EINVAL)
        if p.thread.wait is not None:  # the child of vfork has released it
            return p.thread.done
        thread = _new_process(p, flags, stack, tls)
    if flags & CLONE_PARENT_SETTID:
        p.user.pack(U32, parent_tid, thread.number)
    if flags & CLONE_CHILD_SETTID:
        thread.process.user.pack(U32, child_tid, thread.number)
    if flags & CLONE_CHILD_CLEARTID:
        thread.clear_child_tid = child_tid
    if flags & CLONE_VFORK and not flags & CLONE_THREAD:
        p.thread.done = thread.number
        thread.process.family.lender = p.thread
        raise Blocked(Wait(f"for process {thread.number}, its child by vfork"))
    return thread.number


def _check_room(p: Process) -> None:
    limit = p.settings.most_processes
    if len(p.system.processes) >= limit:
        raise TooManyError(
            f"{limit} processes of the program run at a time, which is the limit; --follow-limit=NUMBER sets another"
        )
    if p.system.threads >= MAX_THREADS or _no_descriptor_is_left():
        fail(errno.EAGAIN)


def _no_descriptor_is_left() -> bool:
    """Whether the next host descriptor is reserved for pfmon: a process takes two."""
    host = os.open(os.devnull, os.O_PATH | os.O_CLOEXEC)
    os.close(host)
    return host + 1 >= programs_descriptors()


def _begin(p: Process, flags: int, stack: ChildStack, tls: int, monitored: bool) -> None:
    """Registers of the new thread, in the processor of its process: the creator's, except for stacks and TLS, and for
    monitoring if that was ``monitored`` by a kernel's interface."""
    if monitored:
        p.abi.set_monitoring(p.registers, False)
        p.abi.allow_monitoring(p.registers, False)
    p.abi.begin_thread(p.registers, *stack, tls if flags & CLONE_SETTLS else None)


def _new_thread(p: Process, flags: int, stack: ChildStack, tls: int) -> Thread:
    if p.system.threads >= MAX_THREADS:
        fail(errno.EAGAIN)
    thread = p.add_thread(p.system.new_number(), p.signals.copy(p.signals.shared))
    maker = p.registers.context()
    _begin(p, flags, stack, tls, p.owners is not None)
    thread.context = p.registers.context()
    p.registers.resume(maker)
    return thread


def _new_process(p: Process, flags: int, stack: ChildStack, tls: int) -> Thread:
    if p.system.host is None:
        fail(errno.ENOSYS)
    _check_room(p)
    child = fork(p, lend=bool(flags & CLONE_VM))
    child.family.exit_signal = flags & EXIT_SIGNAL
    child.registers.resume(p.registers.context())
    _begin(child, flags, stack, tls, p.owners is not None)
    return child.thread


def fork(p: Process, lend: bool) -> Process:
    """A copy of a process with the running thread as its only one. ``lend``: memory is shared until it executes a
    program (vfork)."""
    assert p.system.host
    child = copy(p)
    child.family = ProcessTree(p.system.new_number(), p)
    child.begin_as_child(*p.system.host.forked(p, child, lend))
    child.files = p.files.fork()
    child.paths = p.paths.fork(child.process_id)
    child.mappings = p.mappings.fork(child.memory)
    child.mappings.code.publish_code = child.registers.set_files
    child.mappings.publish_code()
    child.umask, child.limits = copy(p.umask), p.limits.fork()
    shared = p.signals.shared.copy(keep_handlers=True)
    shared.stoppable = True
    child.thread = child.add_thread(child.process_id, p.signals.copy(shared, keep_stack=True))
    child.thread.name = p.thread.name
    p.family.children.append(child)
    p.system.processes[child.process_id] = child
    perf_inherit.forked(p, child)
    return child
