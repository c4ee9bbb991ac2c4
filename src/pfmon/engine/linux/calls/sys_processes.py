"""Processes: fork, exec, exit, wait."""

from __future__ import annotations

import errno

from pfmon.engine.linux.abi.structures import INT, RUSAGE, SIGINFO_CHILD
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.files.open_flags import AT_FDCWD
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process import process_exit
from pfmon.engine.linux.process.engine_interface import Exit
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.process_tree import CLD_CONTINUED, CLD_STOPPED, CLD_TRAPPED, CONTINUED, STOPPED, Zombie
from pfmon.engine.linux.process.syscall_errors import Restart, Terminated, fail
from pfmon.engine.linux.process.thread import Blocked, Wait
from pfmon.engine.linux.signals.signal_table import SIGCHLD, SIGCONT
from pfmon.engine.linux.time.clock import SECOND

WNOHANG, WUNTRACED, WEXITED, WCONTINUED, WNOWAIT = 1, 2, 4, 8, 0x1000000
WAIT_KINDS = 0xE0000000  # __WNOTHREAD, __WALL, __WCLONE: all kinds of children are equal here
P_ALL, P_PID, P_PGID = 0, 1, 2
CLD_EXITED, CLD_KILLED = 1, 2
AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW = 0x1000, 0x100


@system_call("clone")
def clone(p: Process, flags: int, stack: int, parent_tid: int, child_tid: int, tls: int) -> int:
    from pfmon.engine.linux.process import clone

    return clone.clone(p, flags, (stack, None), parent_tid, child_tid, tls)


@system_call("execve")
def execve(p: Process, path: int, arguments: int, environment: int) -> None:
    _execute(p, AT_FDCWD, path, arguments, environment, 0)


@system_call("execveat")
def execveat(p: Process, directory: int, path: int, arguments: int, environment: int, flags: int) -> None:
    _execute(p, int32(directory), path, arguments, environment, int32(flags))


def _execute(p: Process, directory: int, path: int, arguments: int, environment: int, flags: int) -> None:
    from pfmon.engine.linux.process import execve

    name = p.user.string(path)
    given, values = execve.vector(p, arguments), execve.vector(p, environment)
    if flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW):
        fail(errno.EINVAL)
    if not name:
        if not flags & AT_EMPTY_PATH:
            fail(errno.ENOENT)
        execve.execute(p, b"/proc/self/fd/%d" % p.files.host(directory), p.files.get(directory).path, given, values)
        return
    execve.execute(p, p.paths.host_name(p.files, directory, name), name, given, values)


@system_call("exit")
def exit_(p: Process, status: int) -> int:
    """End the thread; with the last one, the process."""
    if len(p.threads) > 1:
        process_exit.end_thread(p)
    raise Terminated(Exit(status & 0xFF))


@system_call("exit_group")
def exit_group(p: Process, status: int) -> int:
    raise Terminated(Exit(status & 0xFF))


def _wait(p: Process, process_id: int, options: int) -> Zombie | None:
    """The first ended child among those selected: a number, -1 (all), 0 or below (a group). None: none yet, and WNOHANG
    is set. ECHILD: no such child."""
    family = p.family

    def meant(number: int, group: int) -> bool:
        if process_id == -1:
            return True
        wanted = family.group if process_id == 0 else -process_id
        return number == process_id if process_id > 0 else group == wanted

    for ended in family.ended:
        if meant(ended.process_id, ended.group):
            if not options & WNOWAIT:
                family.ended.remove(ended)
                family.used_by_children += ended.used
            return ended
    if not any(meant(one.process_id, one.family.group) for one in (*family.children, *family.traced)):
        fail(errno.ECHILD)
    for stopped in family.stops:
        wanted = WCONTINUED if stopped.status == CONTINUED else WUNTRACED
        process = stopped.process
        if meant(process.process_id, process.family.group) and (options & wanted or process.family.tracer is p):
            if not options & WNOWAIT:
                family.stops.remove(stopped)
            return Zombie(process.process_id, stopped.status, 0, process.family.group)
    if options & WNOHANG:
        return None
    if p.signals.interrupting():
        raise Restart
    raise Blocked(Wait("for the end of a child", children=True))


def _write_usage(p: Process, address: int, used: int) -> None:
    if address:
        p.user.pack(RUSAGE, address, used // SECOND, used % SECOND // 1000, *[0] * 16)


@system_call("wait4")
def wait4(p: Process, process_id: int, status: int, options: int, usage: int) -> int:
    wanted = int32(options)
    if wanted & 0xFFFFFFFF & ~(WNOHANG | WUNTRACED | WCONTINUED | WAIT_KINDS):
        fail(errno.EINVAL)
    ended = _wait(p, int32(process_id), wanted)
    if ended is None:
        return 0
    if status:
        p.user.pack(INT, status, ended.status)
    _write_usage(p, usage, ended.used)
    return ended.process_id


@system_call("waitid")
def waitid(p: Process, kind: int, number: int, info: int, options: int, usage: int) -> int:
    wanted, which = int32(options), int32(number)
    if not wanted & (WEXITED | WUNTRACED | WCONTINUED):
        fail(errno.EINVAL)
    meant = {P_ALL: -1, P_PID: which, P_PGID: -which}.get(int32(kind))
    if meant is None or (kind == P_PID and which <= 0):
        fail(errno.EINVAL)
    ended = _wait(p, meant, wanted)
    if info:
        fields = (0, 0, 0, 0, 0, 0, 0, 0) if ended is None else _child_info(p, ended)
        p.user.pack(SIGINFO_CHILD, info, *fields)
    if ended is not None:
        _write_usage(p, usage, ended.used)
    return 0


def _child_info(p: Process, ended: Zombie) -> tuple[int, ...]:
    killed = ended.status & 0x7F
    if ended.status == CONTINUED:
        code, value = CLD_CONTINUED, SIGCONT
    elif killed == STOPPED:
        traced = any(one.process_id == ended.process_id for one in p.family.traced)
        code, value = CLD_TRAPPED if traced else CLD_STOPPED, ended.status >> 8
    else:
        code, value = (CLD_KILLED, killed) if killed else (CLD_EXITED, ended.status >> 8)
    return SIGCHLD, 0, code, ended.process_id, p.settings.user_id, value, 0, 0
