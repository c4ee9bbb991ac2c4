"""Time of a boot of Linux for IA-64, from the first instruction to its reboot: beside Ski's, in turns.

    python benchmarks/boots.py KERNEL... [--ski BSKI --image IMAGE] [--repeat N]

KERNEL: kernels whose own /init reboots (vmlinux-ssc, vmlinux-perf, vmlinux-smp). IMAGE: the first kernel with a
firmware that boots on Ski. Columns: instructions; seconds of the whole command, counting ia64_inst_retired, with
cycles, and of Ski; the ratio of the first and the last. The times are the shortest of N.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

EVENTS = {"exact": "ia64_inst_retired", "machine": "ia64_inst_retired,cpu_cycles"}


def booted(kernel: Path, events: str) -> int:
    """Boots the kernel; the instructions of it."""
    words = ["--json", "--no-cmd-output", "-k", "-u", "-e", events, "--system", str(kernel)]
    run = subprocess.run([sys.executable, "-m", "pfmon", *words], capture_output=True, text=True, check=True)
    return int(json.loads(run.stdout)["instructions"])


def on_ski(ski: Path, image: Path) -> int:
    """Boots the image on Ski, which ends with status 1 behind a reboot; 0: it counts none here."""
    subprocess.run([ski, "-noconsole", image], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return 0


def timed(boot: Callable[[], int]) -> tuple[float, int]:
    """Seconds, and instructions."""
    begun = time.monotonic()
    instructions = boot()
    return time.monotonic() - begun, instructions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", type=Path, nargs="+", metavar="KERNEL")
    parser.add_argument("--ski", type=Path)
    parser.add_argument("--image", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    print(f"{'':22}{'instructions':>14}{'exact':>8}{'cycles':>8}{'Ski':>8}{'ratio':>7}")
    for number, kernel in enumerate(given.kernels):
        boots: dict[str, Callable[[], int]] = {
            kind: lambda kernel=kernel, events=events: booted(kernel, events)  # type: ignore[misc]
            for kind, events in EVENTS.items()
        }
        if number == 0 and given.ski and given.image:
            boots["ski"] = lambda: on_ski(given.ski, given.image)
        rounds = [{name: timed(boot) for name, boot in boots.items()} for _ in range(given.repeat)]
        best = {name: min(one[name][0] for one in rounds) for name in boots}
        line = "".join(f"{best[name]:8.2f}" for name in best)
        ratio = f"{best['exact'] / best['ski']:7.2f}" if "ski" in best else ""
        print(f"{kernel.name:22}{rounds[0]['exact'][1]:14}{line}{ratio}", flush=True)


if __name__ == "__main__":
    main()
