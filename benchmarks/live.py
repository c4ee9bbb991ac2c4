"""Cost of live counting: one counter that overflows each so many events, over totals of the same event.

    python benchmarks/live.py CASES.tsv [WORD ...] [--period N] [--repeat N]

The table is that of real.py. Processor time of engine and counters alone, the best of N runs that take turns; a ratio
is totals over live.
"""

import argparse
import os
import platform
import time
from pathlib import Path

from real import ENVIRONMENT, Case, cases
from speed import machine, mean

from pfmon.counting.live.live_unit import LiveUnit
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.program import image
from pfmon.session.run.programmed_pmu import ProgrammedPmu

EVENTS = ("IA64_INST_RETIRED", "LOADS_RETIRED")
FULL = 1 << 47  # a counter of Itanium 2 overflows into its bit 47
MEMORY = 8 << 30


def listener(registers: RegisterFile, counter: str, period: int):
    """Restarts the counter after an overflow."""

    def restart(_):
        registers.take_overflows()
        registers.write(counter, FULL - period)

    return restart


def seconds(case: Case, event: str, period: int) -> float:
    """Of a run; ``period`` 0: totals."""
    counting = ProgrammedPmu(get("itanium2"), Request((EventRequest(event),)))
    environment = [f"{name}={value}".encode() for name, value in ENVIRONMENT.items()]
    words = [word.encode() for word in case.command]
    guest = Ia64Guest(image.load(case.command[0]), words, environment, GuestSettings(), memory_limit=MEMORY)
    if period:
        registers = counting.counters.registers
        (number,) = counting.programming.counters
        counter = f"pmd{number}"
        registers.write(counter, FULL - period)
        restart = listener(registers, counter, period)
        consumer = LiveUnit(get("itanium2"), registers, guest.table, False, restart).consumer
    else:
        consumer = counting.unit.tally(guest.table)
    before = time.process_time()
    guest.run(consumer)
    spent = time.process_time() - before
    guest.close()
    return spent


def quietly(case: Case, event: str, period: int) -> float:
    """Of a run whose program has the case's standard input and prints nowhere."""
    kept = os.dup(0), os.dup(1)
    stdin = os.open(os.devnull if case.stdin == "-" else case.stdin, os.O_RDONLY)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(stdin, 0)
    os.dup2(nowhere, 1)
    try:
        return seconds(case, event, period)
    finally:
        for number, old in enumerate(kept):
            os.dup2(old, number)
        for number in (*kept, stdin, nowhere):
            os.close(number)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--period", type=int, default=100_000, help="events from one overflow to the next")
    parser.add_argument("--repeat", type=int, default=2)
    given = parser.parse_intermixed_args()
    print(f"machine: {machine()}, Python {platform.python_version()}")
    ratios: list[float] = []
    chosen = cases(given.cases, given.words)
    os.chdir(given.cases.parent)
    for case in chosen:
        line = f"{' '.join(case.command)[:31]:<32}"
        for event in EVENTS:
            best = [float("inf")] * 2
            for _ in range(given.repeat):
                for way, period in enumerate((0, given.period)):
                    best[way] = min(best[way], quietly(case, event, period))
            ratios.append(best[0] / best[1])
            line += f"{event:>20} {best[0]:6.2f} s {best[0] / best[1]:5.2f}"
        print(line, flush=True)
    print(f"mean {mean(ratios):.2f}")


if __name__ == "__main__":
    main()
