"""Runs of several processes end, by themselves or not, and nothing is left behind."""

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import pytest
from following import CLOSING, EVENT, FORKING, counted, follow, tasks
from host_programs import RUNS_X86_64
from qemu_guests import ASSEMBLER, QEMU, assemble, compile_c

import pfmon

pytestmark = [QEMU, ASSEMBLER, RUNS_X86_64, pytest.mark.slow, pytest.mark.usefixtures("each_engine")]


def emulated(mark: str) -> list[int]:
    """Processes alive in whose command a text is."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(int(path.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def until(wanted: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not wanted() and time.monotonic() < deadline:
        time.sleep(0.02)
    return wanted()


BUSY = 'sh -c "while :; do :; done" {mark} & sleep 100 & wait'


@pytest.mark.parametrize("what", [BUSY, "{closing} x {mark}"], ids=["shell", "closed"])
def test_pfmon_that_is_killed_leaves_nothing_behind(what: str, tmp_path: Path) -> None:
    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    closing = compile_c(tmp_path, CLOSING, "-static")
    shared = set(Path("/dev/shm").iterdir())
    command = [sys.executable, "-m", "pfmon", "--follow-all", "-e", EVENT, "/bin/sh", "-c"]
    process = subprocess.Popen([*command, what.format(mark=mark, closing=closing)])
    assert until(lambda: len(emulated(mark)) >= 3)
    time.sleep(0.3)
    process.kill()
    process.wait()
    assert until(lambda: not emulated(mark))
    assert set(Path("/dev/shm").iterdir()) == shared


def test_stop_ends_all_processes_with_their_counts(tmp_path: Path) -> None:
    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    command = ["/bin/sh", "-c", BUSY.format(mark=mark)]
    with pfmon.prepare(command, events=[EVENT], follow_all=True, capture=True) as prepared:
        Timer(1, prepared.stop).start()
        run = prepared.run()
    assert run.stopped == "stop"
    assert sorted(tasks(run)) == ["1", "1.1", "1.1:1", "1.2", "1.2:1"]
    assert tasks(run)["1.1:1"].retired > 1_000_000
    assert not emulated(mark)


def test_fork_bomb_ends_at_the_limit(tmp_path: Path) -> None:
    bomb = assemble(tmp_path, "_start: mov $57, %eax\n syscall\n jmp _start")
    with pytest.raises(pfmon.PfmonError, match="more than 20 processes at a time: all were ended"):
        follow(bomb, follow_limit=20)
    assert until(lambda: not emulated(str(bomb)))


@pytest.mark.parametrize("where", ["__init__", "ended"])
def test_task_that_cannot_be_counted_ends_the_run(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise pfmon.LostError("there was no room")

    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    monkeypatch.setattr(f"pfmon.session.run.followed_tasks._TaskReader.{where}", fail)
    with pytest.raises(pfmon.LostError, match="there was no room"):
        follow("/bin/sh", "-c", f'sh -c "sleep 100; true" {mark} & (sleep 0.1); sleep 100; true')
    assert until(lambda: not emulated(mark))


@pytest.mark.parametrize("followed", [True, False], ids=["followed", "alone"])
def test_memory_is_given_back_without_the_collector(followed: bool, tmp_path: Path) -> None:
    def mapped() -> int:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")

    program = assemble(tmp_path, FORKING.format(call=57))
    follow(program, follow_all=followed)
    gc.collect()
    gc.disable()
    try:
        before, files = mapped(), len(list(Path("/proc/self/fd").iterdir()))
        follow(program, follow_all=followed)
        assert mapped() - before < 1 << 30
        assert len(list(Path("/proc/self/fd").iterdir())) == files
    finally:
        gc.enable()


def test_many_children_one_after_the_other_are_within_the_limit(tmp_path: Path) -> None:
    program = compile_c(
        tmp_path,
        """
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 40; i++) { if (fork() == 0) _exit(0); wait(NULL); }
    return 0;
}
""",
        "-static",
    )
    run = follow(program, follow_limit=5)
    assert len(counted(run)) == 41
    assert len({task.retired for task in (run.tasks or ())[1:]}) == 1
