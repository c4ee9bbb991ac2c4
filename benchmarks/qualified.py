"""Cost of qualification: processor time of counting loads, plain and by code range, opcode and data range.

    python benchmarks/qualified.py [--repeat N] [PROGRAM ...]

Ratios are to counting the same event without qualification: processor time (user and system) from first to last guest
instruction, the best of N runs, which take turns so that all meet the same machine.
"""

import argparse
import platform

from programs import PROGRAMS
from speed import EXAMPLES, machine, mean, pfmon

EVENT = ["-e", "loads_retired"]
WAYS = {
    "code range": ["--irange=main"],
    "opcode": ["--opc-match8=ld8"],
    "data range": ["--drange=0x6000000000000000-0x6000000000010000"],
    "trigger": ["--trigger-code-start-addresses=main"],
}


def cost(options: list[str], command: list[str]) -> float:
    """Seconds of processor time."""
    times = pfmon([*EVENT, *options], command)["seconds"]
    return times["user"] + times["system"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    print(f"machine: {machine()}, Python {platform.python_version()}")
    print(f"{'program':<10}{'seconds':>9}" + "".join(f"{way:>12}" for way in WAYS))
    ratios: dict[str, list[float]] = {way: [] for way in WAYS}
    for name in given.programs:
        command = [str(EXAMPLES / "ia64" / name), *PROGRAMS[name]]
        best = dict.fromkeys(["plain", *WAYS], float("inf"))
        for _ in range(given.repeat):
            for way in best:
                best[way] = min(best[way], cost(WAYS.get(way, []), command))
        for way in WAYS:
            ratios[way].append(best[way] / best["plain"])
        line = "".join(f"{best[way] / best['plain']:>12.3f}" for way in WAYS)
        print(f"{name:<10}{best['plain']:9.3f}{line}", flush=True)
    print(f"{'mean':<19}" + "".join(f"{mean(ratios[way]):>12.3f}" for way in WAYS))


if __name__ == "__main__":
    main()
