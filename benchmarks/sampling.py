"""Cost of samples: whole commands with so many samples in a second of their run time, over plain counting.

    python benchmarks/sampling.py [EXAMPLE ...] [--rate N] [--repeat N]

Processor time of whole commands, the best of N runs that take turns; a ratio is with samples over without.
"""

import argparse
import os
import resource
import subprocess
import tempfile
from pathlib import Path

from programs import PROGRAMS
from speed import machine, mean

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "ia64"
PFMON = Path(__file__).resolve().parents[1] / ".venv" / "bin" / "pfmon"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
WAYS = {
    "inst-hist": ["--smpl-module=inst-hist"],
    "raw": ["--smpl-module=raw"],
    "compact": ["--smpl-module=compact"],
    "detailed-ia64": [],
    "stacks, raw": ["--smpl-stacks", "--smpl-module=raw"],
}


def seconds(*words: str) -> float:
    """Processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(PFMON), *words], env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def instructions(command: list[str]) -> int:
    """That a program retires."""
    words = [str(PFMON), "--no-cmd-output", "-e", "ia64_inst_retired", *command]
    return int(subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout.split()[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help="names in examples/ia64")
    parser.add_argument("--rate", type=int, default=100_000, help="samples in a second of plain run time")
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    print(machine())
    ratios: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        out = f"--smpl-outfile={folder}/samples"
        for name in asked.examples or PROGRAMS:
            command = [str(EXAMPLES / name), *PROGRAMS[name]]
            plain = min(seconds("-e", "ia64_inst_retired", *command) for _ in range(asked.repeat))
            period = max(1, int(instructions(command) / (asked.rate * plain)))
            line = f"{name:10} {plain:6.2f} s, period {period:7}:"
            for way, options in WAYS.items():
                words = [f"--long-smpl-periods={period}", "-e", "ia64_inst_retired", out, *options, *command]
                ratio = min(seconds(*words) for _ in range(asked.repeat)) / plain
                ratios[way].append(ratio)
                line += f"  {way} {ratio:.2f}"
            print(line, flush=True)
    print("mean", "  ".join(f"{way} {mean(values):.2f}" for way, values in ratios.items()))


if __name__ == "__main__":
    main()
