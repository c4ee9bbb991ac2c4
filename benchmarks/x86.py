"""x86-64 programs under pfmon's own engine and under cachegrind: elapsed times, over the native one.

    python benchmarks/x86.py [--repeat N] [--without-cachegrind] [PROGRAM ...]

Thirteen programs, by name: eight examples, gzip, GNU sort, python3, perl and cc1, each as long as cachegrind takes
about five seconds for. *Counts*: retired instructions, by counters in translated code; *stream*: the words of blocks,
read and added up; *addresses*: with those of all accesses. Each is the least of N runs, taken in turns, without the
time that /bin/true takes in the same way. The last columns are counts and addresses over cachegrind, which runs without
caches and branches.

With --machine: whole commands of pfmon that count misses and mispredictions (*misses*: no event needs time) and cycles
beside them (*cycles*), and of cachegrind with caches and branches, by elapsed time; the last columns are theirs over
cachegrind's.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory

from speed import EXAMPLES, machine

from pfmon.counting._counting import Tally
from pfmon.engine import api, registry
from pfmon.engine.guest_settings import GuestSettings
from pfmon.program import image

Command = Sequence[str]
EXAMPLE_ARGUMENTS = {
    "branchy": ["150000000"],
    "dispatch": ["20000000"],
    "fib": ["42"],
    "lz": ["10000000"],
    "matmul": ["650"],
    "nbody": ["1500000"],
    "queens": ["15"],
    "sha256": ["2000000"],
}
TRUE = ["/bin/true"]
MISSES = "LLC_REFERENCES,LLC_MISSES,BRANCH_MISSES_RETIRED"
CYCLES = f"UNHALTED_CORE_CYCLES,{MISSES}"
PYTHON = "s = 0\nfor i in range(3500000): s += i * i % 7\nprint(s)"
PERL = "for ($i = 0; $i < 4000000; $i++) { $s += $i * $i % 7 } print $s"


def programs(directory: Path) -> dict[str, Command]:
    """The commands, by name; their input is made in ``directory``."""
    text, source = directory / "text", directory / "source.i"
    text.write_text("".join(f"{i * 7919 % 1000003} some words of a line\n" for i in range(1200000)))
    body = "(int x) { int y = x * 3; while (y > 7) y /= 2; return y + x; }\n"
    source.write_text("".join(f"int f{i}{body}" for i in range(2000)))
    cc1 = subprocess.run(["cc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    commands: dict[str, Command] = {
        name: [str(EXAMPLES / "x86_64" / name), *words] for name, words in EXAMPLE_ARGUMENTS.items()
    }
    return commands | {
        "gzip": ["gzip", "-c", str(text)],
        "sort": ["sort", "--parallel=1", str(text)],
        "python3": ["/usr/bin/python3", "-S", "-c", PYTHON],
        "perl": ["perl", "-e", PERL],
        "cc1": [cc1, "-quiet", "-O1", str(source), "-o", str(directory / "source.s")],
    }


def native(command: Command) -> None:
    """Run a program with nothing."""
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def quietly(*words: str) -> None:
    """Run a command that prints nothing."""
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def cachegrind(command: Command) -> None:
    """Run a program under cachegrind, which counts instructions."""
    quietly("valgrind", "-q", "--tool=cachegrind", "--cachegrind-out-file=/dev/null", "--cache-sim=no", *command)


def simulating_cachegrind(command: Command) -> None:
    """Run a program under cachegrind with caches and branches."""
    options = ["--tool=cachegrind", "--cachegrind-out-file=/dev/null", "--cache-sim=yes", "--branch-sim=yes"]
    quietly("valgrind", "-q", *options, *command)


def pfmon(events: str) -> Callable[[Command], None]:
    """Return what runs a program under the command with its default machine."""
    return lambda command: quietly(
        *(sys.executable, "-m", "pfmon", "--engine=x86_64", "--unlimited", "--outfile=/dev/null"),
        *("-e", events, *command),
    )


def engine(totals: bool, addresses: bool) -> Callable[[Command], None]:
    """Return what runs a program under the engine and adds up."""

    def run(command: Command) -> None:
        path = shutil.which(command[0])
        assert path, command[0]
        program = registry.placed(image.load(path), "x86_64")
        with Path(os.devnull).open("w") as nowhere:
            settings = GuestSettings(standard_files=(0, nowhere.fileno(), 2), cpu="x86-64-v3")
            words = [os.fsencode(word) for word in command]
            wanted = api.StartRequest(program, words, [], settings, 1 << 30, "intel_v2")
            guest = registry.start(wanted._replace(engine="x86_64", totals=totals, addresses=addresses))
            guest.run(Tally(guest.table, addresses))
            guest.close()

    return run


def elapsed(way: Callable[[Command], None], command: Command) -> float:
    """Seconds of one run."""
    began = time.perf_counter()
    way(command)
    return time.perf_counter() - began


def mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return exp(sum(map(log, values)) / len(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--without-cachegrind", action="store_true")
    parser.add_argument("--machine", action="store_true", help="misses, and cycles, over cachegrind's caches")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    compared = ("misses", "cycles") if arguments.machine else ("counts", "addresses")
    ways: dict[str, Callable[[Command], None]] = {"native": native}
    if arguments.machine:
        ways |= {"misses": pfmon(MISSES), "cycles": pfmon(CYCLES)}
    else:
        ways |= {
            "counts": engine(totals=True, addresses=False),
            "stream": engine(totals=False, addresses=False),
            "addresses": engine(totals=False, addresses=True),
        }
    if not arguments.without_cachegrind:
        ways["cachegrind"] = simulating_cachegrind if arguments.machine else cachegrind
    print(machine())
    print(f"{'program':10}" + "".join(f"{name:>11}" for name in (*ways, *(f"{one}/cg" for one in compared))))
    ratios: dict[str, list[float]] = {one: [] for one in compared}
    with TemporaryDirectory() as place:
        nothing = {name: min(elapsed(way, TRUE) for _ in range(arguments.repeat)) for name, way in ways.items()}
        print(f"{'true':10}" + "".join(f"{nothing[name]:11.2f}" for name in ways))
        for name, command in programs(Path(place)).items():
            if arguments.programs and name not in arguments.programs:
                continue
            turns = [{one: elapsed(way, command) for one, way in ways.items()} for _ in range(arguments.repeat)]
            least = {one: max(1e-3, min(turn[one] for turn in turns) - nothing[one]) for one in ways}
            line = f"{name:10}" + "".join(f"{least[one]:11.2f}" for one in ways)
            if "cachegrind" in least:
                for one, kept in ratios.items():
                    kept.append(least[one] / least["cachegrind"])
                    line += f"{kept[-1]:12.2f}"
            print(line, flush=True)
    if ratios[compared[0]]:
        print("geometric mean over cachegrind: " + ", ".join(f"{one} {mean(kept):.2f}" for one, kept in ratios.items()))


if __name__ == "__main__":
    main()
