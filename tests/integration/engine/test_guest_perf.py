"""perf_event_open under a Linux kernel with a driver of the PMU (PFMON_TEST_PROGRAMS, kernel): it counts what executes,
and what pfmon counts from outside."""

import re
import struct
from pathlib import Path

import pytest
from command import pfmon
from ia64_assembly import labels_of
from ia64_program import DATA, EXIT, TEXT, write_program
from shared_programs import folder, needs

import pfmon as library

KERNEL = str(folder("kernel") / "vmlinux-perf.xz")
pytestmark = [needs("kernel"), pytest.mark.slow, pytest.mark.exhaustive]
PERF_EVENT_OPEN, IOCTL, READ, WRITE = 1352, 1065, 1026, 1027
ENABLE, DISABLE = 0x2400, 0x2401
COUNT_INSTRUCTIONS, DISABLED, EXCLUDE_KERNEL = 1, 1, 1 << 5
ATTRIBUTES = struct.pack("<IIQQQQQ", 0, 112, COUNT_INSTRUCTIONS, 0, 0, 0, DISABLED | EXCLUDE_KERNEL).ljust(128, b"\0")
CALL = "break.m 0x100000"
TIMES = 100


def call(number: int, *arguments: int | str) -> list[str]:
    """A system call; arguments that are registers by name."""
    places = [f"adds r{32 + place}=0,{one}" if isinstance(one, str) else f"movl r{32 + place}={one}"
              for place, one in enumerate(arguments)]  # fmt: skip
    return [*places, f"adds r15={number},r0", CALL]


def program() -> list[str]:
    """It counts its own instructions at level 3 from one system call to another, and writes their number."""
    everything = (1 << 64) - 1
    before = [
        "alloc r30=ar.pfs,8,0,0",
        *call(PERF_EVENT_OPEN, DATA, 0, everything, everything, 0),
        "adds r4=0,r8",
        *call(IOCTL, "r4", ENABLE, 0),
    ]
    aligned = ["nop.m 0"] * (len(before) % 2)
    inside = [f"adds r9={TIMES - 1},r0", "mov.i ar.lc=r9", "loop:", "adds r10=1,r10", "br.cloop.sptk.few loop"]
    end = ["adds r32=0,r4", f"addl r33={DISABLE},r0", "adds r34=0,r0", f"adds r15={IOCTL},r0", "end:", CALL]
    rest = [*call(READ, "r4", DATA + 128, 8), *call(WRITE, 1, DATA + 128, 8), *EXIT]
    return [*aligned, *before, "begin:", *inside, *end, *rest]


def test_program_counts_itself_as_pfmon_does_from_outside(tmp_path: Path) -> None:
    """Lines are bundles of three instructions. Of the one with the first call two come behind it."""
    lines = program()
    places = labels_of(lines, TEXT)
    path = write_program(tmp_path / "counts", lines, ATTRIBUTES + bytes(8))
    ran = library.run(
        str(path),
        system=KERNEL,
        guest_pmu="exact",
        pmu="montecito",
        events=["ia64_inst_retired"],
        levels="u",
        irange=f"{places['begin']:#x}-{places['end']:#x}",
        capture=True,
    )
    assert ran.output is not None
    (own,) = struct.unpack("<Q", ran.output)
    assert own == 2 + 3 * (2 + 2 * TIMES + 4)
    assert ran.counts[0].value == own - 2


def test_test_of_the_kernel_counts_and_is_interrupted() -> None:
    """The one in its initial file system: events of one program at both levels; samples of 16 bytes, one for 10,000
    instructions. They begin and end one system call after another, which is less than a hundredth."""
    ran = pfmon("--pmu=montecito", "--system", KERNEL, "--guest-pmu", "-u", "-e", "ia64_inst_retired")
    found = {name: int(count) for name, count in re.findall(r"^(\S+) +(\d+)(?: bytes)?$", ran.stdout, re.M)}
    both = found["both"]
    assert abs(found["user"] + found["kernel"] - both) < both / 100
    assert abs(found["system-wide"] - both) < both / 100
    assert abs(found["samples"] / 16 - both / 10_000) <= 2
