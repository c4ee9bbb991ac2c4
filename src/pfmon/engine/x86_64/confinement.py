"""Whether the host's kernel keeps a program below a directory, whatever code it gets to execute (docs/programs.md)."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import resource
from pathlib import Path

from pfmon.errors import PfmonError

DESCRIPTORS = 1024
"""Descriptors of a confined program (runtime/root/kernel_names.h)."""
SECCOMP, LANDLOCK_CREATE_RULESET, MSEAL = 317, 444, 462
"""Numbers of system calls on x86-64."""
LANDLOCK_VERSION, SECCOMP_ACTION_AVAILABLE = 1, 2
"""LANDLOCK_CREATE_RULESET_VERSION (landlock_create_ruleset(2)), SECCOMP_GET_ACTION_AVAIL (seccomp(2))."""
SECCOMP_RETURNS_ERROR = 0x0005_0000
"""SECCOMP_RET_ERRNO."""
LANDLOCK_ABI = 6
"""The first that keeps UNIX sockets without a path, and signals: of Linux 6.12."""


def check_confinement(directory: str, runtime: str) -> None:
    """PfmonError: this host's kernel does not keep programs below ``directory``, and what it lacks; or what is there
    would lead out: the program ``runtime``, in which they are executed, or the memory of processes."""
    from pfmon.program.root import Root

    library = ctypes.CDLL(None, use_errno=True)
    abi = library.syscall(
        ctypes.c_long(LANDLOCK_CREATE_RULESET), None, ctypes.c_long(0), ctypes.c_long(LANDLOCK_VERSION)
    )
    if abi < LANDLOCK_ABI:
        has = f"has ABI {abi}" if abi > 0 else f"has none ({errno.errorcode.get(ctypes.get_errno(), '')})"
        raise _refusal(f"Landlock with ABI {LANDLOCK_ABI} (Linux 6.12), and this kernel {has}")
    action = ctypes.c_uint32(SECCOMP_RETURNS_ERROR)
    if library.syscall(
        ctypes.c_long(SECCOMP), ctypes.c_long(SECCOMP_ACTION_AVAILABLE), ctypes.c_long(0), ctypes.byref(action)
    ):
        raise _refusal("filters of system calls (seccomp), and this kernel has none")
    if library.syscall(ctypes.c_long(MSEAL), ctypes.c_long(0), ctypes.c_long(0), ctypes.c_long(0)):
        raise _refusal("mseal(2) (Linux 6.10), and this kernel does not have it")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if 0 <= most < DESCRIPTORS:
        raise _refusal(f"{DESCRIPTORS} descriptors, and the limit is {most} (ulimit -Hn)")
    Root(os.fsencode(directory))
    root = Path(directory).resolve()
    if Path(runtime).is_relative_to(root):
        raise _refusal(f"a --sysroot without pfmon in it, which is in {Path(runtime).parent}")
    for place in mounted("proc"):
        if place.is_relative_to(root):
            raise _refusal(f"a --sysroot without a mounted /proc, which is at {place}")


def mounted(kind: str) -> list[Path]:
    """Return the mount points of file systems of a kind (proc(5), /proc/pid/mountinfo)."""
    places = []
    for line in Path("/proc/self/mountinfo").read_bytes().splitlines():
        fields, _, rest = line.partition(b" - ")
        if rest.split()[0] == os.fsencode(kind):
            places.append(Path(os.fsdecode(re.sub(rb"\\(\d{3})", _octal, fields.split()[4]))))
    return places


def _octal(escaped: re.Match[bytes]) -> bytes:
    return bytes([int(escaped[1], 8)])


def _refusal(what: str) -> PfmonError:
    return PfmonError(f"--confine wants, for an x86-64 program, {what}").about("--confine")
