"""Counts from what a machine recorded: a signal's increments, by the instruction that caused them.

Kinds of signals and their terms are in signals/machine.csv. What is counted cycle by cycle (thresholds) is in
per_cycle.py.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Protocol

from pfmon.signals import machine
from pfmon.stream.marks import NO_INSTRUCTION

Place = tuple[int | None, int]
"""The number of a block (None: none), and of an instruction in it (or NO_INSTRUCTION)."""
Note = tuple[int, int, int, int]
"""An instruction's number, an occurrence, 1 if its access was in the data ranges, how often."""
Part = tuple[int | None, int, int, int, Sequence[Note]]
"""Instructions of a block that issued together: block, first, last, which executed (bit 0: the first), notes."""

BACK, FRONT, IDEAL, LOST, ENTRANCE = range(5)
"""Kinds of bubbles (machine/records.pxd, BubbleKind)."""
BUBBLES = {"front": FRONT, "ideal": IDEAL, "lost": LOST, "entrance": ENTRANCE}
MESI = "ISEM"
"""The states by bit of PMC.mesi (Montecito manual table 3-6)."""


class Recorded(Protocol):
    """What a machine recorded of a run."""

    @property
    def cycles(self) -> int:
        """Core cycles, from the first to the last."""

    @property
    def bus_cycles(self) -> int:
        """Cycles of the bus in the same time."""

    @property
    def stack_rate(self) -> int:
        """Registers that the register stack engine moves in a cycle."""

    def occurrences(self) -> Mapping[tuple[int | None, int, int, int], int]:
        """(block, instruction, occurrence, 1 if in the data ranges) -> times."""

    def bubbles(self, kind: int) -> Sequence[tuple[int | None, int, int, int]]:
        """(block, instruction, cause, cycles or bundles) of one kind of bubbles."""

    def levels(self) -> Mapping[str, Sequence[int]]:
        """Name -> cycles at 0, 1, 2 ..., as many entries as the level can have values."""

    def groups(self) -> Iterable[tuple[Sequence[Part], int]]:
        """What issued together in a cycle, and in how many cycles."""

    def dispersal(self) -> Iterable[tuple[int | None, int, int, int]]:
        """(block, last instruction, what dispersal left over, cycles) of the cycles in which something issued."""


@cache
def names(kind: str) -> dict[str, int]:
    """What the terms of signals of a kind stand for."""
    # Here, because only runs on a machine need them, and large enumerations take long to load.
    from pfmon.machine.causes import Cause, FrontCause
    from pfmon.machine.occurrences import Occurrence

    if kind == "occurrence":
        return {name: int(value) for name, value in Occurrence.__members__.items()}
    if kind == "cycle":
        return {name: int(value) for name, value in Cause.__members__.items() if name != "CAUSES"}
    if kind == "dispersal":
        return {name: place for place, name in enumerate(machine.DISPERSAL)}
    return {name: int(value) for name, value in FrontCause.__members__.items() if name != "FRONT_CAUSES"}


@cache
def occurrences_of(signal: str, states: int | None = None) -> frozenset[int]:
    """The occurrences that a signal is made of; ``states``: only those in the states of a PMC's mesi field."""
    numbers = machine.select(signal, names("occurrence"))
    if states is None:
        return numbers
    wanted = {letter for bit, letter in enumerate(MESI) if states >> bit & 1}
    return frozenset(number for name, number in names("occurrence").items() if number in numbers and name[-1] in wanted)


class MachineCounts:
    """The increments of the machine's signals in one run."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        self._occurrences: dict[int, list[tuple[Place, int, int]]] | None = None
        self._bubbles: dict[int, list[tuple[Place, int, int]]] = {}

    def increments(self, signal: str, ranged: bool = False, states: int | None = None) -> Iterator[tuple[Place, int]]:
        """Where, and how many. ``ranged``: by accesses in the data ranges only; ``states``: a PMC's mesi field."""
        kind, terms = machine.meanings()[signal]
        match kind:
            case "occurrence":
                yield from self._happened(occurrences_of(signal, states), ranged)
            case "cycle":
                yield from self._cycles(signal)
            case "front" | "ideal" | "lost" | "entrance":
                yield from self._lost(BUBBLES[kind], machine.select(signal, names(kind)))
            case "dispersal":
                yield from self._syllables(signal)
            case "level":
                yield (None, NO_INSTRUCTION), sum(self.level_total(term) for term in terms)

    def level_total(self, term: str, threshold: int = 0) -> int:
        """The sum of a level's function over all cycles; with a threshold the cycles in which it is more."""
        function = machine.level_function(term)
        histogram = self.recorded.levels()[function.level]
        values = ((function.of(value, len(histogram) - 1), cycles) for value, cycles in enumerate(histogram))
        if threshold:
            return sum(cycles for value, cycles in values if value > threshold)
        return sum(value * cycles for value, cycles in values)

    def _happened(self, numbers: frozenset[int], ranged: bool) -> Iterator[tuple[Place, int]]:
        if self._occurrences is None:
            self._occurrences = {}
            for (block, instruction, number, inside), times in self.recorded.occurrences().items():
                self._occurrences.setdefault(number, []).append(((block, instruction), inside, times))
        for number in numbers:
            for place, inside, times in self._occurrences.get(number, ()):
                if inside or not ranged:
                    yield place, times

    def _lost(self, kind: int, causes: frozenset[int] | None) -> Iterator[tuple[Place, int]]:
        if kind not in self._bubbles:
            found = self.recorded.bubbles(kind)
            self._bubbles[kind] = [((block, instruction), cause, cycles) for block, instruction, cause, cycles in found]
        for place, cause, cycles in self._bubbles[kind]:
            if causes is None or cause in causes:
                yield place, cycles

    def _cycles(self, signal: str) -> Iterator[tuple[Place, int]]:
        named = machine.named(signal)
        if "BUS" in named:
            yield (None, NO_INSTRUCTION), self.recorded.bus_cycles
            return
        if "CORE" in named or "RETIRING" in named:
            yield from self._retiring()
        yield from self._lost(BACK, None if "CORE" in named else machine.select(signal, names("cycle")))

    def _retiring(self) -> Iterator[tuple[Place, int]]:
        """Cycles in which something retired, where the last of it is."""
        for block, instruction, _, cycles in self.recorded.dispersal():
            yield (block, instruction), cycles

    def _syllables(self, signal: str) -> Iterator[tuple[Place, int]]:
        fields = [machine.DISPERSAL[term] for term in machine.expanded(signal)]
        for block, instruction, left, cycles in self.recorded.dispersal():
            if total := sum(left >> shift & mask for shift, mask in fields):
                yield (block, instruction), total * cycles
