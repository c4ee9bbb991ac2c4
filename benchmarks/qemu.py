"""How much longer qemu takes with pfmon's plugin: examples, retired instructions counted, nothing else.

    python benchmarks/qemu.py [--repeat N] [--stream] [--architecture x86_64|i386|ppc64] [PROGRAM ARGUMENT ...]

Processor time of all that takes part: qemu without the plugin; qemu with it, and the thread of pfmon that adds up. Each
is the least of N runs, taken in turns. The goal is a ratio of two.
"""

import argparse
import os
import resource
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from speed import EXAMPLES, machine

from pfmon.counting._counting import Tally
from pfmon.engine import api, registry
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.qemu.qemu_binary import emulator
from pfmon.program import image

PROGRAMS = {
    "branchy": ["3000000"],
    "dispatch": ["100000"],
    "fib": ["32"],
    "hashmap": ["1000000"],
    "lz": ["3000000"],
    "matmul": ["250"],
    "nbody": ["200000"],
    "noploop": ["30000000"],
    "queens": ["9"],
    "sha256": ["20000"],
    "sort": ["1000000"],
    "strings": ["300000"],
}


def processor_time() -> float:
    """Seconds that this process and those that it started have had."""
    who = [resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in who)


def alone(command: Sequence[str]) -> tuple[float, float]:
    """Processor and elapsed time without the plugin."""
    before, began = processor_time(), time.perf_counter()
    instruction_set = registry.instruction_set_of(command[0])
    assert instruction_set, f"{command[0]}: no program that qemu runs"
    run = [emulator(instruction_set), *command]
    subprocess.run(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return processor_time() - before, time.perf_counter() - began


def counted(command: Sequence[str], stream: bool) -> tuple[float, float, int]:
    """Processor and elapsed time with the plugin and who reads, and how many instructions retired."""
    before, began = processor_time(), time.perf_counter()
    with Path(os.devnull).open("w") as nowhere:
        settings = GuestSettings(standard_files=(0, nowhere.fileno(), nowhere.fileno()))
        words = [os.fsencode(word) for word in command]
        guest = registry.start(
            api.StartRequest(image.load(command[0]), words, [], settings, 1 << 30, "intel_v2", totals=not stream)
        )
        guest.run(Tally(guest.table))
        guest.close()
    return processor_time() - before, time.perf_counter() - began, guest.retired


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--architecture", choices=["x86_64", "i386", "ppc64"], default="x86_64")
    parser.add_argument("--stream", action="store_true", help="with the stream that samples and triggers need")
    parser.add_argument("command", nargs="*")
    arguments = parser.parse_args()
    commands = (
        [arguments.command]
        if arguments.command
        else [[str(EXAMPLES / arguments.architecture / name), *words] for name, words in PROGRAMS.items()]
    )
    print(machine())
    print(f"{'program':12}{'million':>9}{'qemu':>8}{'counted':>9}{'ratio':>7}{'elapsed':>9}{'ratio':>7}")
    product = 1.0
    for command in commands:
        turns = [(alone(command), counted(command, arguments.stream)) for _ in range(arguments.repeat)]
        plain, plain_elapsed = (min(turn[0][i] for turn in turns) for i in range(2))
        ours, elapsed = (min(turn[1][i] for turn in turns) for i in range(2))
        product *= ours / plain
        print(
            f"{Path(command[0]).name:12}{turns[0][1][2] / 1e6:9.1f}{plain:8.2f}{ours:9.2f}{ours / plain:7.2f}"
            f"{elapsed:9.2f}{elapsed / plain_elapsed:7.2f}"
        )
    print(f"geometric mean {product ** (1 / len(commands)):.2f} (goal: 2)")


if __name__ == "__main__":
    main()
