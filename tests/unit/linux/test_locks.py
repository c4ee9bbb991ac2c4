"""Locks of files between the processes of a run, as Linux has them between processes (fcntl(2), flock(2))."""

import errno
import fcntl
import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from ia64_program import write_program
from ia64_tasks import Data, call, fork

import pfmon
from pfmon.engine.linux.files.file_table import OpenFile
from pfmon.engine.linux.files.record_locks import BEYOND, Lock, RecordLocks

O_RDWR, O_CREAT = 2, 0o100
F_GETLK, F_SETLK, F_SETLKW = 5, 6, 7
F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW = 36, 37, 38
READ, WRITE, NONE = 0, 1, 2
FIRST = 1000
"""The number of the first process."""


def flock(kind: int, start: int = 0, length: int = 0, whence: int = 0, process: int = 0) -> bytes:
    """struct flock."""
    return struct.pack("<hh4xqqi4x", kind, whence, start, length, process)


class Calls:
    """Code that makes system calls on a file in r4 and keeps what they return, for `ran` to print."""

    def __init__(self, path: Path) -> None:
        self.data = Data()
        self.path = self.data.add("path", bytes(path) + b"\0")
        self.results = self.data.add("results", bytes(8 * 16))
        self.kept = 0
        self.names = 0

    def keep(self) -> list[str]:
        """Keep the result, or minus the error number."""
        place = self.results + 8 * self.kept
        self.kept += 1
        return ["cmp.eq p6,p7=r10,r0", "(p7) sub r8=r0,r8", f"movl r16={place}", "st8 [r16]=r8"]

    def open(self) -> list[str]:
        return [*call("openat", -100 & (1 << 64) - 1, self.path, O_RDWR | O_CREAT, 0o600), "adds r4=0,r8"]

    def lock(self, command: int, given: bytes, keep: bool = True) -> list[str]:
        self.names += 1
        at = self.data.add(f"flock_{self.names}", given)
        return [*call("fcntl", "r4", command, at), *(self.keep() if keep else [])]

    def shown(self, *names: str) -> list[str]:
        """Write what was kept, and some data."""
        lines = call("write", 1, self.results, 8 * self.kept)
        for name in names:
            lines += call("write", 1, self.data.at[name], 32)
        return lines

    def sleep(self, milliseconds: int) -> list[str]:
        self.names += 1
        time = self.data.add(f"time_{self.names}", struct.pack("<2q", 0, milliseconds * 1_000_000))
        return call("nanosleep", time, 0)

    def wait(self) -> list[str]:
        self.names += 1
        status = self.data.add(f"status_{self.names}", bytes(8))
        return [*call("wait4", -1 & (1 << 64) - 1, status, 0, 0), *call("exit_group", 0)]

    def run(self, tmp_path: Path, lines: Sequence[str], count: int) -> tuple[tuple[int, ...], bytes]:
        """What was kept by who shows it, and what was shown behind it."""
        program = write_program(tmp_path / "program", lines, self.data.bytes)
        done = pfmon.run(str(program), capture=True)
        assert (done.status, done.notes) == (0, ())
        assert done.output is not None
        return struct.unpack(f"<{count}q", done.output[: 8 * count]), done.output[8 * count :]


@pytest.fixture
def calls(tmp_path: Path) -> Calls:
    (tmp_path / "file").write_bytes(bytes(100))
    return Calls(tmp_path / "file")


def test_a_child_has_not_its_parents_locks(calls: Calls, tmp_path: Path) -> None:
    """It is refused them, whoever opened the file, is told who has them, and gets the bytes beside them."""
    begin = [*calls.open(), *calls.lock(F_SETLK, flock(WRITE, 10, 20), keep=False)]
    child = calls.lock(F_SETLK, flock(READ, 29, 1)) + calls.open() + calls.lock(F_SETLK, flock(WRITE, 0, 11))
    child += calls.lock(F_SETLK, flock(WRITE, 30, 5)) + calls.lock(F_SETLK, flock(WRITE, -10, 10, whence=2))
    child += calls.lock(F_GETLK, flock(READ, 0, 0))
    shown = f"flock_{calls.names}"
    child += calls.lock(F_GETLK, flock(WRITE, 40, 10)) + calls.shown(shown, f"flock_{calls.names}")
    child += call("exit_group", 0)
    kept, data = calls.run(tmp_path, [*begin, *fork(child, calls.wait())], 6)
    assert kept == (-errno.EAGAIN, -errno.EAGAIN, 0, 0, 0, 0)
    assert data[:32] == flock(WRITE, 10, 20, process=FIRST)
    assert data[32:] == flock(NONE, 40, 10)


def test_locks_for_reading_are_had_together(calls: Calls, tmp_path: Path) -> None:
    begin = [*calls.open(), *calls.lock(F_SETLK, flock(READ, 0, 0), keep=False)]
    child = calls.lock(F_SETLK, flock(READ, 5, 5)) + calls.lock(F_SETLK, flock(WRITE, 5, 5))
    child += calls.shown() + call("exit_group", 0)
    assert calls.run(tmp_path, [*begin, *fork(child, calls.wait())], 2)[0] == (0, -errno.EAGAIN)


def test_who_waits_gets_the_lock_when_it_is_given_up(calls: Calls, tmp_path: Path) -> None:
    """The parent holds it for 50 ms of its own time; then the child reads what it has written."""
    word = calls.data.add("word", b"written!" + bytes(24))
    begin = [*calls.open(), *calls.lock(F_SETLK, flock(WRITE), keep=False)]
    child = calls.lock(F_SETLKW, flock(READ, 0, 8)) + call("pread64", "r4", word, 8, 0) + calls.keep()
    child += calls.shown("word") + call("exit_group", 0)
    parent = calls.sleep(50) + call("pwrite64", "r4", word, 8, 0) + calls.lock(F_SETLK, flock(NONE, 0, 8), keep=False)
    kept, data = calls.run(
        tmp_path, [*begin, *fork(["movl r16=" + str(word), "st8 [r16]=r0", *child], [*parent, *calls.wait()])], 2
    )
    assert (kept, data[:8]) == ((0, 8), b"written!")


@pytest.mark.parametrize("how", ["close", "dup2", "exit_group"])
def test_closing_any_descriptor_of_the_file_gives_all_up(how: str, calls: Calls, tmp_path: Path) -> None:
    begin = [*calls.open(), *calls.lock(F_SETLK, flock(WRITE, 3, 4), keep=False)]
    begin += [*calls.lock(F_SETLK, flock(READ, 50, 1), keep=False), "adds r5=0,r4", *calls.open()]
    ends = {"close": call("close", "r5"), "dup2": call("dup2", 1, "r5"), "exit_group": []}[how]
    child = calls.lock(F_SETLK, flock(WRITE)) + calls.sleep(20) + calls.lock(F_SETLK, flock(WRITE)) + calls.shown()
    parent = calls.sleep(10) + ends + (calls.wait() if ends else call("exit_group", 0))
    kept, _ = calls.run(tmp_path, [*begin, *fork([*child, *call("exit_group", 0)], parent)], 2)
    assert kept == (-errno.EAGAIN, 0)


def test_executing_a_program_keeps_them(calls: Calls, tmp_path: Path) -> None:
    other = Calls(tmp_path / "file")
    program = write_program(tmp_path / "other", [*other.sleep(50), *other.wait()], other.data.bytes)
    path = calls.data.add("program", bytes(program) + b"\0")
    words = calls.data.add("words", struct.pack("<2Q", path, 0))
    begin = [*calls.open(), *calls.lock(F_SETLK, flock(WRITE, 1, 1), keep=False)]
    child = calls.sleep(10) + calls.lock(F_SETLK, flock(WRITE)) + calls.shown() + call("exit_group", 0)
    parent = [*call("execve", path, words, words + 8), *call("exit_group", 9)]
    lines = [*begin, *fork(child, parent)]
    done = pfmon.run(str(write_program(tmp_path / "program", lines, calls.data.bytes)), capture=True)
    assert (done.status, done.output) == (0, struct.pack("<q", -errno.EAGAIN))


def test_waiting_for_each_other_is_a_deadlock(calls: Calls, tmp_path: Path) -> None:
    """The second to wait gets EDEADLK; when it gives its lock up, the first one gets that."""
    begin = [*calls.open(), *calls.lock(F_SETLK, flock(WRITE, 0, 1), keep=False)]
    child = calls.lock(F_SETLK, flock(WRITE, 1, 1)) + calls.sleep(20) + calls.lock(F_SETLKW, flock(WRITE, 0, 1))
    child += calls.shown() + call("exit_group", 0)
    parent = calls.sleep(10) + calls.lock(F_SETLKW, flock(WRITE, 1, 1), keep=False) + calls.wait()
    assert calls.run(tmp_path, [*begin, *fork(child, parent)], 2)[0] == (0, -errno.EDEADLK)


def test_locks_of_descriptions_go_with_the_last_descriptor(guest: Any, tmp_path: Path) -> None:
    """Two descriptions of a process are two owners; a duplicate is the same one; those of a process are another's."""
    path = tmp_path / "file"
    one, two = guest.open(path, O_RDWR | O_CREAT), guest.open(path, O_RDWR)
    assert guest.call("fcntl", one, F_OFD_SETLK, guest.put(flock(WRITE, 0, 10))) == 0
    again = guest.call("dup", one)
    assert guest.call("fcntl", again, F_OFD_SETLK, guest.put(flock(WRITE, 5, 10))) == 0
    assert guest.call("fcntl", two, F_OFD_SETLK, guest.put(flock(READ, 14, 1))) == -errno.EAGAIN
    assert guest.call("fcntl", two, F_SETLK, guest.put(flock(READ, 14, 1))) == -errno.EAGAIN
    assert guest.call("fcntl", two, F_OFD_GETLK, guest.put(flock(READ))) == 0
    assert guest.get(32) == flock(WRITE, 0, 15, process=-1)
    assert guest.call("fcntl", two, F_OFD_SETLK, guest.put(flock(READ, process=1))) == -errno.EINVAL
    assert guest.call("close", one) == 0
    assert guest.call("fcntl", two, F_OFD_SETLK, guest.put(flock(READ, 14, 1))) == -errno.EAGAIN
    assert guest.call("close", again) == 0
    assert guest.call("fcntl", two, F_OFD_SETLKW, guest.put(flock(READ, 14, 1))) == 0


def test_what_cannot_be_locked(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(10))
    reading, writing = guest.open(tmp_path / "file"), guest.open(tmp_path / "file", 1)
    for fd, wanted, error in (
        (reading, flock(WRITE), errno.EBADF),
        (writing, flock(READ), errno.EBADF),
        (reading, flock(7), errno.EINVAL),
        (reading, flock(READ, whence=3), errno.EINVAL),
        (reading, flock(READ, -1, 1), errno.EINVAL),
        (reading, flock(READ, 1 << 62, 1 << 62, whence=2), errno.EOVERFLOW),
    ):
        assert guest.call("fcntl", fd, F_SETLK, guest.put(wanted)) == -error
    assert guest.call("fcntl", reading, F_GETLK, guest.put(flock(NONE))) == -errno.EINVAL
    assert guest.call("fcntl", reading, F_SETLK, 8) == -errno.EFAULT
    assert guest.call("fcntl", 77, F_SETLK, guest.put(flock(READ))) == -errno.EBADF
    assert guest.call("flock", reading, 3) == -errno.EINVAL


def test_other_processes_of_the_host_are_kept_away(guest: Any, tmp_path: Path) -> None:
    """They and the program see each other's locks, as far as what all programs of the run have."""
    path = tmp_path / "file"
    fd = guest.open(path, O_RDWR | O_CREAT)
    assert guest.call("fcntl", fd, F_SETLK, guest.put(flock(WRITE, 0, 10))) == 0
    with path.open("r+b") as other:
        assert taken(other.fileno(), flock(READ, 9, 1)) and not taken(other.fileno(), flock(WRITE, 10, 10))
        assert guest.call("fcntl", fd, F_SETLK, guest.put(flock(READ, 5, 10))) == -errno.EAGAIN
        assert guest.call("fcntl", fd, F_GETLK, guest.put(flock(READ, 5, 10))) == 0
        assert guest.get(24) == flock(WRITE, 10, 10)[:24]
        assert guest.call("fcntl", fd, F_SETLK, guest.put(flock(NONE, 4, 3))) == 0
        assert not taken(other.fileno(), flock(READ, 4, 3)) and taken(other.fileno(), flock(READ, 7, 1))
        assert guest.call("close", fd) == 0
        assert not taken(other.fileno(), flock(WRITE))


def taken(host: int, given: bytes) -> bool:
    """Whether the host refuses a lock of an open file description."""
    try:
        fcntl.fcntl(host, F_OFD_SETLK, given)
    except BlockingIOError:
        return True
    return False


def test_flock_between_processes(calls: Calls, tmp_path: Path) -> None:
    """A child shares its parent's; with another description it waits, and gets it though the parent goes on running."""
    begin = [*calls.open(), *call("flock", "r4", fcntl.LOCK_EX)]
    child = [*call("flock", "r4", fcntl.LOCK_EX | fcntl.LOCK_NB), *calls.keep(), *calls.open()]
    child += [*call("flock", "r4", fcntl.LOCK_SH | fcntl.LOCK_NB), *calls.keep()]
    child += [*call("flock", "r4", fcntl.LOCK_EX), *calls.keep(), *calls.shown(), *call("kill", FIRST, 15)]
    parent = [*calls.sleep(10), *call("flock", "r4", fcntl.LOCK_UN), "spin:", "br.cond.sptk.few spin"]
    program = write_program(
        tmp_path / "program", [*begin, *fork([*child, *call("exit_group", 0)], parent)], calls.data.bytes
    )
    done = pfmon.run(str(program), capture=True, timeout=20)
    assert (done.stopped, done.death and done.death.signal) == ("", 15)
    assert done.output == struct.pack("<3q", 0, -errno.EAGAIN, 0)


OWNERS = 3
STEPS = st.tuples(
    st.integers(0, OWNERS - 1),
    st.sampled_from([READ, WRITE, NONE]),
    st.integers(0, 12),
    st.sampled_from([1, 2, 3, 5, 0]),
)


@pytest.fixture
def two_files(tmp_path: Path) -> Iterator[tuple[int, list[int]]]:
    """A descriptor for the table, and one of another file for each owner."""
    ours = os.open(tmp_path / "ours", os.O_RDWR | os.O_CREAT)
    theirs = [os.open(tmp_path / "theirs", os.O_RDWR | os.O_CREAT) for _ in range(OWNERS)]
    yield ours, theirs
    for host in (ours, *theirs):
        os.close(host)


@pytest.mark.slow
def test_stretches_are_cut_and_joined_as_the_host_does_it(two_files: tuple[int, list[int]]) -> None:
    """Any locks of three owners: granted or refused as the host does it, and the same is left."""
    ours, theirs = two_files

    @examples(200)
    @given(st.lists(STEPS, max_size=12))
    def check(steps: list[tuple[int, int, int, int]]) -> None:
        table = RecordLocks(ours)
        owners = [OpenFile(host, owned=False) for host in theirs]
        for number, kind, start, length in steps:
            wanted = Lock(start, start + length if length else BEYOND, kind == WRITE, owners[number])
            refused = kind != NONE and table.blocking(wanted) is not None
            if not refused:
                table.clear(wanted) if kind == NONE else table.set(wanted)
            assert taken(theirs[number], flock(kind, start, length)) == refused
            for byte in range(20):
                asked = fcntl.fcntl(ours_seen, F_OFD_GETLK, flock(WRITE, byte, 1))
                host = fcntl.fcntl(theirs_seen, F_OFD_GETLK, flock(WRITE, byte, 1))
                assert asked[:2] == host[:2]
                there = [one for one in table.locks if one.meets(byte, byte + 1)]
                if len(there) == 1:
                    (one,) = there
                    size = 0 if one.end == BEYOND else one.end - one.start
                    assert host == flock(WRITE if one.exclusive else READ, one.start, size, process=-1)
        for host in theirs:
            taken(host, flock(NONE))
        table.close()

    one, two = (Path(f"/proc/self/fd/{host}") for host in (ours, theirs[0]))
    with one.open("r+b") as our_file, two.open("r+b") as their_file:
        ours_seen, theirs_seen = our_file.fileno(), their_file.fileno()
        check()
