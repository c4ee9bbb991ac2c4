"""What pfmon costs beside perf, Cachegrind and callgrind: processor times over the native one.

    python benchmarks/beside_others.py [--repeat N] [PROGRAM ...]

Six programs of a tenth of a second. Each figure is the least of N runs of the whole command with all that
it starts, taken in turns, without what it takes for /bin/true, over the native run; the last line has geometric means.
perf is measured where it finds a PMU. A tool that is not here is left out.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from speed import EXAMPLES, machine
from x86 import MISSES, TRUE, Command, mean, native, pfmon, quietly

EXAMPLE_ARGUMENTS = {"fib": "38", "lz": "9000000", "matmul": "340", "nbody": "150000"}
LINES = 100_000
"""Of gzip's input."""
PYTHON = "s = 0\nfor i in range(600000): s += i * i % 7\nprint(s)"
CYCLES = "cycles,instructions,cache-misses,branch-misses"


def programs(place: Path) -> dict[str, Command]:
    """The commands, by name; their input is made in ``place``."""
    text = place / "text"
    text.write_text("".join(f"{i * 7919 % 1000003} some words of a line\n" for i in range(LINES)))
    examples = {name: [str(EXAMPLES / "x86_64" / name), words] for name, words in EXAMPLE_ARGUMENTS.items()}
    return examples | {"gzip": ["gzip", "-c", str(text)], "python3": ["/usr/bin/python3", "-S", "-c", PYTHON]}


def perf(command: Command) -> None:
    """Run a program under perf stat."""
    quietly("perf", "stat", "-e", "instructions:u,cycles:u", *command)


def has_pmu() -> bool:
    """Whether perf is here and counts instructions."""
    if not shutil.which("perf"):
        return False
    words = ["perf", "stat", "-x,", "-e", "instructions:u", *TRUE]
    return subprocess.run(words, capture_output=True, text=True, check=False).stderr.partition(",")[0].isdigit()


def valgrind(tool: str, *options: str) -> Callable[[Command], None]:
    """Return what runs a program under a tool of Valgrind's."""
    return lambda command: quietly(
        "valgrind", "-q", f"--tool={tool}", f"--{tool}-out-file=/dev/null", *options, *command
    )


def ways() -> dict[str, Callable[[Command], None]]:
    """What runs a program, by the name of its column."""
    found: dict[str, Callable[[Command], None]] = {"native": native}
    if has_pmu():
        found["perf stat"] = perf
    found |= {
        "pfmon: instructions": pfmon("instructions"),
        "misses": pfmon(MISSES),
        "cycles": pfmon(CYCLES),
    }
    if shutil.which("valgrind"):
        simulated = ("--cache-sim=yes", "--branch-sim=yes")
        found |= {
            "cachegrind": valgrind("cachegrind", "--cache-sim=no"),
            "its caches": valgrind("cachegrind", *simulated),
            "callgrind": valgrind("callgrind"),
            "its caches too": valgrind("callgrind", *simulated),
        }
    return found


def processor_time(way: Callable[[Command], None], command: Command) -> float:
    """Seconds of one run, of all its processes and threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    way(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(found: dict[str, Callable[[Command], None]], command: Command, repeat: int) -> dict[str, float]:
    """The least time of each way, in turns."""
    turns = [{name: processor_time(way, command) for name, way in found.items()} for _ in range(repeat)]
    return {name: min(turn[name] for turn in turns) for name in found}


def print_row(name: str, seconds: float, ratios: Sequence[float], widths: Sequence[int]) -> None:
    """A row of the table."""
    cells = "".join(f"{ratio:>{width}.1f}" for ratio, width in zip(ratios, widths, strict=True))
    print(f"{name:10}{seconds:10.3f}{cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("programs", nargs="*")
    given = parser.parse_args()
    with TemporaryDirectory() as place:
        found = ways()
        names = [name for name in found if name != "native"]
        widths = [len(name) + 2 for name in names]
        print(machine() + ("" if "perf stat" in found else "; perf finds no PMU"))
        print(f"{'program':10}{'native, s':>10}" + "".join(f"{name:>{len(name) + 2}}" for name in names))
        nothing = least(found, TRUE, given.repeat)
        rows = []
        for name, command in programs(Path(place)).items():
            if given.programs and name not in given.programs:
                continue
            took = least(found, command, given.repeat)
            spent = {one: max(1e-3, took[one] - nothing[one]) for one in found}
            rows.append([spent[one] / spent["native"] for one in names])
            print_row(name, spent["native"], rows[-1], widths)
        if rows:
            print_row("mean", 0, [mean(column) for column in zip(*rows, strict=True)], widths)


if __name__ == "__main__":
    main()
