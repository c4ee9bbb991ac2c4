"""Tests of the x86_64 engine: where they run, and how they start pfmon."""

import json
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from qemu_guests import ASSEMBLER

HERE = platform.machine() == "x86_64" and "avx2" in Path("/proc/cpuinfo").read_text(errors="replace")
MARKS = [pytest.mark.skipif(not HERE, reason="the engine runs on x86-64 hosts with AVX2"), ASSEMBLER]
"""Elsewhere the processor would not execute x86-64-v3."""

PFMON = [sys.executable, "-m", "pfmon", "--engine=x86_64"]
V3 = "--set=qemu.cpu=x86-64-v3"

WAYS = {
    "totals": ["-e", "instructions_retired"],
    "stream": ["-e", "instructions_retired", "--print-interval=1000"],
    "addresses": ["-e", "instructions_retired,unhalted_core_cycles"],
    "slow": ["-e", "instructions_retired", "--slow"],
}
"""How the counts reach the reader: as counters, as words, as words with addresses, one instruction a block."""


def outcomes(program: Sequence[str | Path], directory: Path, *options: str) -> dict[str, tuple[int, str, int]]:
    """Exit status, standard output and instructions of a program under the engine, by way."""
    found = {}
    for name, way in WAYS.items():
        made = directory / f"counts-{name}"
        command = [*PFMON, *way, *options, "--json", f"--outfile={made}", *program]
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
        )
        assert made.exists(), done
        found[name] = done.returncode, done.stdout, int(json.loads(made.read_text())["events"][0]["count"])
    return found
