"""Speed of system mode: the same static programs under Linux's interface and at level 3 of an image.

    python benchmarks/system.py [--repeat N]

The image is tests/support/level3.py's: a kernel that maps the program and answers its calls. Columns: user-level
instructions; million instructions a second counting ia64_inst_retired, as a program and in the image, and their
ratio; the same with cpu_cycles, for which the machine runs. Times are from the first to the last instruction, the best
of N runs that take turns.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from math import prod
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "support"))

from level3 import level3_image  # noqa: E402 - of the tests

PROGRAMS = {"fib": ["30"], "queens": ["10"], "sha256": ["10000"], "hashmap": ["100000"], "lz": [], "nbody": ["20000"]}
EVENTS = {"exact": "ia64_inst_retired", "machine": "ia64_inst_retired,cpu_cycles"}


def rate(words: list[str]) -> tuple[float, int]:
    """Million instructions a second of a run, and its instructions."""
    command = [sys.executable, "-m", "pfmon", "--json", "--no-cmd-output", *words]
    run = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return run["instructions"] / run["seconds"]["real"] / 1e6, run["instructions"]


def best(programs: list[str], image: list[str], repeat: int) -> tuple[float, float, int]:
    """The best rates of a program and of its image, which take turns, and the program's instructions."""
    pairs = [(rate(programs), rate(image)) for _ in range(repeat)]
    return max(one[0] for one, _ in pairs), max(other[0] for _, other in pairs), pairs[0][0][1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--programs", type=Path, default=Path(os.environ.get("PFMON_TEST_PROGRAMS", "../shared/programs"))
    )
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    print(
        f"{'':10}{'instructions':>14}{'program':>10}{'image':>10}{'ratio':>7}{'program':>10}{'image':>10}{'ratio':>7}"
    )
    ratios: dict[str, list[float]] = {name: [] for name in EVENTS}
    for name, arguments in PROGRAMS.items():
        program = given.programs / "ia64" / name
        with tempfile.NamedTemporaryFile() as image:
            image.write(level3_image(program, *arguments))
            image.flush()
            line = ""
            for kind, events in EVENTS.items():
                alone = ["-e", events, str(program), *arguments]
                system = ["-e", events, "-u", "--system", image.name]
                one, other, instructions = best(alone, system, given.repeat)
                ratios[kind].append(other / one)
                line += f"{one:10.1f}{other:10.1f}{other / one:7.2f}"
        print(f"{name:10}{instructions:14}{line}", flush=True)
    for kind, found in ratios.items():
        print(f"{kind}: geometric mean {prod(found) ** (1 / len(found)):.2f}")


if __name__ == "__main__":
    main()
