"""What a cycle adds to an event, cycle by cycle: thresholds, and the events that are themselves bits of such a sum.

A monitor with a threshold counts one in every cycle in which its event's increment is more (Montecito manual section
3.2.1.3). The increment is what the programming lets pass; equal cycles are looked at once.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pfmon.errors import PfmonError
from pfmon.pmu.event import Event
from pfmon.session.attribution import Blocks
from pfmon.session.machine_counts import MachineCounts, Note, Part, Place, occurrences_of
from pfmon.session.tags import Tags
from pfmon.signals import machine, retired
from pfmon.stream.blocks import InstructionRecord
from pfmon.stream.ia64 import Ia64Kind
from pfmon.stream.marks import NO_INSTRUCTION

READS, WRITES, FLOAT_READS = "L1D_READ", "L2_DATA_WRITE", "L2_DATA_READ"
MOVED = {
    "loads_retired": (READS,),
    "stores_retired": (WRITES,),
    "data_references": (READS, WRITES),
    "rse_references.all": (READS, WRITES),
    "rse_references.load": (READS,),
    "rse_references.store": (WRITES,),
}
"""Signals that count registers which the register stack engine moves, and what each of these does in the machine."""

FAILED_CHECKS = {"loads_retired": (READS, FLOAT_READS), "loads_retired.integer": (READS,)}
"""Signals that count a check load if it failed, and what it does then; one that found its entry does nothing."""

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
    elif not meaning and signal not in MOVED and (signal not in retired.WEIGHTS or _marked(signal)):
        reason = "in which cycle it happens is not recorded"
    else:
        return
    raise PfmonError(f"--event-thresholds: {event.name} takes no threshold here: {reason}")


def _marked(signal: str) -> bool:
    """Whether some of a signal comes from marks that no cycle is known of."""
    return signal in retired.MARKS and signal not in FAILED_CHECKS


def _numbers(names: Sequence[str]) -> frozenset[int]:
    from pfmon.machine.occurrences import Occurrence  # takes long to load, and only runs on a machine need it

    return frozenset(int(Occurrence[name]) for name in names)


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
            if event.signal in retired.WEIGHTS:
                yield from self._cycles(event, self._weights(event, event.signal, ranged), Look(threshold))
            if event.signal in MOVED:
                yield from self._moved(event, _numbers(MOVED[event.signal]), ranged, Look(threshold))

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

    def _moved(self, event: Event, numbers: frozenset[int], ranged: bool, look: Look) -> Iterator[tuple[Place, int]]:
        """Registers that the register stack engine moves: so many a cycle, in cycles in which nothing issues."""
        adds, rate = self._noted(event, numbers, ranged), self._counts.recorded.stack_rate
        for parts, times in self._counts.recorded.groups():
            block, first, last, _, notes = parts[-1] if parts else (None, 0, 0, 0, ())
            if first > last and notes:
                full, rest = divmod(adds(parts[-1]), rate)
                if value := full * look.of(rate) + look.of(rest):
                    yield (block, notes[0][0]), value * times

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

        checked = _numbers(FAILED_CHECKS.get(signal, ()))

        def failed(block: int, notes: Sequence[Note]) -> set[int]:
            """The check loads that went to memory."""
            found = {note[0] for note in notes if note[1] in checked and (note[2] or not ranged)}
            return {number for number in found if self._is_check(block, number) and self._passes(event, block, number)}

        def adds(part: Part) -> int:
            block, first, last, executed, notes = part
            if block is None or first > last:
                return 0
            inside = {note[0] for note in notes if note[2]} if ranged else None
            total = len(failed(block, notes)) if checked else 0
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

    def _is_check(self, block: int, number: int) -> bool:
        instruction = self._instruction(block, number)
        return instruction is not None and bool(instruction.isa_kind & Ia64Kind.LOAD_CHECK)

    def _instruction(self, block: int | None, number: int) -> InstructionRecord | None:
        if block is None or number == NO_INSTRUCTION:
            return None
        instructions: Sequence[InstructionRecord] = self._blocks.block(block).instructions
        return instructions[number]
