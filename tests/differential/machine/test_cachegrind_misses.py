"""Misses of the examples against cachegrind's, with caches of the same geometry and without prefetchers."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from host_programs import needs
from qemu_guests import ASSEMBLER, EXAMPLES, QEMU, guest

from pfmon.machine._machine import MissMachine, Occurrence
from pfmon.machine.config.machine_config import load

pytestmark = [QEMU, ASSEMBLER, needs("valgrind")]

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
    "queens": ["8"],
    "sha256": ["2000"],
    "sort": ["20000"],
    "stream": ["64", "2"],
    "strings": ["20000"],
}

FEW = 4
"""Lines of the stack and of the kernel's data on it, which lie elsewhere under Valgrind."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ARGUMENTS)
def test_examples_miss_what_they_miss_in_cachegrind(name: str, tmp_path: Path) -> None:
    """Instructions within 1%, misses of L1D within 2%, of L1I and the last level within a few."""
    command = [EXAMPLES / "x86_64" / name, *ARGUMENTS[name]]
    with Path("/dev/null").open("w") as nowhere:
        one = guest(command, files=(0, nowhere.fileno(), nowhere.fileno()), addresses=True)
        machine = MissMachine(load("core2", ("prefetch.degree=0", "prefetch.adjacent=false")), one.table)
        one.run(machine)
        one.close()
    machine.finish()
    missed: Counter[str] = Counter()
    for (_, _, occurrence, _), times in machine.occurrences().items():
        missed[Occurrence(occurrence).name] += times
    file = tmp_path / "misses"
    options = ["--tool=cachegrind", "--cache-sim=yes", *GEOMETRY, f"--cachegrind-out-file={file}"]
    subprocess.run(["valgrind", *options, *command], check=True, capture_output=True)
    line = next(line for line in file.read_text().splitlines() if line.startswith("summary:"))
    instructions, code, last_code, _, reads, last_reads, _, writes, last_writes = map(int, line.split()[1:])
    assert one.retired == pytest.approx(instructions, rel=0.01)
    data = missed["CORE_L1D_READ_MISS"] + missed["CORE_L1D_WRITE_MISS"]
    assert data == pytest.approx(reads + writes, rel=0.02, abs=FEW)
    assert missed["CORE_L1I_MISS"] == pytest.approx(code, abs=FEW)
    assert missed["CORE_LLC_MISS"] == pytest.approx(last_code + last_reads + last_writes, rel=0.01, abs=FEW)
