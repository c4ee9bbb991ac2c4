"""End of a thread or process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.linux.abi.structures import SIGINFO_CHILD, U32
from pfmon.engine.linux.process import futexes
from pfmon.engine.linux.process.engine_interface import Death, End, Exit
from pfmon.engine.linux.process.process_tree import Zombie
from pfmon.engine.linux.process.syscall_errors import ThreadEnded
from pfmon.engine.linux.signals.signal_table import SIGCHLD
from pfmon.engine.linux.signals.signals import SIG_IGN, Signal

if TYPE_CHECKING:
    from pfmon.engine.linux.process.process import Process


SA_NOCLDWAIT = 2
CLD_EXITED, CLD_KILLED = 1, 2


def end_thread(process: Process) -> NoReturn:
    """End the running thread, which is not the last one, and wake threads that join it."""
    thread = process.thread
    futexes.give_up_robust_list(process, thread)
    if thread.clear_child_tid:
        clear_child_tid(process, thread.clear_child_tid)
    if process.owners is not None:
        process.owners.thread_ended(thread.number)
    process.system.schedule.remove(thread)
    del process.threads[thread.number]
    raise ThreadEnded


def clear_child_tid(process: Process, address: int) -> None:
    """Clear the thread's tid word and wake its waiters (set_tid_address)."""
    try:
        process.user.pack(U32, address, 0)
        futexes.wake(process, address, 1)
    except GuestMemoryFault:
        pass  # as in Linux: the thread ends in any case


def wait_status(end: End) -> int:
    """The wait status of an ended process (wait(2))."""
    return end.signal if isinstance(end, Death) else (end.status & 0xFF) << 8


def _process_ended(process: Process, end: End) -> None:
    """Notify the parent of an ended process, whose threads and files are closed; its children become init's."""
    system, family = process.system, process.family
    system.stopped_running(process)
    futexes.forget(process)
    system.processes.pop(process.process_id, None)
    for child in family.children:
        child.family.orphan()
    release_lender(process)
    used = process.clock.processor()
    for traced in family.traced:  # they continue untraced
        traced.family.tracer = None
        traced.go_on(report=False)
    if family.tracer is not None:
        family.tracer.family.traced.remove(process)
        family.tracer.family.stops = [one for one in family.tracer.family.stops if one.process is not process]
        if family.tracer is not family.parent:
            family.tracer.family.ended.append(Zombie(process.process_id, wait_status(end), 0, family.group))
            family.tracer.wake_waiting_for_children()
    if family.parent is not None:
        family.parent.family.children.remove(process)
        family.parent.family.stops = [one for one in family.parent.family.stops if one.process is not process]
        _notify_parent(family.parent, process, end, used)
    if system.host is not None:
        system.host.ended(process, end)


def release_lender(process: Process) -> None:
    """Resume the parent of vfork: the child has ended, or executes another program."""
    lender, process.family.lender = process.family.lender, None
    if lender is not None and lender.wait:
        lender.wait.woken = True
        process.system.schedule.wake(lender)


def _notify_parent(parent: Process, process: Process, end: End, used: int) -> None:
    status = wait_status(end)
    number = process.family.exit_signal
    action = parent.signals.action(SIGCHLD)
    if number == SIGCHLD and (action.handler == SIG_IGN or action.flags & SA_NOCLDWAIT):
        parent.family.used_by_children += used  # its status is not waited for
    else:
        parent.family.ended.append(Zombie(process.process_id, status, used, process.family.group))
    if number:
        code, value = (CLD_KILLED, status) if isinstance(end, Death) else (CLD_EXITED, end.status & 0xFF)
        user = process.settings.user_id
        parent.send(Signal(number, SIGINFO_CHILD.pack(number, 0, code, process.process_id, user, value, 0, 0)))
    parent.wake_waiting_for_children()


def finish(process: Process, end: End | None) -> End | None:
    """End the process, unless ``end`` is None: threads end, shared mappings are written back, files are closed."""
    if end is not None and not process.is_over:
        process.is_over = True
        if process.owners is not None:
            process.owners.unload_all(ended=True)
        for thread in list(process.threads.values()):
            futexes.give_up_robust_list(process, thread)
            process.system.schedule.remove(thread)
        process.threads.clear()
        try:
            process.mappings.close()
        except OSError as error:
            process.notice(f"cannot write back a mapped file: {error.strerror}")
        process.files.close_all()
        process.paths.close()
        _process_ended(process, end)
    return end


def close(process: Process) -> None:
    """Release host resources of the process, and those of the system."""
    finish(process, Exit(0))
    process.system.close()
    if hasattr(process, "thread"):
        del process.thread  # breaks a reference cycle, so that memory is freed at once
