"""Tests of the x86_64 engine: where they run, and how they start pfmon."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile

import command
import pytest
from qemu_guests import ASSEMBLER, Access, accesses_in

from pfmon.counting._counting import Tally
from pfmon.engine import api, registry
from pfmon.engine.guest_settings import GuestSettings
from pfmon.program import image
from pfmon.stream._stream import Recorder, Tee

SUPPORT = Path(__file__).resolve().parent
FLAGS = Path("/proc/cpuinfo").read_text(errors="replace") if Path("/proc/cpuinfo").exists() else ""
HERE = platform.machine() == "x86_64" and "avx2" in FLAGS
MARKS = [pytest.mark.skipif(not HERE, reason="the engine runs on x86-64 hosts with AVX2"), ASSEMBLER]
"""Elsewhere the processor would not execute x86-64-v3."""


def measured(test: Callable[..., None]) -> Callable[..., None]:
    """A test that runs programs with this engine."""
    for mark in MARKS:
        test = mark(test)
    return test


AVX512 = pytest.mark.skipif(
    not all(f"avx512{one}" in FLAGS for one in ("f", "bw", "cd", "dq", "vl")), reason="this host lacks AVX-512"
)

HAS_KEYS = "ospke" in FLAGS.split()
"""The host's protection keys keep the runtime's memory from programs: a store there is a fault of theirs."""

ENGINE = "--engine=x86_64"
PFMON = [sys.executable, "-m", "pfmon", ENGINE]
V3 = "--set=qemu.cpu=x86-64-v3"
V4 = "--set=qemu.cpu=x86-64-v4"

WAYS = {
    "totals": ["-e", "instructions_retired"],
    "stream": ["-e", "instructions_retired", "--print-interval=1000"],
    "addresses": ["-e", "instructions_retired,unhalted_core_cycles"],
    "slow": ["-e", "instructions_retired", "--slow"],
}
"""How the counts reach the reader: as counters, as words, as words with addresses, one instruction a block."""


def compiled(directory: Path, name: str, *options: str) -> Path:
    """The program of x86_64_NAME.c in a directory."""
    program = directory / name
    subprocess.run(["cc", "-O1", "-w", "-o", program, SUPPORT / f"x86_64_{name}.c", *options], check=True)
    return program


def outcomes(program: Sequence[str | Path], directory: Path, *options: str) -> dict[str, tuple[int, str, int]]:
    """Exit status, standard output and instructions of a program under the engine, by way."""
    found = {}
    for name, way in WAYS.items():
        made = directory / f"counts-{name}"
        done = without_input(*way, *options, "--json", f"--outfile={made}", *map(str, program))
        assert made.exists(), done
        found[name] = done.returncode, done.stdout, int(json.loads(made.read_text())["events"][0]["count"])
    return found


def recorded(program: Path, cpu: str, slow: bool = False, engine: str = "x86_64") -> list[Access]:
    """The accesses of a program that runs to its end on that processor, as they are in the stream."""
    with Path(os.devnull).open("w") as nowhere:
        settings = GuestSettings(standard_files=(0, nowhere.fileno(), nowhere.fileno()), cpu=cpu)
        words = [os.fsencode(program)]
        guest, recorder = (
            registry.start(
                api.StartRequest(
                    *(image.load(str(program)), words, (), settings, 1 << 30, "intel_v2", slow),
                    addresses=True,
                    engine=engine,
                )
            ),
            Recorder(),
        )
        ending = guest.run(Tee(Tally(guest.table, True), recorder))
        guest.close()
    assert ending is not None and ending.status == 0
    return list(accesses_in(recorder.words(), guest.table))


def refusals(program: Sequence[str | Path]) -> list[tuple[int, str]]:
    """Exit status and standard error of a program under the engine, by way."""
    ran = [without_input(*way, *map(str, program)) for way in WAYS.values()]
    return [(done.returncode, done.stderr) for done in ran]


def without_input(*words: str) -> subprocess.CompletedProcess[str]:
    """What the command prints, under the engine; its standard input is empty."""
    done = command.piped(ENGINE, *words)
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def bytes_of(*words: str) -> bytes:
    """The standard output of a command that ends well, under the engine."""
    done = command.piped(ENGINE, *words)
    done.check_returncode()
    return done.stdout


def printed(*words: str, given: str = "") -> str:
    """The same of a command that reads what it is given."""
    with TemporaryFile("w+") as file:
        file.write(given)
        file.seek(0)
        done = command.pfmon_given(file.fileno(), ENGINE, *words)
    done.check_returncode()
    return done.stdout


def pfmon(*words: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
    """What the command prints; it ends with this status, if any is given."""
    done = command.pfmon(*words)
    assert status is None or done.returncode == status, done
    return done


def counted(program: list[str], *options: str, status: int = 0) -> int:
    """The instructions of a program under the engine."""
    words = options or tuple(WAYS["totals"])
    done = pfmon(ENGINE, *words, "--json", "--outfile=/dev/stderr", *program, status=status)
    line = next(line for line in done.stderr.splitlines() if line.startswith("{"))
    return int(json.loads(line)["events"][0]["count"])
