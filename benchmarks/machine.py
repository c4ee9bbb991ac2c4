"""Speed of the machine on the example programs, and what its parts cost.

    python benchmarks/machine.py [--repeat N] [--parts] [PROGRAM ...]

Twelve events of Montecito over all levels, cycles among them, in million guest instructions a second, the best of N
runs of the command, beside plain execution and counting retired instructions alone. --parts runs each program in this
process with more and more of the machine, on one thread, and prints the processor time that each part adds in
nanoseconds an instruction.
"""

import argparse
import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from programs import PROGRAMS
from speed import EXAMPLES, machine, mean, rate

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from guests import guest, quiet

from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.machine._machine import Stage, StagedMachine
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.machine_run import MachineRun
from pfmon.session.run.programmed_pmu import RunData
from pfmon.stream._stream import Consumer, Pipe

TWELVE = [
    "cpu_op_cycles_all",
    "back_end_bubble_all",
    "be_exe_bubble_grall",
    "ia64_inst_retired",
    "l1i_reads",
    "l1d_reads_set0",
    "l2dtlb_misses",
    "l2d_references_all",
    "l2d_misses",
    "l3_misses",
    "be_br_mispred_detail_any",
    "bus_memory_all_self",
]
LINES = ["engine", "stream", "predictor", "fetch", "TLBs", "caches", "timing", "counters"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--parts", action="store_true")
    given = parser.parse_args()
    print(f"machine: {machine()}, Python {platform.python_version()}")
    if given.parts:
        print_parts(given.programs)
    else:
        print_speed(given.programs, given.repeat)


def print_speed(programs: list[str], repeat: int) -> None:
    """Speeds by program, and their means."""
    print(f"{'program':<10}{'plain':>9}{'retired':>9}{'machine':>9}{'ratio':>8}")
    columns: list[list[float]] = [[], [], []]
    for name in programs:
        command = [str(EXAMPLES / "ia64" / name), *PROGRAMS[name]]
        montecito = ["--pmu", "montecito", "-e"]
        speeds = [
            rate(options, command, repeat)
            for options in (
                [],
                [*montecito, "ia64_inst_retired"],
                [*montecito, ",".join(TWELVE)],
            )
        ]
        for column, speed in zip(columns, speeds, strict=True):
            column.append(speed)
        plain, retired, whole = speeds
        print(f"{name:<10}{plain:9.0f}{retired:9.0f}{whole:9.1f}{whole / plain:8.3f}", flush=True)
    plain, retired, whole = map(mean, columns)
    print(f"{'mean':<10}{plain:9.0f}{retired:9.0f}{whole:9.1f}{whole / plain:8.3f}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"memory: {peak / 1e6:.0f} MB at the peak of the largest run, the program's own included")


def print_parts(programs: list[str]) -> None:
    """Time that each part adds, by program and in the mean."""
    print(f"{'ns/instr.':<10}" + "".join(f"{line:>10}" for line in LINES))
    rows = []
    for name in programs:
        rows.append(parts_of(name))
        print(f"{name:<10}" + "".join(f"{cost:10.2f}" for cost in rows[-1]), flush=True)
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    print(f"{'mean':<10}" + "".join(f"{cost:10.2f}" for cost in means))


def parts_of(name: str) -> list[float]:
    """Nanoseconds an instruction of each of LINES."""
    times = [timed(name, lambda _: Consumer(), trace=False)]
    times += [timed(name, partly(stage)) for stage in Stage]
    return [after - before for before, after in zip([0.0, *times], times, strict=False)] + [counters(name)]


def partly(stage: Stage) -> Callable[[Ia64Guest], Consumer]:
    """A reader that does the machine's work up to a stage, in the engine's thread."""

    def reader(program: Ia64Guest) -> Consumer:
        parts = StagedMachine(load("montecito"), program.table)
        parts.stage = stage
        return Pipe(parts, threaded=False)

    return reader


def timed(name: str, reader: Callable[[Ia64Guest], Consumer], trace: bool = True) -> float:
    """Processor time of a run with a reader of the stream, in nanoseconds an instruction."""
    program = guest(name, PROGRAMS[name], trace=trace)
    consumer = reader(program)
    with quiet():
        start = time.process_time()
        program.run(consumer)
        spent = time.process_time() - start
    retired = program.retired
    program.close()
    return spent / retired * 1e9


def counters(name: str) -> float:
    """Processor time of making counts of what the machine recorded."""
    group = EventSets(get("montecito"), Request(tuple(EventRequest(event) for event in TWELVE)))
    program, counting = guest(name, PROGRAMS[name], trace=True), group.sets[0]
    tally = counting.unit.tally(program.table, traced=True)
    running = MachineRun(load("montecito"), program.table)
    consumer = running.feed(beside=tally)
    with quiet(), running:
        program.run(consumer)
    start = time.process_time()
    counting.totals(RunData(program.table, tally, running.records()))
    spent = time.process_time() - start
    retired = program.retired
    program.close()
    return spent / retired * 1e9


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).resolve().parent.parent / "src"))
    main()
