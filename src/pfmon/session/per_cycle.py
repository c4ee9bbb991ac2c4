"""What a cycle adds to an event, cycle by cycle: thresholds, and the events that are themselves bits of such a sum.

A monitor with a threshold counts one in every cycle in which its event's increment is more (Montecito manual section
3.2.1.3). The increment is what the programming lets pass; equal cycles are looked at once.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pfmon.errors import PfmonError
from pfmon.pmu.event import Event
from pfmon.retirement.blocks import InstructionRecord
from pfmon.retirement.marks import NO_INSTRUCTION
from pfmon.session.attribution import Blocks
from pfmon.session.machine_counts import MachineCounts, Part, Place, occurrences_of
from pfmon.session.tags import Tags
from pfmon.signals import machine, retired

NO_CYCLE = ("front", "ideal", "lost", "entrance")
"""Kinds of signals of which it is not recorded what single cycles add."""


class Look(NamedTuple):
    """How a cycle's increment becomes a count: bits ``low`` up to ``mask``, then the threshold if there is one."""

    threshold: int = 0
    low: int = 0
    mask: int = -1

    def of(self, increment: int) -> int:
        """What a cycle with this increment adds."""
        value = increment >> self.low & self.mask
        return int(value > self.threshold) if self.threshold else value


def check_threshold(event: Event, threshold: int) -> None:
    """PfmonError for a threshold on an event of which single cycles are not known."""
    if not threshold:
        return
    signal = event.signal
    meaning = machine.meanings().get(signal)
    if meaning and meaning.kind in NO_CYCLE:
        reason = "the machine records sums of lost bundles, not those of single cycles"
    elif not meaning and (signal not in retired.WEIGHTS or signal in retired.MARKS):
        reason = "some of it is done by the register stack engine or in the course of a fault, in no cycle of its own"
    else:
        return
    raise PfmonError(f"--event-thresholds: {event.name} takes no threshold here: {reason}")


class PerCycle:
    """Looks at the cycles of one run through one programming's tags."""

    def __init__(self, counts: MachineCounts, blocks: Blocks, tags: Tags) -> None:
        self._counts = counts
        self._blocks = blocks
        self._tags = tags

    def increments(self, event: Event, threshold: int, ranged: bool, states: int | None) -> Iterator[tuple[Place, int]]:
        """What a monitor counts, where the cycle's last instruction is."""
        kind, terms = machine.meanings().get(event.signal, ("retired", ()))
        if kind == "level":
            total = sum(self._counts.level_total(term, threshold) for term in terms)
            yield (None, NO_INSTRUCTION), total
        elif kind == "dispersal":
            yield from self._syllables(event, machine.expanded(event.signal), Look(threshold).of)
        elif kind == "stops":
            yield from self._cycles(event, self._weights(event, terms[0], ranged), Look())
            yield from self._syllables(event, terms[1:], lambda syllables: int(syllables > 0))
        elif kind == "per_cycle":
            whole, high, low = machine.per_cycle(terms[0])
            look = Look(threshold, low, (1 << high - low + 1) - 1)
            yield from self._cycles(event, self._weights(event, whole, ranged), look)
        elif kind == "qualified":
            yield from self._cycles(event, self._weights(event, "inst_retired", ranged), Look(), 1)
        elif kind == "occurrence":
            numbers = occurrences_of(event.signal, states)
            yield from self._cycles(event, self._noted(event, numbers, ranged), Look(threshold))
        elif kind == "retired":
            yield from self._cycles(event, self._weights(event, event.signal, ranged), Look(threshold))

    def _cycles(
        self, event: Event, adds: Callable[[Part], int], look: Look, most: int | None = None
    ) -> Iterator[tuple[Place, int]]:
        for parts, cycles in self._counts.recorded.groups():
            increment = sum(map(adds, parts))
            if most is not None:
                increment = min(increment, most)
            if value := look.of(increment):
                block, _, last, _, _ = parts[-1]
                yield (block, last), value * cycles

    def _syllables(self, event: Event, terms: Sequence[str], look: Callable[[int], int]) -> Iterator[tuple[Place, int]]:
        fields = [machine.DISPERSAL[term] for term in terms]
        for block, last, left, cycles in self._counts.recorded.dispersal():
            if not self._tags.passes(event, self._instruction(block, last)):
                continue
            if value := look(sum(left >> shift & mask for shift, mask in fields)):
                yield (block, last), value * cycles

    def _weights(self, event: Event, signal: str, ranged: bool) -> Callable[[Part], int]:
        """What the instructions of a part add to a signal of architecture."""
        known: dict[tuple[int, int], retired.Weight] = {}

        def weight(block: int, number: int) -> retired.Weight:
            if (block, number) not in known:
                instruction = self._instruction(block, number)
                weigh = retired.WEIGHTS[signal]
                passes = instruction is not None and self._tags.passes(event, instruction)
                known[block, number] = weigh(instruction) if passes and instruction else retired.NOTHING
            return known[block, number]

        def adds(part: Part) -> int:
            block, first, last, executed, notes = part
            if block is None:
                return 0
            inside = {note[0] for note in notes if note[2]} if ranged else None
            total = 0
            for number in range(first, last + 1):
                always, when = weight(block, number)
                held = executed >> number - first & 1
                total += (held * when if number in inside else 0) if inside is not None else always + held * when
            return total

        return adds

    def _noted(self, event: Event, numbers: frozenset[int], ranged: bool) -> Callable[[Part], int]:
        """How often one of some occurrences happened to the instructions of a part."""

        def adds(part: Part) -> int:
            block, _, _, _, notes = part
            return sum(
                times
                for number, occurrence, inside, times in notes
                if occurrence in numbers and (inside or not ranged) and self._passes(event, block, number)
            )

        return adds

    def _passes(self, event: Event, block: int | None, number: int) -> bool:
        return self._tags.passes(event, self._instruction(block, number))

    def _instruction(self, block: int | None, number: int) -> InstructionRecord | None:
        if block is None or number == NO_INSTRUCTION:
            return None
        instructions: Sequence[InstructionRecord] = self._blocks.block(block).instructions
        return instructions[number]
