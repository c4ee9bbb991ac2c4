"""Where the cycles of a run went: the breakdown of figure 3-2 of the Montecito manual, by run and by function.

Every cycle retires something or is a back-end bubble of one cause, the latest in the pipeline (section 3.2.1.4), so
the parts add up to the cycles.
"""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from pfmon.engine.ia64.core.processor import Processor
from pfmon.machine.config import MachineFigures
from pfmon.program.image import Program
from pfmon.session.machine_counts import BACK, MachineCounts, Place, names
from pfmon.session.profile import FunctionNames
from pfmon.stream.marks import NO_INSTRUCTION
from pfmon.stream.tally import Tally

INHERENT = "inherent execution"

PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    INHERENT: {"cycles that retired": ()},
    "data access": {
        "waiting for loads": ("GRALL",),
        "first-level data cache": ("L1D_*",),
    },
    "branch mispredicts": {"flushes": ("BRU",)},
    "instruction fetch": {
        "cache misses": ("FE_IMISS", "FE_FILL_RECIRC"),
        "TLB misses": ("FE_TLBMISS",),
    },
    "other stalls": {
        "integer latencies": ("GRGR",),
        "floating-point registers": ("FRALL",),
        "predicates, application registers": ("PR", "ARCR"),
        "register stack engine": ("RSE_*",),
        "exceptions and serialization": ("XPN",),
        "branches in the front end": ("FE_BRANCH", "FE_BUBBLE", "FE_FEFLUSH"),
    },
}
"""Part of the figure -> what it consists of -> causes of back-end bubbles (machine/causes.pxd)."""

RATIOS: dict[str, tuple[str, str, int]] = {
    "L1D read misses per read": ("l1d_read_misses.all", "l1d_reads", 1),
    "L2 data misses per reference": ("l2d_misses", "l2d_references.all", 1),
    "L3 misses per reference": ("l3_misses", "l3_references", 1),
    "L1I misses per fetch": ("l2i_demand_reads", "l1i_reads", 1),
    "data TLB misses per 1000 instructions": ("l2dtlb_misses", "", 1000),
    "mispredicted branches per branch": ("branches.mispredicted", "branches.all", 1),
}
"""Name -> signal, signal that it is divided by ("": retired instructions), factor."""


class FunctionRow(NamedTuple):
    """A function's cycles, by part in the order of PARTS, and its instructions."""

    name: str
    address: int
    cycles: tuple[int, ...]
    instructions: int


class Cpi(NamedTuple):
    """The breakdown of a run: cycles by part and by what the part consists of; None: a ratio of nothing."""

    machine: str
    cycles: int
    instructions: int
    parts: dict[str, dict[str, int]]
    ratios: dict[str, float | None]
    functions: list[FunctionRow]

    def total(self, part: str) -> int:
        """The cycles of a part."""
        return sum(self.parts[part].values())


def breakdown(
    figures: MachineFigures, counts: MachineCounts, processor: Processor, tally: Tally, program: Program
) -> Cpi:
    """The breakdown of a run that a machine recorded and a tally added up."""
    where = {number: place for place, (_, causes) in enumerate(_pieces()) for number in causes}
    sums = [0] * len(_pieces())
    functions: dict[tuple[str, int], list[int]] = {}
    lookup = FunctionNames(program)
    for piece, place, cycles in _cycles(counts, where):
        sums[piece] += cycles
        row = functions.setdefault(lookup.function(_address(processor, place)), [0] * (len(PARTS) + 1))
        row[_part_of(piece)] += cycles
    instructions = 0
    for address, retired in _retired(processor, tally):
        instructions += retired
        functions.setdefault(lookup.function(address), [0] * (len(PARTS) + 1))[-1] += retired
    pieces = iter(sums)
    parts = {part: {name: next(pieces) for name in inner} for part, inner in PARTS.items()}
    rows = [FunctionRow(name, address, tuple(row[:-1]), row[-1]) for (name, address), row in functions.items()]
    rows.sort(key=lambda row: (-sum(row.cycles), row.address))
    ratios = {name: _ratio(counts, instructions, *ratio) for name, ratio in RATIOS.items()}
    return Cpi(str(figures["machine.name"]), counts.recorded.cycles, instructions, parts, ratios, rows)


def _pieces() -> list[tuple[str, frozenset[int]]]:
    """What all parts consist of, in order, with the numbers of the causes."""
    causes = names("cycle")
    return [
        (name, frozenset(causes[cause] for cause in causes if any(fnmatchcase(cause, pattern) for pattern in patterns)))
        for inner in PARTS.values()
        for name, patterns in inner.items()
    ]


def _part_of(piece: int) -> int:
    """The number of the part that a piece belongs to."""
    return [number for number, inner in enumerate(PARTS.values()) for _ in inner][piece]


def _cycles(counts: MachineCounts, where: Mapping[int, int]) -> Iterator[tuple[int, Place, int]]:
    """Piece, place, cycles of everything that was recorded."""
    for block, instruction, _, cycles in counts.recorded.dispersal():
        yield 0, (block, instruction), cycles
    for block, instruction, cause, cycles in counts.recorded.bubbles(BACK):
        yield where[cause], (block, instruction), cycles


def _address(processor: Processor, place: Place) -> int:
    block, number = place
    if block is None:
        return 0
    instructions = processor.block(block).instructions
    return instructions[-1 if number == NO_INSTRUCTION else number].address


def _retired(processor: Processor, tally: Tally) -> Iterator[tuple[int, int]]:
    """Address and times of every instruction that retired."""
    for number in range(processor.block_count()):
        if runs := tally.runs(number):
            for instruction in processor.block(number).instructions:
                yield instruction.address, runs


def _ratio(counts: MachineCounts, instructions: int, above: str, below: str, factor: int) -> float | None:
    def total(signal: str) -> int:
        return sum(increment for _, increment in counts.increments(signal))

    if below == "branches.all":
        classes = ("correct_pred", "wrong_path", "wrong_target")
        divisor = sum(total(f"br_mispred_detail.all_{one}") for one in classes)
    else:
        divisor = total(below) if below else instructions
    return factor * total(above) / divisor if divisor else None
