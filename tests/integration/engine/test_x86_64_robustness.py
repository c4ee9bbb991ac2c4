"""The x86_64 engine: whatever happens to it or to the program, a run ends, and its counts are right or refused."""

import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from grids import few, first_quick
from qemu_guests import assemble
from x86_64_host import MARKS, PFMON, SUPPORT, WAYS, compiled, outcomes

from pfmon.engine.x86_64.x86_64_guest import runtime_path

pytestmark = [*MARKS, pytest.mark.slow]

RUNTIME = Path(runtime_path()).resolve()
LOOP = "_start:\n 1: add $1, %rax\n mov %rax, -64(%rsp)\n jmp 1b\n"
"""Retires whole turns of three instructions."""


def descendants(pid: int) -> list[int]:
    """The process, then its descendants."""
    children = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        children += [int(word) for word in task.read_text().split()]
    return [pid, *(one for child in children for one in descendants(child))]


def started(program: Path, *options: str) -> tuple[subprocess.Popen[str], list[int]]:
    """pfmon, and the processes of the run, once the program runs: pfmon itself, the reaper, the runtime."""
    process = subprocess.Popen(
        [*PFMON, *options, program],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 20
    while len(pids := descendants(process.pid)) < 3 or Path(f"/proc/{pids[-1]}/exe").resolve() != RUNTIME:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.2)
    return process, pids


def ended(pid: int) -> bool:
    """Whether a process is no more, or waits for its parent to ask for its status."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


@pytest.mark.parametrize("way", first_quick(["addresses", "totals", "stream"]))
def test_program_that_is_killed_is_counted_up_to_there(way: str, tmp_path: Path) -> None:
    process, pids = started(assemble(tmp_path, LOOP), *WAYS[way])
    os.kill(pids[-1], signal.SIGKILL)
    told = process.communicate(timeout=20)[0]
    *_, counted = (line for line in told.splitlines() if line.endswith(" INSTRUCTIONS_RETIRED"))
    assert process.returncode == 137 and int(counted.split()[0]) > 1000


@pytest.mark.slow
@pytest.mark.parametrize("number", first_quick([signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL]))
def test_signal_to_pfmon_ends_the_program(number: signal.Signals, tmp_path: Path) -> None:
    process, pids = started(assemble(tmp_path, LOOP), *WAYS["totals"])
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    deadline = time.monotonic() + 10
    while not all(map(ended, pids[1:])):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
def test_stopped_processes_go_on(tmp_path: Path) -> None:
    """As by Ctrl-Z and fg."""
    body = "_start: mov $200000000, %rax\n 1: dec %rax\n jnz 1b\n mov $60, %eax\n mov $4, %edi\n syscall\n"
    process, pids = started(assemble(tmp_path, body), *WAYS["stream"])
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in pids:
            os.kill(pid, number)
        time.sleep(0.2)
    told = process.communicate(timeout=60)[0]
    assert process.returncode == 4 and "400000004 INSTRUCTIONS_RETIRED" in told


@pytest.mark.parametrize("kilobytes", [300_000, 500_000])
def test_run_without_memory_is_refused(kilobytes: int) -> None:
    limit = kilobytes << 10
    done = subprocess.run(
        [*PFMON, *WAYS["totals"], "/bin/true"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        timeout=60,
        check=False,
    )
    assert done.returncode == 125 and "memory ran out" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("first", first_quick(["push (%rdi)", "movsq", "call *(%rdi)", "mov (%rdi), %eax"]))
def test_fault_at_the_beginning_of_a_block_leaves_no_addresses(first: str, tmp_path: Path) -> None:
    program = assemble(tmp_path, f"_start: mov $8, %edi\n mov $8, %esi\n jmp 1f\n 1: {first}\n nop\n ud2\n")
    assert set(outcomes([program], tmp_path).values()) == {(139, "", 3)}


MEMORY = {
    "announcements": (0x6000_1000, 0x50_0000),
    "code": (0x7000_0000, 0x4_0000),
    "state": (0x7E00_0000, 0x1000),
    "branches": (0x7E10_0000, 0x8_0000),
    "data": (1, 0x1C_0000),
    "lists": (0, 0x300_0000),
}
"""Start and bytes of what the runtime has, as x86_64_wild.c takes them (memory_map.h)."""


@pytest.fixture(scope="module")
def wild(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that stores at random addresses."""
    return compiled(tmp_path_factory.mktemp("wild"), "wild", "-static")


@pytest.mark.parametrize("runs", [12, pytest.param(200, marks=pytest.mark.exhaustive)])
def test_words_that_a_program_writes_are_no_harm(runs: int) -> None:
    """Into buffers, announcements of blocks and paths, and counters, in a process of their own."""
    words = [sys.executable, SUPPORT / "hostile_memory.py", "0", str(runs), "x86_64"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    assert "refused" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("seed", few(range(20), 1))
def test_wild_stores_into_the_runtime_end_the_run_or_nothing(wild: Path, seed: int) -> None:
    """The program ends by itself, by a signal, or is refused; nothing hangs."""
    for start, size in MEMORY.values():
        words = [str(seed), str(start), str(size), str([400, 1, 20][seed % 3])]
        done = subprocess.run(
            [*PFMON, *WAYS["addresses"], wild, *words],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
        assert done.returncode in (3, 125) or 128 < done.returncode < 140, done
        assert "Traceback" not in done.stderr
