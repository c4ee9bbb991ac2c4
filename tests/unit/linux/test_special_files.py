"""What a program finds in /proc, and what becomes of unaligned references."""

import errno
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import pfmon
from ia64_program import DATA, EXIT, write_program
from ia64_tasks import call

PR_GET_UNALIGN, PR_SET_UNALIGN = 5, 6


def content(guest: Any, path: str) -> bytes:
    fd = guest.open(path)
    assert fd > 0, path
    count = guest.call("read", fd, guest.scratch + 0x8000, 0x8000)
    guest.call("close", fd)
    found: bytes = guest.get(count, 0x8000)
    return found


@pytest.mark.slow
def test_the_processor_is_the_one_that_is_modelled(tmp_path: Path) -> None:
    data = b"/proc/cpuinfo\0".ljust(1024, b"\0")
    lines = [*call("open", DATA, 0, 0), "adds r4=0,r8", *call("read", "r4", DATA, 1000), "adds r4=0,r8"]
    path = write_program(tmp_path / "shows", [*lines, *call("write", 1, DATA, "r4"), *EXIT], data)
    for pmu, said in {
        "itanium": ("family     : 7", "model name : Merced", "cpu regs   : 4", "features   : standard"),
        "itanium2": ("family     : 31", "model name : Madison", "cpu regs   : 4", "features   : branchlong"),
        "montecito": ("family     : 32", "cpu regs   : 12", "features   : branchlong, 16-byte atomic ops"),
    }.items():
        out = pfmon(f"--pmu={pmu}", "-e", "ia64_inst_retired", str(path)).stdout
        assert all(line in out for line in said), (pmu, out)


def test_a_process_finds_itself(guest: Any) -> None:
    fields = content(guest, "/proc/self/stat").rpartition(b")")[2].split()
    assert len(fields) == 50 and fields[:4] == [b"R", b"999", b"1000", b"1000"] and fields[17] == b"1"
    assert content(guest, "/proc/1000/stat").startswith(b"1000 (fib) R 999")
    assert content(guest, "/proc/self/comm") == b"fib\n"
    assert content(guest, "/proc/self/environ") == b"HOME=/\0"
    assert len(content(guest, "/proc/self/statm").split()) == 7
    assert guest.open("/proc/1001/stat") < 0


def test_maps_say_what_is_shared_and_where_a_file_is(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "mapped").write_bytes(bytes(0x10000))
    fd = guest.open(tmp_path / "mapped", 2)
    start = guest.call("mmap", 0, 0x8000, 3, 1, fd, 0x4000)
    anonymous = guest.call("mmap", 0, 0x4000, 3, 0x21, -1, 0)
    lines = content(guest, "/proc/self/maps").decode().splitlines()
    (line,) = [line for line in lines if line.startswith(f"{start:016x}-")]
    assert line.split()[1:3] == ["rw-s", "00004000"] and line.endswith("/mapped")
    (line,) = [line for line in lines if line.startswith(f"{anonymous:016x}-")]
    assert line.split()[1] == "rw-s"
    assert any("[stack]" in line and "rw-p" in line for line in lines)


UNALIGNED = [f"movl r16={DATA + 1}", "ld8 r17=[r16]", "st8 [r16]=r17"]


def test_unaligned_references_are_completed_with_one_note(tmp_path: Path) -> None:
    path = write_program(tmp_path / "crooked", [*UNALIGNED, *UNALIGNED, *EXIT], bytes(16))
    done = pfmon("-e", "misaligned_loads_retired", str(path))
    assert done.returncode == 0
    assert done.stdout.split()[0] == "2"
    (note,) = [line for line in done.stderr.splitlines() if "unaligned" in line]
    assert f"crooked(1000): unaligned access to {DATA + 1:#x}, ip=0x4000000000010010" in note


@pytest.mark.parametrize(("mode", "status", "notes"), [(1, 0, 0), (2, 128 + 7, 0), (0, 0, 1)])
def test_prctl_says_what_becomes_of_them(tmp_path: Path, mode: int, status: int, notes: int) -> None:
    """1: no note, 2: SIGBUS."""
    path = write_program(tmp_path / "asks", [*call("prctl", PR_SET_UNALIGN, mode), *UNALIGNED, *EXIT], bytes(16))
    done = pfmon("-e", "ia64_inst_retired", str(path))
    assert done.returncode == status
    assert len([line for line in done.stderr.splitlines() if "unaligned access" in line]) == notes


def test_prctl_gives_back_what_was_set(guest: Any, new_guest: Callable[[], Any]) -> None:
    assert guest.call("prctl", PR_SET_UNALIGN, 2) == 0
    assert guest.call("prctl", PR_GET_UNALIGN, guest.scratch) == 0
    assert struct.unpack("<I", guest.get(4)) == (2,)
    assert guest.call("prctl", PR_SET_UNALIGN, 8) == -errno.EINVAL


@pytest.mark.slow
def test_a_crash_is_reported_as_a_core_file_would(tmp_path: Path) -> None:
    lines = ["addl r14=123456,r0", "movl r15=0xdead0000", "setf.sig f6=r14", f"movl r12={DATA}", "ld8 r8=[r15]"]
    path = write_program(tmp_path / "dies", lines, struct.pack("<2Q", 0x1122334455667788, 0))
    report = tmp_path / "report"
    done = pfmon("-e", "ia64_inst_retired", f"--crash-report={report}", str(path))
    assert done.returncode == 128 + 11
    text = report.read_text()
    for part in (
        "thread 1000",
        "ip 0x4000000000010040 slot 0",
        "r14  000000000001e240",
        "r15  00000000dead0000",
        "f6   1003e000000000001e240",
        "> 0x4000000000010040  *ld8 r8=[r15]",
        f"{DATA:#018x}  1122334455667788",
        "r-x",
        "[stack]",
    ):
        assert part in text, part
    assert not (tmp_path / "none").exists()
    fine = pfmon("-e", "ia64_inst_retired", f"--crash-report={tmp_path / 'none'}", str(path.parent / "dies"))
    assert fine.returncode == 139
    bad = pfmon("-e", "ia64_inst_retired", f"--crash-report={tmp_path / 'no' / 'folder'}", str(path))
    assert bad.returncode == 2 and bad.stderr.startswith("pfmon: --crash-report=") and bad.stderr.count("\n") == 1
