"""Files of /proc and /dev that would show the program the host, or pfmon itself, instead of its own world."""

from __future__ import annotations

import os

from pfmon.engine.ia64.linux.files import OpenFile, RandomFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pfmon.engine.ia64.linux.process import Process


def _command_line(process: Process) -> bytes:
    return b"".join(argument + b"\0" for argument in process.arguments)


def _maps(process: Process) -> bytes:
    """One line per region, as /proc/PID/maps; names only for what has a name of its own."""
    lines = []
    for start, end, protection in process.memory.regions_map():
        rights = "".join(c if protection & b else "-" for c, b in zip("rwx", (1, 2, 4), strict=True))
        name = process.region_name(start, end)
        line = f"{start:016x}-{end:016x} {rights}p 00000000 00:00 0"
        lines.append(f"{line:<73}{name}".rstrip() + "\n")
    return "".join(lines).encode("utf-8", "surrogateescape")


def _processors(process: Process) -> bytes:
    one = "processor  : {}\nvendor     : GenuineIntel\narch       : IA-64\nfamily     : 31\n\n"
    return "".join(one.format(i) for i in range(process.settings.processors)).encode()


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


OWN: dict[bytes, Callable[[Process], bytes]] = {
    b"cmdline": _command_line,
    b"maps": _maps,
    b"status": _status,
}
SYSTEM: dict[bytes, Callable[[Process], bytes]] = {
    b"/proc/cpuinfo": _processors,
    b"/proc/meminfo": _memory,
}
RANDOM = (b"/dev/random", b"/dev/urandom")


def open_special(process: Process, path: bytes) -> OpenFile | None:
    """The file, if it is one of those that are made here."""
    if path in RANDOM:
        return RandomFile(os.open(path, os.O_RDWR | os.O_CLOEXEC), path, process.random)
    own = process.paths.own_proc(path)
    make = SYSTEM.get(path) or (OWN.get(own) if own is not None else None)
    if make is None:
        return None
    host = os.memfd_create("pfmon")
    os.write(host, make(process))
    os.lseek(host, 0, os.SEEK_SET)
    return OpenFile(host, True, path)
