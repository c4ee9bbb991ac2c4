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


FAMILIES = {7: "Merced", 31: "Madison", 32: "Montecito"}
FEATURES = {0: "branchlong", 2: "16-byte atomic ops"}
COUNTERS = {32: 12}
"""By family: the processor's name and its counters, 4 by default (arch/ia64/kernel/setup.c); by bit of CPUID[4]."""


def _processors(process: Process) -> bytes:
    """/proc/cpuinfo of Linux for IA-64 for the modelled processor, at the nominal frequency of the program's time."""
    version, features = process.registers.cpuid[3:5]
    family, model, revision = version >> 24 & 0xFF, version >> 16 & 0xFF, version >> 8 & 0xFF
    names = [name for bit, name in FEATURES.items() if features >> bit & 1] or ["standard"]
    frequency = 1000 / process.settings.nanoseconds_per_instruction
    lines = {
        "vendor": "GenuineIntel",
        "arch": "IA-64",
        "family": family,
        "model": model,
        "model name": FAMILIES.get(family, "Unknown"),
        "revision": revision,
        "archrev": version >> 32 & 0xFF,
        "features": ", ".join(names),
        "cpu number": 0,
        "cpu regs": COUNTERS.get(family, 4),
        "cpu MHz": f"{frequency:.6f}",
        "itc MHz": f"{frequency:.6f}",
        "BogoMIPS": f"{2 * frequency:.2f}",
        "siblings": 1,
    }
    rest = "".join(f"{name:<10} : {value}\n" for name, value in lines.items())
    return "".join(f"processor  : {number}\n{rest}\n" for number in range(process.settings.processors)).encode()


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


def _perfmon(process: Process) -> bytes:
    """/proc/perfmon, by which tools detect perfmon."""
    names = {"itanium": "Itanium", "itanium2": "Itanium 2", "montecito": "Montecito"}
    mask = (1 << (32 if process.processor == "itanium" else 47)) - 1
    format_id = "4d-72-be-c0-06-64-41-43-82-b4-d3-fd-27-24-3c-97"
    rows = {
        "perfmon version": "2.0",
        "model": names[process.processor],
        "fastctxsw": "Yes",
        "expert mode": "No",
        "ovfl_mask": f"{mask:#x}",
        "PMU flags": "0x0" if process.processor == "itanium" else "0x1",
        "format": f"{format_id} default_format",
    }
    return "".join(f"{name:<26}: {value}\n" for name, value in rows.items()).encode()


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
    b"/proc/cpuinfo": _processors,
    b"/proc/meminfo": _memory,
    b"/proc/perfmon": _perfmon,
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
    make = SYSTEM.get(path) or (OWN.get(own) if own is not None and whose else None)
    if make is None:
        return None
    host = os.memfd_create("pfmon")
    os.write(host, make(whose or process))
    os.lseek(host, 0, os.SEEK_SET)
    return OpenFile(host, True, path)
