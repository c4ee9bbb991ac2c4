"""Processes that are not counted end with the run, however that ends. Sleeps take the host's time."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer

import pytest
from grids import first_quick
from ia64_program import write_program
from ia64_tasks import SIGCHLD, call
from qemu_guests import ASSEMBLER, QEMU, assemble

import pfmon

pytestmark = [QEMU, ASSEMBLER]

EVENT = "INSTRUCTIONS_RETIRED"
LEAVING = "sh -c 'setsid sleep 1000 {mark} & sleep 1000 {mark} & exit 0'; sh -c 'sleep 1000 {mark}; true' & {last}"
"""A shell starts processes that are left to themselves, in a session of their own, too, with the mark as a word."""
SLEEPERS = 4


def marked(mark: str) -> list[int]:
    """Processes alive in whose command the mark is, this one and pfmon left out."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if mark.encode() in words and b"pfmon" not in words:
            found.append(int(path.parent.name))
    return found


def until(wanted: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not wanted() and time.monotonic() < deadline:
        time.sleep(0.02)
    return wanted()


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[str]:
    """A number that sleep takes and that no other process has as a word."""
    yield (number := f"0.{os.getpid()}{abs(hash(tmp_path.name)) % 10**6}")
    for pid in marked(number):
        os.kill(pid, 9)


def command(mark: str, last: str, *options: str) -> list[str]:
    program = LEAVING.format(mark=mark, last=last)
    return [sys.executable, "-m", "pfmon", "-e", EVENT, "--host-clock", *options, "/bin/sh", "-c", program]


@pytest.mark.slow
def test_children_end_with_the_run(mark: str) -> None:
    done = subprocess.run(command(mark, "sleep 0.5; exit 3"), capture_output=True, text=True, check=False)
    assert done.returncode == 3 and EVENT in done.stdout
    assert not marked(mark)
    assert "killed at the program's end" in done.stderr and "--detach-children" in done.stderr


@pytest.mark.slow
def test_children_go_on_that_are_detached(mark: str) -> None:
    options = ("--detach-children", "--outfile=/dev/null")
    process = subprocess.Popen(command(mark, "sleep 0.5; exit 3", *options))
    assert process.wait() == 3
    assert len(marked(mark)) >= SLEEPERS - 1


@pytest.mark.parametrize("options", first_quick([(), ("--follow-fork",)], single=True), ids=["alone", "followed"])
def test_children_end_when_pfmon_is_killed(options: tuple[str, ...], mark: str) -> None:
    process = subprocess.Popen(command(mark, "sleep 1000", *options))
    assert until(lambda: len(marked(mark)) >= SLEEPERS - 1)
    process.kill()
    process.wait()
    assert until(lambda: not marked(mark))


@pytest.mark.slow
def test_children_end_at_a_timeout(mark: str) -> None:
    done = subprocess.run(command(mark, "sleep 1000", "-t", "1.5"), capture_output=True, text=True, check=False)
    assert done.returncode == 124
    assert not marked(mark)


@pytest.mark.slow
@pytest.mark.parametrize("count", first_quick([1, 3]))
def test_children_killed_at_a_timeout_are_told(count: int, mark: str) -> None:
    script = f"sleep 1000 {mark} & " * count + "wait"
    words = [sys.executable, "-m", "pfmon", "-e", EVENT, "--host-clock", "-t", "1", "/bin/sh", "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    processes = "1 process" if count == 1 else f"{count} processes"
    assert f"killed when the run was stopped: {processes} that it had started" in done.stderr
    assert done.returncode == 124 and not marked(mark)


@pytest.mark.slow
def test_no_notice_at_a_timeout_where_nobody_is_killed(mark: str) -> None:
    words = [sys.executable, "-m", "pfmon", "--engine=qemu", "-e", EVENT, "-t", "1", "/bin/sleep", "1000", mark]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 124 and "killed" not in done.stderr


NATIVE_BOMB = (
    "sh -c 'for i in $(seq 200); do sh -c \"sleep 1000 {mark} & sleep 1000 {mark} & :\"; done' & wait; "
    "sleep 1000 {mark}"
)
BOMB = "_start: mov $8, %ebx\n 1: mov $57, %eax\n syscall\n dec %ebx\n jnz 1b\n 2: mov $34, %eax\n syscall\n jmp 2b"
"""256 processes in the end, or 400: as many as whoever else works on this machine can stand."""


@pytest.mark.slow
def test_bomb_of_forks_leaves_nothing(tmp_path: Path) -> None:
    bomb = assemble(tmp_path, BOMB)
    words = [sys.executable, "-m", "pfmon", "-e", EVENT, "--host-clock", "-t", "0.7", str(bomb)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 124, done.stderr
    assert not marked(str(bomb))


@pytest.mark.slow
def test_bomb_of_programs_leaves_nothing(mark: str) -> None:
    words = [sys.executable, "-m", "pfmon", "-e", EVENT, "-t", "1", "/bin/sh", "-c", NATIVE_BOMB.format(mark=mark)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 124, done.stderr
    assert not marked(mark)


@pytest.mark.slow
def test_no_notice_where_everybody_has_ended(capfd: pytest.CaptureFixture[str]) -> None:
    run = pfmon.run(["/bin/sh", "-c", "sleep 0.1 | cat; sh -c true & wait"], events=[EVENT])
    assert not [note for note in run.notes if "killed at" in note]
    run = pfmon.run(["/bin/sh", "-c", "(sleep 0.02) & exit 0"], events=[EVENT])  # ends by itself in a moment
    assert not [note for note in run.notes if "killed at" in note]


def children() -> set[str]:
    """The processes that this one has started, and that have not been waited for."""
    return {number for path in Path("/proc/self/task").glob("*/children") for number in path.read_text().split()}


@pytest.mark.slow
def test_ia64_processes_are_none_of_the_host(tmp_path: Path) -> None:
    """The engine executes them all itself: when pfmon is gone, so are they."""
    turns = ["mov.i ar.lc=r4", "loop:", "br.cloop.sptk.few loop"]
    forking = ["movl r4=50000000", *call("clone", SIGCHLD, 0), *turns, *call("exit_group", "r0")]
    before, seen = children(), []
    words = [write_program(tmp_path / "forking", forking)]
    with pfmon.prepare(words, events=["ia64_inst_retired"], capture=True) as prepared:
        Timer(0.2, lambda: seen.append(children())).start()
        Timer(0.4, prepared.stop).start()
        assert prepared.run().stopped == "stop"
    assert seen == [before]
