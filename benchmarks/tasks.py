"""Cost of threads and processes of IA-64 programs: 8 threads against one with the same work, and forks.

    python benchmarks/tasks.py [--repeat N]

Threads: instructions per second of processor time, as a ratio to one thread's in the same run, medians. Forks: what one
fork of a process with so much touched memory takes, with the child's end and the wait for it, against one of a process
without; the host's time, least of some runs.
"""

import argparse
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from ia64_program import write_program
from ia64_tasks import Data, call, counting, fork, threads
from speed import machine

import pfmon

WORK = 16_000_000
FORKS = 100
PAGE = 1 << 14
NO_FILE = (1 << 64) - 1


def loop(rounds: int) -> list[str]:
    body = ["adds r6=1,r6", "adds r7=3,r6", "add r8=r6,r7", "xor r9=r8,r7", "adds r5=-1,r5", "cmp.eq p6,p7=r5,r0"]
    return [f"movl r5={rounds}", "again:", *body, "(p7) br.cond.sptk.few again"]


def computing(path: Path, count: int) -> Path:
    data = Data()
    return threads(path, count, loop(WORK // count), data.add("word", bytes(8)), data)


def forking(path: Path, megabytes: int, forks: int) -> Path:
    """A process that touches so much memory and forks so often."""
    data = Data()
    size = max(1, megabytes) << 20
    lines = [*call("mmap", 0, size, 3, 0x22, NO_FILE, 0), "adds r5=0,r8", f"movl r6={(megabytes << 20) // 4096 + 1}"]
    lines += ["movl r17=4096", "touch:", "adds r6=-1,r6", "cmp.eq p6,p7=r6,r0", "(p6) br.cond.sptk.few touched"]
    lines += ["st8 [r5]=r6", "add r5=r5,r17", "br.cond.sptk.few touch", "touched:", f"movl r7={forks + 1}", "again:"]
    lines += ["adds r7=-1,r7", "cmp.eq p6,p7=r7,r0", "(p6) br.cond.sptk.few over"]
    parent = [*call("wait4", "r8", data.add("status", bytes(8)), 0, 0), "br.cond.sptk.few again"]
    over = ["over:", *call("exit_group", 0)]
    return write_program(path, [*lines, *fork(call("exit_group", 0), parent), *over], data.bytes)


def rate(path: Path, **options: object) -> float:
    """Instructions per second of processor time."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    run = pfmon.run(path, capture=True, **options)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert run.status == 0
    return run.retired / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def show_threads(folder: Path, repeat: int) -> None:
    one, eight = computing(folder / "one", 1), computing(folder / "eight", 8)
    locking = counting(folder / "locking", 8, 20_000)[0]
    print(f"{'':24}{'million/s':>10}{'8 threads':>11}{'told apart':>12}{'mutex':>8}")
    for events in ("ia64_inst_retired", "cpu_cycles,l2_misses"):
        runs = ((one, {}), (eight, {}), (eight, {"per_thread": True}), (locking, {}))
        rates = [[rate(path, events=events, **more) for path, more in runs] for _ in range(repeat)]
        single, several, apart, mutex = (statistics.median(column) for column in zip(*rates, strict=True))
        print(f"{events:24}{single / 1e6:10.0f}{several / single:11.2f}{apart / single:12.2f}{mutex / single:8.2f}")


def seconds(path: Path, repeat: int) -> float:
    times = []
    for _ in range(repeat):
        begun = time.monotonic()
        assert pfmon.run(path, events="ia64_inst_retired", follow_fork=True).status == 0
        times.append(time.monotonic() - begun)
    return min(times)


def show_forks(folder: Path, repeat: int) -> None:
    print(f"{'touched':24}{'ms a fork':>10}")
    for megabytes in (0, 64, 256):
        few, many = (forking(folder / f"fork{n}", megabytes, n) for n in (1, 1 + FORKS))
        took = (seconds(many, repeat) - seconds(few, repeat)) / FORKS
        print(f"{megabytes:>4} MB{'':17}{took * 1e3:10.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        show_threads(Path(folder), repeat)
        show_forks(Path(folder), repeat)


if __name__ == "__main__":
    main()
