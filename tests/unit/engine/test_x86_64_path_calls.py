"""The x86_64 runtime knows all system calls with paths, and its filter lets none of them past the names that it has.

``x86_64_path_calls.csv`` has the calls of Linux 6.18 on x86-64 whose prototypes (include/linux/syscalls.h) have a path,
and the numbers of these arguments."""

import csv
import re
from pathlib import Path

import pytest

import pfmon

ROOT = Path(pfmon.__file__).parent / "engine" / "x86_64" / "runtime" / "root"
DATA = Path(__file__).resolve().parents[2] / "data" / "engine" / "x86_64_path_calls.csv"
HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
HELD_BY_LANDLOCK = {"mkdirat", "mknodat", "unlinkat", "linkat", "symlinkat", "renameat2"}
"""What they make, move, join and remove (landlock(7))."""
WITHOUT_RIGHTS = {"mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "ptrace", "open_by_handle_at", "bpf"}
WITHOUT_RIGHTS |= {"io_uring_setup", "io_uring_enter", "userfaultfd", "pidfd_getfd", "seccomp", "init_module", "keyctl"}
WITHOUT_RIGHTS |= {"kexec_load", "perf_event_open", "quotactl_fd", "fsopen", "fsmount", "remap_file_pages", "clone3"}


def source(name: str) -> str:
    return (ROOT / name).read_text()


def kernel_paths() -> dict[str, set[int]]:
    """The arguments that are paths, by call."""
    with DATA.open(encoding="ascii") as file:
        return {row["name"]: {int(one) for one in row["paths"].split()} for row in csv.DictReader(file)}


def runtime_paths() -> dict[str, set[int]]:
    """Those of the runtime's table."""
    row = re.compile(r"\{(?:__NR_|NR_)(\w+), (?:NONE|\d), (\d), [\w]+, [A-Z_]+, (?:NONE|\d), (NONE|\d)\}")
    return {
        name.lower(): {int(path), *([] if second == "NONE" else [int(second)])}
        for name, path, second in row.findall(source("path_calls.c"))
    }


def allowed_calls() -> set[str]:
    """Calls that the filter lets pass whatever their arguments are."""
    listed = re.search(r"allowed\[\] = \{(.*?)\n\};", source("call_filter.c"), re.DOTALL)
    assert listed
    return set(re.findall(r"__NR_(\w+)", listed[1])) | set(re.findall(r"\d+ /\* (\w+) \*/", listed[1]))


def named_calls() -> set[str]:
    """Calls that the filter lets pass with a name of the runtime's."""
    listed = re.search(r"named\[\] = \{(.*?)\n\};", source("call_filter.c"), re.DOTALL)
    assert listed
    return set(re.findall(r"\{__NR_(\w+)", listed[1])) | set(re.findall(r"\{\d+ /\* (\w+) \*/", listed[1]))


def test_runtime_knows_all_paths_of_system_calls() -> None:
    assert runtime_paths() == kernel_paths()


def test_filter_passes_no_path_of_the_guest_s_but_those_that_landlock_holds() -> None:
    assert allowed_calls() & set(kernel_paths()) == HELD_BY_LANDLOCK
    assert not named_calls() & allowed_calls()


@pytest.mark.skipif(not HEADER.exists(), reason="the kernel's headers for x86-64 are not here")
def test_filter_names_calls_of_the_kernel_and_none_that_lead_around_it() -> None:
    known = set(re.findall(r"__NR_(\w+)", HEADER.read_text()))
    newer = {"cachestat", "mseal", "fchmodat2"}
    assert allowed_calls() | named_calls() <= known | newer | {"futex_wake, futex_wait, futex_requeue"}
    assert not WITHOUT_RIGHTS & (allowed_calls() | named_calls()) and known >= WITHOUT_RIGHTS
