"""Misses of the examples against cachegrind's, with caches of the same geometry and without prefetchers."""

import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from grids import few
from host_programs import needs
from qemu_guests import ASSEMBLER, EXAMPLES, QEMU, guest
from x86_64_host import measured

from pfmon.machine._machine import IntervalMachine, MissMachine, Occurrence
from pfmon.machine.config.core_timings import CoreTimings
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import Tee

pytestmark = [ASSEMBLER, needs("valgrind")]
NO_PREFETCH = ("prefetch.degree=0", "prefetch.adjacent=false")

GEOMETRY = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=4194304,16,64"]
"""Core 2's."""

ARGUMENTS = {
    "arrays": ["20"],
    "branchy": ["200000"],
    "chase": ["256", "200000"],
    "dispatch": ["20000"],
    "fib": ["22"],
    "hashmap": ["20000"],
    "lz": ["60000"],
    "matmul": ["100"],
    "nbody": ["2000"],
    "noploop": ["20000"],
    "queens": ["8"],
    "sha256": ["2000"],
    "sort": ["20000"],
    "stream": ["64", "2"],
    "strings": ["20000"],
}

FEW = 4
"""Lines of the stack and of the kernel's data on it, which lie elsewhere under Valgrind."""


class Missed(NamedTuple):
    """Instructions; misses of L1I, of L1D, and of the last level."""

    instructions: int
    code: int
    data: int
    last: int


def counted(retired: int, machine: IntervalMachine | MissMachine) -> Missed:
    """What a machine has of a program."""
    machine.finish()
    found: Counter[str] = Counter()
    for (_, _, occurrence, _), times in machine.occurrences().items():
        found[Occurrence(occurrence).name] += times
    data = found["CORE_L1D_READ_MISS"] + found["CORE_L1D_WRITE_MISS"]
    return Missed(retired, found["CORE_L1I_MISS"], data, found["CORE_LLC_MISS"])


def by_cachegrind(command: list[str | Path], directory: Path) -> Missed:
    file = directory / "misses"
    options = ["--tool=cachegrind", "--cache-sim=yes", *GEOMETRY, f"--cachegrind-out-file={file}"]
    subprocess.run(["valgrind", *options, *command], check=True, capture_output=True)
    line = next(line for line in file.read_text().splitlines() if line.startswith("summary:"))
    instructions, code, last_code, _, reads, last_reads, _, writes, last_writes = map(int, line.split()[1:])
    return Missed(instructions, code, reads + writes, last_code + last_reads + last_writes)


def agree(found: Missed, expected: Missed) -> None:
    """Instructions within 1%, misses of L1D within 2%, of L1I and the last level within a few."""
    assert found.instructions == pytest.approx(expected.instructions, rel=0.01)
    assert found.data == pytest.approx(expected.data, rel=0.02, abs=FEW)
    assert found.code == pytest.approx(expected.code, abs=FEW)
    assert found.last == pytest.approx(expected.last, rel=0.01, abs=FEW)


@QEMU
@pytest.mark.slow
@pytest.mark.parametrize("name", few(ARGUMENTS, 5))
def test_examples_miss_what_they_miss_in_cachegrind(name: str, tmp_path: Path) -> None:
    command = [EXAMPLES / "x86_64" / name, *ARGUMENTS[name]]
    with Path("/dev/null").open("w") as nowhere:
        one = guest(command, files=(0, nowhere.fileno(), nowhere.fileno()), addresses=True)
        machine = MissMachine(load("core2", NO_PREFETCH), one.table)
        one.run(machine)
        one.close()
    agree(counted(one.retired, machine), by_cachegrind(command, tmp_path))


@measured
@pytest.mark.slow
@pytest.mark.parametrize("name", few(ARGUMENTS, 5))
def test_the_core_misses_what_cachegrind_does(name: str, tmp_path: Path) -> None:
    """The machines with time, by this project's engine. Skylake's L1 caches have the same geometry; it has an L3."""
    command = [EXAMPLES / "x86_64" / name, *ARGUMENTS[name]]
    with Path("/dev/null").open("w") as nowhere:
        files = (0, nowhere.fileno(), nowhere.fileno())
        one = guest(command, files=files, addresses=True, engine="x86_64")
        machines = []
        for figures in (load(machine, NO_PREFETCH) for machine in ("core2", "skylake")):
            timings = CoreTimings(figures, one.table.instruction_names or [])
            machines.append(IntervalMachine(figures, one.table, 1, timings))
        one.run(Tee(*machines))
        one.close()
    core2, skylake = (counted(one.retired, machine) for machine in machines)
    expected = by_cachegrind(command, tmp_path)
    agree(core2, expected)
    agree(skylake._replace(last=expected.last), expected)
