"""execve(2): executing another program in a process."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence

from pfmon.engine.linux.abi.structures import U64
from pfmon.engine.linux.files.open_flags import AT_FDCWD
from pfmon.engine.linux.process import process_exit
from pfmon.engine.linux.process.engine_interface import Death
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import Terminated, fail
from pfmon.engine.linux.signals.signal_table import SIGKILL, SIGTRAP
from pfmon.engine.linux.signals.signals import SI_USER
from pfmon.errors import PfmonError
from pfmon.program.image import Program

MAX_ARGUMENTS = 1 << 17
MAX_ARGUMENT_BYTES = 2 << 20
"""Bytes of arguments and environment, at most: a quarter of the stack, as Linux limits them."""
MAX_INTERPRETER_DEPTH = 5
MAX_SHEBANG_BYTES = 256


def vector(p: Process, address: int) -> list[bytes]:
    """The strings of argv or envp. E2BIG: too many."""
    found: list[bytes] = []
    size = 0
    while address and (at := p.user.unpack(U64, address)[0]):
        if len(found) == MAX_ARGUMENTS:
            fail(errno.E2BIG)
        found.append(p.user.string(at, MAX_ARGUMENT_BYTES))
        size += len(found[-1]) + 1 + U64.size
        if size > MAX_ARGUMENT_BYTES:
            fail(errno.E2BIG)
        address += U64.size
    return found


def execute(p: Process, host_path: bytes, shown: bytes, arguments: list[bytes], environment: list[bytes]) -> None:
    """Replace the process's program; OSError: it cannot be executed, and the process is unchanged. ``host_path``: of
    the file, ``shown``: its path as the program gave it."""
    if p.system.host is None:
        fail(errno.ENOSYS)
    for _ in range(MAX_INTERPRETER_DEPTH):
        _check_file(host_path)
        script = _interpreter(host_path)
        if script is None:
            break
        arguments = [*script, shown, *arguments[1:]]
        shown = script[0]
        host_path = p.paths.host_name(p.files, AT_FDCWD, shown)
    else:
        fail(errno.ELOOP)
    named = _named(p, host_path)
    program = _load(p, host_path if p.paths.confined else named)
    image = program.image._replace(path=os.fsdecode(named))
    _replace(p, program._replace(image=image), named, arguments, environment)


def _named(p: Process, path: bytes) -> bytes:
    """The path as reports show it: by name, without a descriptor for it or its directory."""
    folder, name = os.path.split(path)
    if folder == b"/proc/self/fd":
        return os.readlink(path) if p.paths.confined else path
    return os.path.join(os.path.realpath(folder), name)


def _check_file(path: bytes) -> None:
    """ENOENT, EACCES and similar for files that cannot be executed."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) or not mode & 0o111:
        fail(errno.EACCES)
    with open(path, "rb"):
        return


def _interpreter(path: bytes) -> list[bytes] | None:
    """A script's interpreter and its argument, from the first line; None: not a script."""
    with open(path, "rb") as file:
        first = file.read(MAX_SHEBANG_BYTES)
    if not first.startswith(b"#!"):
        return None
    words = first[2:].split(b"\n")[0].strip(b" \t").split(maxsplit=1)
    return [word.strip(b" \t") for word in words] or fail(errno.ENOEXEC)


def _load(p: Process, path: bytes) -> Program:
    from pfmon.engine.registry import instruction_set_in
    from pfmon.program import image

    try:
        program = image.load(os.fsdecode(path), p.settings.sysroot, p.settings.confined)
    except PfmonError as error:
        p.notice(f"cannot execute {os.fsdecode(path)}: {error}")
        fail(errno.ENOEXEC)
    if instruction_set_in(program) is not p.abi.instruction_set:
        p.notice(f"cannot execute {os.fsdecode(path)}: not an {p.abi.name} program; --sysroot DIR has those")
        fail(errno.ENOEXEC)
    return program


def _replace(
    p: Process, program: Program, path: bytes, arguments: Sequence[bytes], environment: Sequence[bytes]
) -> None:
    """The point of no return: the old program is replaced."""
    assert p.system.host
    shown = [os.fsdecode(path), *map(os.fsdecode, arguments[1:])]
    _end_other_threads(p)
    p.mappings.close()
    process_exit.release_lender(p)
    p.system.stopped_running(p)
    p.memory.clear()
    p.begin_program(*p.system.host.executed(p, program, shown))
    p.program, p.arguments, p.environment = program, list(arguments), list(environment)
    p.files.close_on_exec()
    p.paths.program = os.path.abspath(path)
    p.set_first_break()
    shared = p.signals.shared.copy(keep_handlers=False)
    shared.pending = p.signals.shared.pending
    shared.stoppable, shared.traced = p.signals.shared.stoppable, p.signals.shared.traced
    p.thread.signals.begin_program(shared)
    p.thread.clear_child_tid = p.thread.robust_list = 0
    p.thread.name = os.path.basename(path)[:15]
    p.family.executed = True
    if shared.traced:  # a stop before the first instruction (ptrace(2), PTRACE_TRACEME)
        p.send(p.own_signal(SIGTRAP, SI_USER), p.thread)
    p.system.run(p)
    if p.owners is not None:
        p.owners.begin_program()
    try:
        p.start()
    except PfmonError as error:
        raise Terminated(Death(SIGKILL, str(error))) from None


def _end_other_threads(p: Process) -> None:
    """End all threads but the executing one, which becomes the first, with the number of the process."""
    for number, thread in list(p.threads.items()):
        if thread is not p.thread:
            p.system.schedule.remove(thread)
            del p.threads[number]
    del p.threads[p.thread.number]
    p.thread.number = p.process_id
    p.threads[p.process_id] = p.thread
