"""Processes that stop and go on: job control, and ptrace."""

import struct
from pathlib import Path

import pytest
from command import example
from ia64_program import write_program
from ia64_tasks import Data, call, fork

import pfmon

SIGKILL, SIGCONT, SIGSTOP, SIGTRAP, SIGUSR1 = 9, 18, 19, 5, 10
WNOHANG, WUNTRACED, WCONTINUED = 1, 2, 8
TRACEME, PEEK, POKE, CONT, ATTACH, DETACH = 0, 2, 5, 7, 16, 17


def run(path: Path) -> list[int]:
    """The words that a program writes; its end is fine."""
    done = pfmon.run(path, capture=True)
    assert done.status == 0 and done.output is not None, done.notes
    return list(struct.unpack(f"<{len(done.output) // 4}I", done.output))


class Parent:
    """A parent that waits for its child again and again, and writes the status that it got each time."""

    def __init__(self) -> None:
        self.data = Data()
        self.status = self.data.add("status", bytes(8))
        self.time = self.data.add("time", struct.pack("<2q", 0, 100_000))
        self.lines = ["adds r7=0,r8"]

    def wait(self, options: int = 0) -> "Parent":
        self.lines += [*call("wait4", "r7", self.status, options, 0), *call("write", 1, self.status, 4)]
        return self

    def do(self, name: str, *arguments: int | str) -> "Parent":
        self.lines += call(name, *arguments)
        return self

    def show_result(self) -> "Parent":
        self.lines += ["adds r5=0,r8", f"movl r16={self.status}", "st8 [r16]=r5", *call("write", 1, self.status, 4)]
        return self

    def program(self, path: Path, child: list[str]) -> Path:
        return write_program(path, fork(child, [*self.lines, *call("exit_group", 0)]), self.data.bytes)


def raise_signal(signal: int) -> list[str]:
    return [*call("getpid"), "adds r5=0,r8", *call("kill", "r5", signal)]


def test_a_stopped_child_goes_on_when_it_is_told_to(tmp_path: Path) -> None:
    parent = Parent().wait(WUNTRACED).do("kill", "r7", SIGCONT).wait(WCONTINUED).wait()
    path = parent.program(tmp_path / "stops", [*raise_signal(SIGSTOP), *call("exit_group", 3)])
    assert run(path) == [SIGSTOP << 8 | 0x7F, 0xFFFF, 3 << 8]


def test_a_stopped_child_does_not_run_and_can_be_killed(tmp_path: Path) -> None:
    """It would end with 3 after 100 microseconds: while it is stopped that time passes three times."""
    parent = Parent()
    parent.do("nanosleep", parent.data.add("soon", struct.pack("<2q", 0, 1000)), 0).do("kill", "r7", SIGSTOP)
    parent.wait(WUNTRACED)
    for _ in range(3):
        parent.do("nanosleep", parent.time, 0)
    parent.wait(WNOHANG).do("kill", "r7", SIGKILL).wait()
    child = [*call("nanosleep", parent.time, 0), *call("exit_group", 3)]
    assert run(parent.program(tmp_path / "killed", child)) == [SIGSTOP << 8 | 0x7F, SIGSTOP << 8 | 0x7F, SIGKILL]


def test_without_wuntraced_a_stop_is_no_news(tmp_path: Path) -> None:
    parent = Parent()
    parent.do("nanosleep", parent.time, 0).wait(WNOHANG).do("kill", "r7", SIGCONT).wait()
    path = parent.program(tmp_path / "quiet", [*raise_signal(SIGSTOP), *call("exit_group", 4)])
    assert run(path) == [0, 4 << 8]


def test_the_first_process_is_not_stopped(tmp_path: Path) -> None:
    assert run(write_program(tmp_path / "alone", [*raise_signal(SIGSTOP), *call("exit_group", 0)])) == []


def test_a_traced_child_stops_before_the_program_that_it_executes(tmp_path: Path) -> None:
    parent = Parent()
    name = parent.data.add("name", example("fib").encode() + b"\0")
    vector = parent.data.add("vector", struct.pack("<2Q", name, 0))
    nothing = parent.data.add("nothing", bytes(8))
    child = [*call("ptrace", TRACEME, 0, 0, 0), *call("execve", name, vector, nothing), *call("exit_group", 99)]
    parent.wait().do("ptrace", DETACH, "r7", 0, 0).wait()
    done = pfmon.run(parent.program(tmp_path / "traced", child), capture=True, follow_all=True, events="nops_retired")
    assert done.output is not None and done.output.endswith(struct.pack("<I", 0))
    assert done.output.startswith(struct.pack("<I", SIGTRAP << 8 | 0x7F))
    alone = pfmon.run(example("fib"), capture=True, events="nops_retired")
    assert alone.output is not None and done.output[4:-4] == alone.output
    assert done.tasks is not None and done.tasks[2].counts[0].value == alone.counts[0].value


@pytest.mark.parametrize(("injected", "status"), [(0, 7 << 8), (SIGUSR1, SIGUSR1), (SIGKILL, SIGKILL)])
def test_the_tracer_decides_what_becomes_of_a_signal(tmp_path: Path, injected: int, status: int) -> None:
    child = [*call("ptrace", TRACEME, 0, 0, 0), *raise_signal(SIGUSR1), *call("exit_group", 7)]
    parent = Parent().wait().do("ptrace", CONT, "r7", 0, injected).wait()
    assert run(parent.program(tmp_path / "decides", child)) == [SIGUSR1 << 8 | 0x7F, status]


def test_attaching_reading_and_writing_memory(tmp_path: Path) -> None:
    """The child waits for a word to change, which its tracer does."""
    parent = Parent()
    word = parent.data.add("word", struct.pack("<Q", 1234))
    child = ["again:", *call("nanosleep", parent.time, 0), f"movl r16={word}", "ld8 r17=[r16]", "addl r18=1234,r0"]
    child += ["cmp.eq p6,p7=r17,r18", "(p6) br.cond.sptk.few again", "adds r4=0,r17", *call("exit_group", "r4")]
    parent.do("ptrace", ATTACH, "r7", 0, 0).wait().do("ptrace", PEEK, "r7", word, 0).show_result()
    parent.do("ptrace", POKE, "r7", word, 21).do("ptrace", PEEK, "r7", 1 << 40, 0).show_result()
    parent.do("ptrace", DETACH, "r7", 0, 0).wait()
    assert run(parent.program(tmp_path / "pokes", child)) == [SIGSTOP << 8 | 0x7F, 1234, 5, 21 << 8]  # EIO


def test_who_is_not_traced_cannot_be_asked(tmp_path: Path) -> None:
    parent = Parent().do("ptrace", CONT, "r7", 0, 0).show_result().wait()
    assert run(parent.program(tmp_path / "stranger", call("exit_group", 0))) == [3, 0]  # ESRCH
