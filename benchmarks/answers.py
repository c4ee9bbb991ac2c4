"""How long answers take that run no program: lists, descriptions, and programming calls.

    python benchmarks/answers.py [--repeat N]

Commands are timed as whole processes, calls within this one; each figure is the best of N, beside it the time of
Python alone (for commands) and the share of the goal that it takes.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from speed import EXAMPLES, PFMON, machine, seconds

from pfmon import pmu
from pfmon.errors import PfmonError
from pfmon.pmu.model.request import OpcodeMatch, RangeRequest

COMMAND_GOAL, CALL_GOAL = 0.3, 0.005
COMMANDS = {
    "pfmon -l": ["-l"],
    "pfmon -L --pmu montecito": ["-L", "--pmu", "montecito"],
    "pfmon -i nops_retired": ["-i", "nops_retired"],
    "pfmon --decode pmc8=...": ["--decode", "pmc8=0xffffffff3ffffffc"],
    "pfmon --check-events-only -v": ["--check-events-only", "-v", "--irange=0x1000-0x1590", "-eloads_retired"],
    "pfmon PROGRAM": ["-eia64_inst_retired", str(EXAMPLES / "ia64" / "epic")],
}
CALLS = {
    "itanium": ["ia64_inst_retired", "nops_retired", "cpu_cycles", "loads_retired"],
    "itanium2": ["l2_misses", "l2_references", "loads_retired", "ia64_inst_retired"],
    "montecito": [
        *["loads_retired", "l2d_references_all", "l2d_misses"],
        *["cpu_op_cycles_all", "nops_retired", "ia64_inst_retired"] * 3,
    ],
    "intel_v2": ["llc_misses", "llc_references", "inst_retired.any", "cpu_clk_unhalted.core"],
    "ppc604e": ["processor_cycles", "bpu_results"],
}
IMPOSSIBLE = [*["l2d_references_all"] * 4, *["loads_retired"] * 9]
"""No assignment exists, and every choice of anchors has to be tried to know it."""


def best(work: Callable[[], object], repeat: int) -> float:
    """Seconds of the fastest of N."""
    taken = []
    for _ in range(repeat):
        start = time.perf_counter()
        with suppress(PfmonError):
            work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def qualified() -> object:
    """A call with both ranges and an opcode matcher."""
    return pmu.get("itanium2").program(
        ["loads_retired"],
        irange=RangeRequest(((0x1000, 0x123450),)),
        drange=RangeRequest(((0x1234, 0x9876543),)),
        opcodes=(OpcodeMatch("m", 0x123, 0x456), None),
    )


def calls() -> dict[str, Callable[[], object]]:
    """The measured calls, by name."""
    made: dict[str, Callable[[], object]] = {
        f"{name}, {len(events)} events": lambda name=name, events=events: pmu.get(name).program(events)
        for name, events in CALLS.items()
    }
    made["itanium2, ranges and a matcher"] = qualified
    made["montecito, 13 events, refused"] = lambda: pmu.get("montecito").program(IMPOSSIBLE)
    return made


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=10)
    repeat = parser.parse_args().repeat
    print(f"machine: {machine()}")
    python = seconds([sys.executable, "-c", "pass"], repeat)
    for name, words in COMMANDS.items():
        subprocess.run([*PFMON, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        taken = seconds([*PFMON, *words], repeat)
        print(f"{name:<32}{taken:9.3f} s {taken / python:7.1f} times Python{taken / COMMAND_GOAL:8.2f} of the goal")
    for name, call in calls().items():
        taken = best(call, repeat * 10)
        print(f"{name:<32}{taken * 1e3:9.3f} ms{'':20}{taken / CALL_GOAL:8.2f} of the goal")


if __name__ == "__main__":
    main()
