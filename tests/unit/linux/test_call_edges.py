"""Structures of system calls at the edges of what a program has mapped: written or read wholly, or EFAULT."""

from collections.abc import Callable
from errno import EFAULT
from typing import Any, NamedTuple

import pytest

from pfmon.engine.linux.process import process_exit

PAGE = 16384
HERE = -1
"""Stands for the structure's address."""
READ, WRITE = 1, 2


class Structured(NamedTuple):
    """A call that reads or writes a structure of so many bytes (Linux for IA-64, asm/stat.h, linux/utsname.h, ...)."""

    name: str
    arguments: tuple[int, ...]
    size: int
    rights: int


CALLS = [
    Structured("uname", (HERE,), 6 * 65, WRITE),
    Structured("fstat", (0, HERE), 144, WRITE),
    Structured("gettimeofday", (HERE, 0), 16, WRITE),
    Structured("clock_gettime", (1, HERE), 16, WRITE),
    Structured("clock_getres", (1, HERE), 16, WRITE),
    Structured("times", (HERE,), 32, WRITE),
    Structured("getrusage", (0, HERE), 144, WRITE),
    Structured("getrlimit", (7, HERE), 16, WRITE),
    Structured("getitimer", (0, HERE), 32, WRITE),
    Structured("sigaltstack", (0, HERE), 24, WRITE),
    Structured("rt_sigprocmask", (0, 0, HERE, 8), 8, WRITE),
    Structured("rt_sigpending", (HERE, 8), 8, WRITE),
    Structured("pipe2", (HERE, 0), 8, WRITE),
    Structured("sched_getparam", (0, HERE), 4, WRITE),
    Structured("rt_sigprocmask", (0, HERE, 0, 8), 8, READ),
    Structured("nanosleep", (HERE, 0), 16, READ),
    Structured("setitimer", (0, HERE, 0), 32, READ),
    Structured("utimensat", (0, 0, HERE, 0), 32, READ),
    Structured("poll", (HERE, 1, 0), 8, READ | WRITE),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.name}-{call.size}-{call.rights}")
def test_structures_are_there_wholly_or_the_call_fails(
    call: Structured, new_guest: Callable[[], Any], tmp_path: Any
) -> None:
    guest = new_guest()
    try:
        guest.call("close", 0)
        assert guest.open(tmp_path / "file", 0o102) == 0
        guest.memory.map(first := 0x2000000200000000, PAGE, READ | WRITE)
        guest.memory.map(first + PAGE, PAGE, READ)
        beyond = first + PAGE
        for at in (*range(first - 40, first + 9, 4), *range(beyond - call.size - 8, beyond + 40, 4)):
            guest.memory.write(first, bytes(PAGE))
            result = guest.call(call.name, *(at if one == HERE else one for one in call.arguments))
            end = beyond if call.rights & WRITE else beyond + PAGE
            assert (result == -EFAULT) == (not first <= at <= end - call.size), hex(at)
            assert result >= 0 or result == -EFAULT
            inside = range(max(0, at - first), max(0, at + call.size - first))
            written = guest.memory.read(first, PAGE)
            assert not any(written[: inside.start]) and not any(written[inside.stop :])
            assert result >= 0 or not any(written)
    finally:
        process_exit.close(guest.process)
