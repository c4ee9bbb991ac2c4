"""Speed, start-up time and memory of pfmon on the example programs.

    python benchmarks/speed.py [--repeat N] [--yardstick COMMAND] [PROGRAM ...]

Columns: instructions; million of them a second, plain (no event is counted) and counting six architectural events of
Montecito, without a machine, and the latter over the former; million a second of the yardstick, and plain over it. The
yardstick is a command that runs an IA-64 program given as its arguments; without one, the same C program compiled for
this machine (x86-64 only). Times of pfmon are from the first to the last instruction, those of the yardstick and of
the start-up are of whole commands; each is the best of N runs.
"""

import argparse
import json
import os
import platform
import resource
import shlex
import subprocess
import sys
import time
from math import prod
from pathlib import Path

from programs import PROGRAMS

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
# Montecito has counters enough for six events at a time. None of them needs a machine: benchmarks/machine.py has those.
SIX_EVENTS = ",".join(
    [
        "ia64_inst_retired",
        "nops_retired",
        "predicate_squashed_retired",
        "loads_retired",
        "rse_references_retired_all",
        "br_mispred_detail_all_all_pred",
    ]
)
PFMON = [sys.executable, "-m", "pfmon"]


def pfmon(options: list[str], command: list[str]) -> dict:
    """The JSON that a run prints."""
    done = subprocess.run(
        [*PFMON, "--json", "--no-cmd-output", *options, *command], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def rate(options: list[str], command: list[str], repeat: int) -> float:
    """Million guest instructions a second, over the time from first to last guest instruction."""
    runs = [pfmon(options, command) for _ in range(repeat)]
    return max(run["instructions"] / run["seconds"]["real"] / 1e6 for run in runs)


def seconds(command: list[str], repeat: int) -> float:
    """Wall time of a whole command."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        best = min(best, time.perf_counter() - start)
    return best


def yardstick_rate(name: str, arguments: list[str], instructions: int, yardstick: list[str], repeat: int) -> float:
    """The yardstick's speed on the same program, in guest instructions."""
    if yardstick:
        return instructions / seconds([*yardstick, str(EXAMPLES / "ia64" / name), *arguments], repeat) / 1e6
    if platform.machine() == "x86_64":
        return instructions / seconds([str(EXAMPLES / "x86_64" / name), *arguments], repeat) / 1e6
    return float("nan")


def peak_memory(command: list[str]) -> int:
    """Peak resident bytes of pfmon counting six events."""
    subprocess.run(
        [*PFMON, "--no-cmd-output", "--pmu", "montecito", "-e", SIX_EVENTS, *command],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def mean(values: list[float]) -> float:
    """Geometric mean."""
    return prod(values) ** (1 / len(values))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--yardstick", default="")
    given = parser.parse_args()
    yardstick = shlex.split(given.yardstick)
    print(f"machine: {machine()}, Python {platform.python_version()}")
    print(f"yardstick: {given.yardstick or 'the same program compiled for this machine'}")
    print(f"{'program':<10}{'M instr.':>9}{'plain':>9}{'counting':>10}{'ratio':>7}{'yardstick':>11}{'ratio':>7}")
    plains, counts, ratios = [], [], []
    for name in given.programs:
        command = [str(EXAMPLES / "ia64" / name), *PROGRAMS[name]]
        instructions = pfmon(["-e", "none"], command)["instructions"]
        plain = rate(["-e", "none"], command, given.repeat)
        counting = rate(["--pmu", "montecito", "-e", SIX_EVENTS], command, given.repeat)
        other = yardstick_rate(name, PROGRAMS[name], instructions, yardstick, given.repeat)
        plains.append(plain)
        counts.append(counting)
        ratios.append(plain / other)
        print(
            f"{name:<10}{instructions / 1e6:9.0f}{plain:9.0f}{counting:10.0f}{counting / plain:7.2f}"
            f"{other:11.0f}{plain / other:7.2f}",
            flush=True,
        )
    ratio = mean(counts) / mean(plains)
    print(f"{'mean':<19}{mean(plains):9.0f}{mean(counts):10.0f}{ratio:7.2f}{'':11}{mean(ratios):7.2f}")
    print_start_up(given.repeat)
    print_memory()


def print_start_up(repeat: int) -> None:
    """Whole command less guest time, and Python alone for comparison."""
    small = [str(EXAMPLES / "ia64" / "epic")]
    whole = seconds([*PFMON, "-e", "ia64_inst_retired", *small], repeat * 3)
    python = seconds([sys.executable, "-c", "pass"], repeat * 3)
    print(f"start-up: {whole:.3f} s for the command on epic, {whole / python:.1f} times Python's own {python:.3f} s")


def print_memory() -> None:
    """Peak memory of a program that maps almost nothing."""
    peak = peak_memory([str(EXAMPLES / "ia64" / "sha256"), "1000"])
    print(f"memory: {peak / 1e6:.0f} MB peak on sha256, which itself maps less than 1 MB")


def machine() -> str:
    """Processor, cores, system."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"


if __name__ == "__main__":
    main()
