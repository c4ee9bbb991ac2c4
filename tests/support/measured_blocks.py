"""Basic blocks of x86-64 whose cycles were measured on a Skylake processor (BHive), measured here as they were there.

A block is a row of tests/data/machine/bhive_skylake.csv. Its copies stand one behind the other, without branches.
Before them all general registers have BHive's initial value, and so has all memory: each page that a block touches is
the same one, which is mapped when it is first touched. The cycles of a copy are those of twice as many copies less
those of the copies, once they are in the caches.

    python tests/support/measured_blocks.py [--machine NAME] [--mca | --beside-mca] [--every N] [--jobs N]
"""

from __future__ import annotations

import argparse
import csv
import re
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mca_differences import CAUSES, cause

import pfmon

TABLE = Path(__file__).resolve().parents[1] / "data" / "machine" / "bhive_skylake.csv"
HARNESS = Path(__file__).resolve().with_name("x86_64_measured_block.s")
LEAST_INSTRUCTIONS, LEAST_COPIES, MOST_BYTES = 2400, 100, 12288
"""Of the copies in the shorter run: more instructions than the µop cache holds, so that they come from the decoders, as
BHive's do; twice the bytes fit L1I."""

FROM_UOP_CACHE = {"zen3": 4, "zen4": 4}
"""Machine -> by how much fewer: a µop cache that holds the copies of either run, as it would not hold most of those of
the longer one."""
PASSES = 20
CYCLES = "cycles"
ONE_PAGE = ("l1d.size=1M", "l1d.ways=8", "dtlb1.entries=1024")
"""There all pages are one, whose lines are in L1D, so nothing misses, although each copy may have addresses of its own.
Caches here have the program's addresses, so that they hold as many."""
PROCESSORS = {"skylake": "skylake", "icelake": "icelake-server", "zen3": "znver3", "zen4": "znver4"}
"""Machine -> llvm-mca's processor."""
FAR = 0.25
"""A deviation that is listed."""


class Block(NamedTuple):
    """A basic block, its code in hexadecimal, and the cycles of one execution of many (bhive_skylake.csv)."""

    number: int
    application: str
    code: str
    cycles: float


class Measured(NamedTuple):
    """A block, and what it takes here; None: it does not run to its end."""

    block: Block
    cycles: float | None

    @property
    def error(self) -> float:
        """The relative deviation."""
        assert self.cycles is not None
        return self.cycles / self.block.cycles - 1


def blocks() -> list[Block]:
    """The blocks, in their order in BHive."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    return [Block(int(number), application, code, float(cycles)) for number, application, code, cycles in rows]


def copies_of(block: Block, machine: str = "skylake") -> int:
    """Copies in the shorter run."""
    wanted = max(LEAST_COPIES, LEAST_INSTRUCTIONS // (disassembled(block).count(";") + 1))
    return max(4, min(wanted, MOST_BYTES // (len(block.code) // 2)) // FROM_UOP_CACHE.get(machine, 1))


def build(block: Block, directory: Path, machine: str = "skylake") -> Path:
    """The static program of a block: with so many arguments more than none it makes twice as many passes (1), has twice
    as many copies (2), or both (3)."""
    program = directory / f"block_{block.number}"
    code = ",".join(f"0x{block.code[at : at + 2]}" for at in range(0, len(block.code), 2))
    text = f".set COPIES, {copies_of(block, machine)}\n.set PASSES, {PASSES}\n.macro block\n.byte {code}\n.endm\n"
    made = f"{program}.o"
    subprocess.run(["as", "-o", made, "-"], input=text + HARNESS.read_text(encoding="utf-8"), text=True, check=True)
    subprocess.run(["ld", "-o", program, made], check=True)
    return program


def measure(block: Block, machine: str) -> Measured:
    """The cycles of a copy on a machine."""
    with tempfile.TemporaryDirectory() as directory:
        program = str(build(block, Path(directory), machine))
        cycles = []
        for arguments in range(4):
            words = [program, *["more"] * arguments]
            try:
                result = pfmon.run(
                    words, events=[CYCLES], machine=machine, mask_cpuid=True, set=list(ONE_PAGE), stdout=pfmon.DEVNULL
                )
            except pfmon.PfmonError:
                return Measured(block, None)
            if result.status != 0:
                return Measured(block, None)
            cycles.append(result.counts[0].value)
    once, passes, copies, both = cycles
    return Measured(block, (both - copies - passes + once) / (PASSES * copies_of(block, machine)))


def by_llvm_mca(block: Block, machine: str = "skylake") -> Measured:
    """The cycles of a block by llvm-mca, which knows no caches and no front end."""
    code = " ".join(f"0x{block.code[at : at + 2]}" for at in range(0, len(block.code), 2))
    words = ["llvm-mc", "--disassemble", "--triple=x86_64"]
    text = subprocess.run(words, input=code, text=True, capture_output=True, check=True).stdout
    cycles = []
    for times in (100, 200):
        words = ["llvm-mca", "-mtriple=x86_64", f"-mcpu={PROCESSORS[machine]}", f"-iterations={times}"]
        said = subprocess.run(words, input=text, text=True, capture_output=True, check=False).stdout
        found = re.search(r"Total Cycles: +(\d+)", said)
        if found is None:
            return Measured(block, None)
        cycles.append(int(found[1]))
    return Measured(block, (cycles[1] - cycles[0]) / 100)


def disassembled(block: Block) -> str:
    """The instructions of a block, on a line."""
    import capstone

    decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    return "; ".join(f"{name} {operands}".strip() for *_, name, operands in decoder.disasm_lite(_bytes(block), 0))


def _bytes(block: Block) -> bytes:
    return bytes.fromhex(block.code)


class Summary(NamedTuple):
    """Of measured blocks: how many ran, and the median and mean of the absolute deviations."""

    ran: int
    median: float
    mean: float


def summary(measured: Sequence[Measured]) -> Summary:
    """How far all blocks are from what was measured."""
    errors = [abs(one.error) for one in measured if one.cycles is not None]
    return Summary(len(errors), statistics.median(errors), statistics.fmean(errors))


def report(name: str, measured: Sequence[Measured]) -> None:
    """Print the blocks that are far off, largest deviation first, and the summary."""
    far = [one for one in measured if one.cycles is not None and abs(one.error) > FAR]
    for one in sorted(far, key=lambda one: -abs(one.error)):
        block = one.block
        head = f"{block.number:4} {block.application:10} {block.cycles:7.2f} {one.cycles:7.2f} {one.error:+7.0%}"
        print(f"{head}  {disassembled(block)}")
    for one in measured:
        if one.cycles is None:
            print(f"{one.block.number:4} {one.block.application:10} does not run: {disassembled(one.block)}")
    ran, median, mean = summary(measured)
    deviations = f"median error {median:.1%}, mean {mean:.1%}, {len(far)} over {FAR:.0%}"
    print(f"{name}: {ran} of {len(measured)} blocks, {deviations}")


class Beside(NamedTuple):
    """A block of which a machine and llvm-mca say other things, and why."""

    here: Measured
    there: Measured
    cause: str


def beside(here: Sequence[Measured], there: Sequence[Measured]) -> list[Beside]:
    """The blocks whose cycles differ by more than FAR."""
    found = []
    for one, other in zip(here, there, strict=True):
        if one.cycles is not None and other.cycles is not None and abs(one.cycles / other.cycles - 1) > FAR:
            text, size = disassembled(one.block), len(_bytes(one.block))
            found.append(Beside(one, other, cause(text, size, one.block.cycles, other.cycles)))
    return found


def by_cause(found: Sequence[Beside]) -> dict[str, list[int]]:
    """The numbers of blocks by cause."""
    return {why: [one.here.block.number for one in found if one.cause == why] for why in CAUSES}


def report_beside(here: Sequence[Measured], there: Sequence[Measured]) -> None:
    """Print the blocks of which a machine and llvm-mca say other things: measured, by the machine, by llvm-mca."""
    found = beside(here, there)
    for one in found:
        block = one.here.block
        numbers = f"{block.cycles:7.2f} {one.here.cycles:7.2f} {one.there.cycles:7.2f}"
        print(f"{block.number:4} {block.application:10} {numbers} {one.cause:16} {disassembled(block)}")
    for why, blocks in by_cause(found).items():
        print(f"{CAUSES[why]}: {', '.join(map(str, blocks))}")
    nearer = sum(abs(one.here.error) <= abs(one.there.error) for one in found)
    print(f"{len(found)} of {len(here)} blocks differ by over {FAR:.0%}; the machine is nearer in {nearer}")


def main() -> None:
    """Measure all blocks, and print how far they are off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", choices=PROCESSORS, default="skylake")
    parser.add_argument("--mca", action="store_true", help="by llvm-mca instead")
    parser.add_argument("--beside-mca", action="store_true", help="where the machine and llvm-mca differ")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth block")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    here, there = (partial(way, machine=given.machine) for way in (measure, by_llvm_mca))
    chosen = blocks()[:: given.every]
    with ProcessPoolExecutor(given.jobs) as pool:
        measured = list(pool.map(there if given.mca else here, chosen))
        if given.beside_mca:
            report_beside(measured, list(pool.map(there, chosen)))
            return
    report("llvm-mca" if given.mca else given.machine, measured)


if __name__ == "__main__":
    main()
