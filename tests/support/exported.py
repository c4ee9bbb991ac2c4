"""What exports have to say, from the samples that the library gives and from another reader of symbol tables."""

from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

from command import EXAMPLES, pfmon
from elftools.elf.elffile import ELFFile

import pfmon as library

QUEENS = (str(EXAMPLES / "ia64" / "queens"), "5")
EVENTS = "ia64_inst_retired,loads_retired"
PERIODS = "7,11"
EVERYTHING = ("-e", EVENTS, f"--long-smpl-periods={PERIODS}", "--smpl-periods-random=1:7,1:9")


class Expected(NamedTuple):
    """A sample: addresses of the instruction and of those that called, the latest first; the first event whose period
    ended, and that period."""

    frames: tuple[int, ...]
    stamp: int
    event: str
    period: int

    @property
    def functions(self) -> tuple[str, ...]:
        return tuple(function(address) for address in self.frames)


@cache
def expected() -> list[Expected]:
    """All samples of EVERYTHING."""
    run = library.run(
        QUEENS,
        events=EVENTS,
        long_smpl_periods=PERIODS,
        smpl_periods_random="1:7,1:9",
        smpl_stacks=True,
        stdout=library.DEVNULL,
    )
    assert run.samples is not None
    events = {count.pmd: count.name for count in run.counts}
    return [Expected((one.iip, *one.calls), one.stamp, events[one.overflowed[0]], one.last) for one in run.samples]


def weights(event: str) -> Counter[tuple[str, ...]]:
    """How many events of a kind the stacks have, their innermost functions first."""
    found: Counter[tuple[str, ...]] = Counter()
    for sample in expected():
        if sample.event == event:
            found[sample.functions] += sample.period
    return found


def function(address: int) -> str:
    """The function of the example that an address is in."""
    return _symbol(address)[0]


def start(address: int) -> int:
    """Where that function begins."""
    return _symbol(address)[1]


@cache
def _symbol(address: int) -> tuple[str, int]:
    with Path(QUEENS[0]).open("rb") as file:
        for symbol in ELFFile(file).get_section_by_name(".symtab").iter_symbols():
            if symbol["st_info"]["type"] == "STT_FUNC" and 0 <= address - symbol["st_value"] < symbol["st_size"]:
                return str(symbol.name), int(symbol["st_value"])
    raise AssertionError(f"{address:#x} is in no function")


def export(path: Path, form: str, *words: str, command: tuple[str, ...] = QUEENS) -> Path:
    """The file that --export writes."""
    done = pfmon(*(words or EVERYTHING), f"--export={form}:{path}", "--smpl-outfile=/dev/null", *command)
    assert (done.returncode, done.stderr) == (0, "")
    return path
