"""Files of /proc and /dev replaced here, because the host's would show the host or pfmon."""

from __future__ import annotations

import os
from collections.abc import Callable

from pfmon.engine.linux.files.file_table import OpenFile, RandomFile
from pfmon.engine.linux.memory.mappings import rights_text
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.signals.signal_table import SIGCHLD


def _command_line(process: Process) -> bytes:
    return b"".join(argument + b"\0" for argument in process.arguments)


def _maps(process: Process) -> bytes:
    """One line per region, as in /proc/PID/maps; only named regions have names."""
    lines = []
    for start, end, protection in process.memory.regions_map():
        rights = rights_text(protection) + ("s" if process.memory.is_shared(start) else "p")
        name = process.region_name(start, end)
        mapping = process.mappings.at(start)
        offset = mapping.offset + start - mapping.start if mapping else 0
        line = f"{start:016x}-{end:016x} {rights} {offset:08x} 00:00 0"
        lines.append(f"{line:<73}{name}".rstrip() + "\n")
    return "".join(lines).encode("utf-8", "surrogateescape")


def _memory(process: Process) -> bytes:
    kilobytes = process.settings.memory >> 10
    return f"MemTotal:       {kilobytes} kB\nMemFree:        {kilobytes} kB\n".encode()


def _status(process: Process) -> bytes:
    s = process.settings
    name = os.path.basename(process.paths.program)[:15].decode("utf-8", "replace")
    user = "\t".join([str(s.user_id)] * 4)
    group = "\t".join([str(s.group_id)] * 4)
    return (
        f"Name:\t{name}\nState:\tR (running)\nPid:\t{process.process_id}\nPPid:\t{process.family.parent_id}\n"
        f"Uid:\t{user}\nGid:\t{group}\nThreads:\t{len(process.threads)}\n"
    ).encode("utf-8", "replace")


def _stat(process: Process) -> bytes:
    """The 52 fields of /proc/PID/stat (proc(5)); unsupported ones are 0."""
    family = process.family
    used, of_children = process.clock.processor(), family.used_by_children
    size = sum(end - start for start, end, _ in process.memory.regions_map())
    fields = [0] * 52
    fields[3:8] = [family.parent_id, family.group, family.session, 0, -1]
    fields[13:17] = [used // TICK, 0, of_children // TICK, 0]
    fields[17:20] = [20, 0, len(process.threads)]
    fields[22:24] = [size, size // process.memory.page_size]
    fields[24] = (1 << 64) - 1
    fields[37] = SIGCHLD
    name = process.thread.name.decode(errors="replace")
    return (f"{process.process_id} ({name}) R " + " ".join(map(str, fields[3:])) + "\n").encode()


def _statm(process: Process) -> bytes:
    pages = sum(end - start for start, end, _ in process.memory.regions_map()) // process.memory.page_size
    return f"{pages} {pages} 0 0 0 {pages} 0\n".encode()


def _name(process: Process) -> bytes:
    return process.thread.name + b"\n"


def _environment(process: Process) -> bytes:
    return b"".join(entry + b"\0" for entry in process.environment)


TICK = 10_000_000
"""Nanoseconds of a clock tick in /proc (USER_HZ)."""


OWN: dict[bytes, Callable[[Process], bytes]] = {
    b"cmdline": _command_line,
    b"comm": _name,
    b"environ": _environment,
    b"maps": _maps,
    b"stat": _stat,
    b"statm": _statm,
    b"status": _status,
}
SYSTEM: dict[bytes, Callable[[Process], bytes]] = {
    b"/proc/meminfo": _memory,
    b"/proc/sys/kernel/perf_event_paranoid": lambda _: b"2\n",
    b"/proc/sys/kernel/perf_event_max_sample_rate": lambda _: b"100000\n",
}
RANDOM = (b"/dev/random", b"/dev/urandom")


def open_special(process: Process, path: bytes) -> OpenFile | None:
    """The file, if it is one of those made here."""
    if path in RANDOM:
        return RandomFile(os.open(path, os.O_RDWR | os.O_CLOEXEC), path, process.random)
    own = process.paths.own_proc(path)
    whose: Process | None = process
    if own is None and path.startswith(b"/proc/"):
        number, _, own = path[len(b"/proc/") :].partition(b"/")
        whose = process.system.processes.get(int(number)) if number.isdigit() else None
    text = _text(process, path, whose, own)
    if text is None:
        return None
    host = os.memfd_create("pfmon")
    os.write(host, text)
    os.lseek(host, 0, os.SEEK_SET)
    return OpenFile(host, True, path)


def _text(process: Process, path: bytes, whose: Process | None, own: bytes | None) -> bytes | None:
    """The contents of a file of /proc: of the processor, the system, or (``own``) of a process."""
    if make := process.abi.proc_files().get(path):
        return make(process.registers, process.settings, process.processor)
    if of := SYSTEM.get(path) or (OWN.get(own) if own is not None and whose else None):
        return of(whose or process)
    return None
