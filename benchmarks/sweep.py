"""How well the workers of a sweep share a machine: forty cells by one worker and by several, in turns.

    python benchmarks/sweep.py [--workers N] [--repeat N] [--size N]

Efficiency is the time of one worker over N times that of N workers, the least of some runs each; 1 is ideal. Other work
on the machine disturbs processor time less: that of all processes with one worker over that with N, and that with N
over what N processors have in the same time.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from speed import machine

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "ia64"
SWEEP = """
events = ["cpu_cycles", "l2_misses", "l3_misses"]
[figures]
l2.size = ["64K", "128K", "256K", "512K", "1M"]
l3.size = ["1536K", "3M", "6M", "12M"]
[[program]]
command = ["{examples}/hashmap", "{size}"]
[[program]]
command = ["{examples}/sort", "{size}"]
[[machine]]
name = "itanium2"
"""
CELLS = 40


def once(folder: Path, workers: int) -> tuple[float, float]:
    """Seconds, and seconds of processor time, of counting all cells; programs are recorded already."""
    for path in (folder / "out" / "cells").glob("*"):
        path.unlink()
    command = [sys.executable, "-m", "pfmon", "sweep", "-q", f"--workers={workers}", f"--output={folder}/out"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([*command, str(folder / "sweep.toml")], stdout=subprocess.DEVNULL, check=True)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    return ended - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--size", type=int, default=100_000, help="argument of the programs")
    asked = parser.parse_args()
    print(machine())
    times: dict[int, list[tuple[float, float]]] = {1: [], asked.workers: []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sweep.toml").write_text(SWEEP.format(examples=EXAMPLES, size=asked.size))
        once(folder, asked.workers)  # records, and warms the host's caches
        for _ in range(asked.repeat):
            for workers, found in times.items():
                found.append(once(folder, workers))
    for workers, found in times.items():
        shown = ", ".join(f"{real:.1f} s ({processor:.1f} s of processor time)" for real, processor in found)
        print(f"{CELLS} cells, {workers} {'worker' if workers == 1 else 'workers'}: {shown}")
    real_1, real_n = (min(real for real, _ in times[workers]) for workers in (1, asked.workers))
    processor_1, processor_n = (min(processor for _, processor in times[workers]) for workers in (1, asked.workers))
    print(f"efficiency over {asked.workers} workers: {real_1 / (asked.workers * real_n):.2f}")
    print(f"... of processor time alone: {processor_1 / processor_n:.2f}")
    busy = max(processor / (asked.workers * real) for real, processor in times[asked.workers])
    print(f"processor time over what {asked.workers} processors have in that time: {busy:.2f}")


if __name__ == "__main__":
    main()
