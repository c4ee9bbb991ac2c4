"""Programs that monitor themselves with perfmonctl, made of assembler text: what they count between sum and rum goes to
their standard output."""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from ia64_program import DATA, EXIT, TEXT, write_program
from perf_calls import DISABLE, ENABLE
from perfmon_calls import (
    CREATE,
    LOAD,
    PID,
    READ_PMDS,
    UUID,
    WRITE_DBRS,
    WRITE_IBRS,
    WRITE_PMCS,
    WRITE_PMDS,
    counter,
    debug_register,
    register,
)

from pfmon.engine.linux.abi.ia64.syscall_numbers import NUMBERS

FD = 3
MINUS_ONE = (1 << 64) - 1
SAMPLES = 65536
MAPPED = 0x2000000000000000
"""Where the first mapping is."""
BUFFER = 0x100000
"""Bytes that the work walks through."""
WORK = [
    f"movl r10={DATA + 0x4000}", "adds r11=200,r0", "mov.i ar.lc=r11", "again:", "ld8 r8=[r10],136",
    "add r9=r9,r8", "cmp.eq p6,p7=r8,r0", "(p6) adds r12=1,r12", "(p7) adds r13=1,r13", "st8 [r10]=r9",
    "ld8 r14=[r10]", "add r16=r14,r9", "br.cloop.sptk.few again",
]  # fmt: skip
"""A loop of loads that miss, loads behind stores, predicated instructions."""


def call(name: str, *arguments: int) -> list[str]:
    """A system call."""
    setting = [f"movl r{32 + number}={value}" for number, value in enumerate(arguments)]
    return ["alloc r39=ar.pfs,8,0,0", *setting, f"addl r15={NUMBERS[name]},r0", "break.m 0x100000"]


def self_counting(
    path: Path, writes: Mapping[str, int], counters: Sequence[int], work: Sequence[str] = tuple(WORK)
) -> Path:
    """A program that writes registers as ``writes`` says (pmc4, ibr0), counts its work in PMDs, from 0 on, and writes
    their 160 bytes each to its standard output."""
    data, lines = _loaded(writes, [register(n) for n in counters], 0)
    result = DATA + len(data)
    data += b"".join(register(n) for n in counters)
    lines += ["sum 4", *work, "rum 4", *call("perfmonctl", FD, READ_PMDS, result, len(counters))]
    lines += call("write", 1, result, 160 * len(counters))
    return _written(path, lines, data)


def self_sampling(path: Path, writes: Mapping[str, int], pmd: int, period: int, kept: Sequence[int]) -> Path:
    """A program that samples its work each ``period`` events of a PMD, with what some PMDs hold, and writes its
    sampling buffer to its standard output."""
    fields = {f"pmc{pmd}": {"smpl": sum(1 << number for number in kept)}}
    data, lines = _loaded(writes, [counter(pmd, period), *map(register, kept)], SAMPLES, fields)
    lines += ["sum 4", *WORK, "rum 4", *call("write", 1, MAPPED, SAMPLES)]
    return _written(path, lines, data)


def _written(path: Path, lines: Sequence[str], data: bytes) -> Path:
    assert len(data) <= 0x4000
    return write_program(path, [*lines, *EXIT], data.ljust(0x4000 + BUFFER, b"\1"))


def _loaded(
    writes: Mapping[str, int], pmds: Sequence[bytes], size: int, fields: Mapping[str, dict[str, int]] | None = None
) -> tuple[bytes, list[str]]:
    """Data and code of a program up to the loaded context; ``size``: of its sampling buffer."""
    items: dict[str, list[bytes]] = {"pmc": [], "ibr": [], "dbr": []}
    for name, value in writes.items():
        number, more = int(name[3:]), (fields or {}).get(name, {})
        items[name[:3]].append(
            register(number, value, **more) if name.startswith("pmc") else debug_register(number, value)
        )
    head = (UUID if size else bytes(16)).ljust(128, b"\0") + struct.pack("<QQQQ", size, 0, 0, 0)
    data, lines = bytearray(head), call("perfmonctl", 0, CREATE, DATA, 1)
    commands = (
        (WRITE_IBRS, items["ibr"]), (WRITE_DBRS, items["dbr"]), (WRITE_PMCS, items["pmc"]), (WRITE_PMDS, pmds),
        (LOAD, [struct.pack("<i28x", PID)]),
    )  # fmt: skip
    for command, some in commands:
        if some:
            lines += call("perfmonctl", FD, command, DATA + len(data), len(some))
            data += b"".join(some)
    return bytes(data), lines


def counting_by_perf(path: Path, attributes: Sequence[bytes], work: Sequence[str] = tuple(WORK)) -> tuple[Path, int]:
    """A program that counts a group of events over its work, and writes what it reads to its standard output; and the
    address of the bundle behind the call that enables it. The next call, some bundles behind the work, disables it."""
    data, lines = bytearray(), list[str]()
    for number, attribute in enumerate(attributes):
        lines += call("perf_event_open", DATA + len(data), 0, MINUS_ONE, FD if number else MINUS_ONE, 0)
        data += attribute
    lines += call("ioctl", FD, ENABLE, 0)
    begins = TEXT + 16 * len(lines)
    lines += [*work, *call("ioctl", FD, DISABLE, 0), *call("read", FD, DATA, 256), *call("write", 1, DATA, 256)]
    return write_program(path, [*lines, *EXIT], bytes(data).ljust(0x4000 + BUFFER, b"\1")), begins


def sampled(output: bytes, kept: int) -> list[tuple[int, tuple[int, ...]]]:
    """The instruction (address | slot) of each sample in a buffer, and what the PMDs held."""
    count, used = struct.unpack_from("<2Q", output)
    size = 40 + 8 * kept
    assert used == 128 + count * size
    places = range(128, used, size)
    return [
        (struct.unpack_from("<Q", output, at + 16)[0], struct.unpack_from(f"<{kept}Q", output, at + 40))
        for at in places
    ]


def counted(output: bytes) -> list[int]:
    """What such a program counted."""
    return [struct.unpack_from("<Q", output, place + 8)[0] for place in range(0, len(output), 160)]
