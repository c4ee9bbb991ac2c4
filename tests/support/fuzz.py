"""Goes on fuzzing for as long as one likes.

    python tests/support/fuzz.py [--seconds N] [--kind KIND] [--first N] [--save DIR]

Cases are damaged executables, recordings, results, machines, snapshots, and command lines, one after the other by
number; a number makes the same case again. A traceback, a signal, a command that takes too long, and a mistake without
a message are reported, and their input saved as DIR/KIND-NUMBER, with the command in DIR/KIND-NUMBER.txt. The exit
status is 1 if there was any. What is worth keeping goes into tests/fuzz_corpus/KIND, of which pytest runs everything.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from pathlib import Path

from fuzz_inputs import KINDS, case, make_seeds
from fuzz_run import run, shown


def fuzz(kinds: list[str], first: int, seconds: float, save: Path) -> int:
    """Run cases until the time is over; how many went wrong."""
    end, ran, found = time.monotonic() + seconds, Counter[str](), 0
    with tempfile.TemporaryDirectory(prefix="pfmon-fuzz-") as folder:
        make_seeds(Path(folder))
        for number in count(first):
            for kind in kinds:
                if time.monotonic() >= end:
                    print(f"{sum(ran.values())} cases ({dict(ran)}), {found} went wrong; next: --first {number}")
                    return found
                place = Path(folder) / "case"
                place.mkdir()
                one = case(kind, number)
                failed = run(one, place)
                ran[kind] += 1
                if failed:
                    found += 1
                    words, said = failed
                    save.mkdir(parents=True, exist_ok=True)
                    if one.data is not None:
                        (save / f"{kind}-{number}").write_bytes(one.data)
                    (save / f"{kind}-{number}.txt").write_text(f"{said}\n{shown(words)}\n")
                    print(f"{kind} {number}: {said}\n    {shown(words)}", flush=True)
                shutil.rmtree(place, ignore_errors=True)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kind", choices=list(KINDS), action="append")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--save", type=Path, default=Path("fuzz-found"))
    given = parser.parse_args()
    sys.exit(fuzz(given.kind or list(KINDS), given.first, given.seconds, given.save) > 0)
