"""Running the example programs in this process."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pfmon.counting._counting import Tally
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.program import image
from pfmon.stream._stream import BlockTable

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# Arguments that keep a run below about a million instructions.
SMALL = {
    "arrays": ["10"],
    "branchy": ["5000"],
    "chase": ["64", "20000"],
    "dispatch": ["500"],
    "epic": [],
    "fib": ["15"],
    "hashmap": ["1000"],
    "lz": ["5000"],
    "matmul": ["16"],
    "nbody": ["10"],
    "noploop": ["20000"],
    "queens": ["6"],
    "sha256": ["20"],
    "sort": ["1000"],
    "stream": ["16", "1"],
    "strings": ["1000"],
}


def expected() -> dict[str, tuple[int, str]]:
    """Exit status and output of every example without arguments."""
    table = {}
    for line in (EXAMPLES / "expected" / "ia64.txt").read_text().splitlines():
        name, status, output = line.split("|")
        table[name] = (int(status), output)
    return table


def guest(name: str, arguments: Sequence[str] = (), *, slow: bool = False, trace: bool = False) -> Ia64Guest:
    """An example program, loaded."""
    path = str(EXAMPLES / "ia64" / name)
    return Ia64Guest(
        image.load(path),
        [os.fsencode(word) for word in (path, *arguments)],
        [],
        GuestSettings(),
        memory_limit=1 << 30,
        slow=slow,
        trace=trace,
    )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Programs print to descriptor 1: not into the test report."""
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def tallied(name: str) -> tuple[BlockTable, Tally]:
    """A finished run of an example: blocks and totals."""
    program = guest(name)
    tally = Tally(program.table)
    with quiet():
        program.run(tally)
    program.close()
    return program.table, tally
