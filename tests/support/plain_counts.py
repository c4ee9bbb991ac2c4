"""A plain recount of what a machine recorded: what monitors count, one cycle and one occurrence after the other.

It reads records as Python gives them (groups, bubbles, occurrences, dispersal, levels), kinds and terms of
signals/machine.csv and signals/retired.csv, and nothing of what counting compiles them to.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple, Protocol

from pfmon.counting.totals.counting_unit import MachineRecords
from pfmon.counting.totals.record_query import DISPERSAL
from pfmon.machine._machine import Cause, FrontCause, Occurrence
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.qualify.qualifier import Qualifier
from pfmon.signals import machine_signals, signal_terms
from pfmon.stream._stream import Ia64Kind
from pfmon.stream.recording.block_records import BlockRecord, InstructionRecord

NOBODY = 255
NOWHERE = 2**64 - 16  # a bundle that no program has: where something happened that no retired instruction caused

Place = tuple[int | None, int]
"""The number of a block (None: none), and of an instruction in it (or NOBODY)."""
Part = tuple[int | None, int, int, int, Sequence[tuple[int, int, int, int]]]
"""Instructions of a block that issued together: block, first, last, which executed (bit 0: the first), notes."""

BACK, FRONT, IDEAL, LOST, ENTRANCE = range(5)
BUBBLES = {"front": FRONT, "ideal": IDEAL, "lost": LOST, "entrance": ENTRANCE}
MOVED = {
    "loads_retired": ("L1D_READ",),
    "stores_retired": ("L2_DATA_WRITE",),
    "data_references": ("L1D_READ", "L2_DATA_WRITE"),
    "rse_references.all": ("L1D_READ", "L2_DATA_WRITE"),
    "rse_references.load": ("L1D_READ",),
    "rse_references.store": ("L2_DATA_WRITE",),
}
FAILED_CHECKS = {"loads_retired": ("L1D_READ", "L2_DATA_READ"), "loads_retired.integer": ("L1D_READ",)}


class Recorded(Protocol):
    """What a machine recorded of a run."""

    def time(self) -> tuple[int, int]:
        """Cycles of the core and of the bus."""

    def kernel_clock(self) -> int:
        """Cycles of the bus at level 0."""

    def occurrences(self) -> Mapping[tuple[int | None, int, int, int], int]:
        """(block, instruction, occurrence, 1 if in the data ranges) -> times."""

    def bubbles(self, kind: int) -> Sequence[tuple[int | None, int, int, int]]:
        """(block, instruction, cause, cycles or bundles) of one kind of bubbles."""

    def levels(self) -> Mapping[str, Sequence[int]]:
        """Name -> cycles at 0, 1, 2 ..."""

    def groups(self) -> Iterable[tuple[Sequence[Part], int]]:
        """What issued together in a cycle, and in how many cycles."""

    def dispersal(self) -> Iterable[tuple[int | None, int, int, int]]:
        """(block, last instruction, what dispersal left over, cycles) of the cycles in which something issued."""


class OfMachine:
    """The records of a machine that has finished, in some slots or in all: each is asked for once."""

    def __init__(self, records: MachineRecords) -> None:
        self._machine, self._slots = records.machine, records.event_sets
        self._bubbles: dict[int, Sequence[tuple[int | None, int, int, int]]] = {}

    def time(self) -> tuple[int, int]:
        return self._machine.time(self._slots)

    def kernel_clock(self) -> int:
        return self._machine.kernel_clock(self._slots)

    def occurrences(self) -> Mapping[tuple[int | None, int, int, int], int]:
        return self._occurrences

    @cached_property
    def _occurrences(self) -> Mapping[tuple[int | None, int, int, int], int]:
        return self._machine.occurrences(self._slots)

    def bubbles(self, kind: int) -> Sequence[tuple[int | None, int, int, int]]:
        if kind not in self._bubbles:
            self._bubbles[kind] = [*self._machine.records.bubbles(kind, self._slots)]
        return self._bubbles[kind]

    def levels(self) -> Mapping[str, Sequence[int]]:
        return self._machine.levels(self._slots)

    def groups(self) -> Iterable[tuple[Sequence[Part], int]]:
        return self._groups

    @cached_property
    def _groups(self) -> Sequence[tuple[Sequence[Part], int]]:
        return [(tuple(parts), cycles) for parts, cycles in self._machine.groups(self._slots)]

    def dispersal(self) -> Iterable[tuple[int | None, int, int, int]]:
        return self._dispersal

    @cached_property
    def _dispersal(self) -> Sequence[tuple[int | None, int, int, int]]:
        return [*self._machine.records.dispersal(self._slots)]


class Coded(NamedTuple):
    """Slot type and bits of an instruction, as opcode matchers see them: long ones are I-type (Montecito manual table
    3-11)."""

    slot: str
    encoding: int


def coded(instruction: InstructionRecord) -> Coded:
    encoding, _, unit = struct.unpack_from("<QQB", instruction.payload)
    return Coded("mifbi?"[min(unit, 5)], encoding)


class PlainCounts:
    """What a programmed PMU counts of a machine's records. ``block`` gives the record of a block, ``contents`` are the
    registers; ``stack_rate``: registers that the register stack engine moves in a cycle."""

    def __init__(
        self,
        recorded: Recorded,
        block: Callable[[int], BlockRecord],
        model: PmuModel,
        contents: Mapping[str, int],
        stack_rate: int,
    ) -> None:
        self.recorded = recorded
        self._block = block
        self._qualifier = Qualifier(model, dict(contents))
        self._in_ranges = self._qualifier.data_ranges() is not None
        self._rate = stack_rate
        self._passing: dict[tuple[str, Place], bool] = {}
        self._records: dict[int, BlockRecord] = {}

    def count(self, monitor: Monitor) -> int:
        """What a monitor counts."""
        return sum(increment for _, increment in self.increments(monitor))

    def by_place(self, monitor: Monitor) -> dict[Place, int]:
        """The same by instruction."""
        found: dict[Place, int] = {}
        for place, increment in self.increments(monitor):
            found[place] = found.get(place, 0) + increment
        return {place: count for place, count in found.items() if count}

    def increments(self, monitor: Monitor) -> Iterator[tuple[Place, int]]:
        """Where, and how many."""
        event = monitor.event
        ranged = self._in_ranges and event.dar
        kind, parts = machine_signals.meanings().get(event.signal, ("retired", ()))
        states = monitor.mesi if event.mesi else None
        if kind == "never":
            return
        if kind == "level":
            yield (None, NOBODY), sum(self._level(term, monitor.threshold) for term in parts)
        elif monitor.threshold or kind in ("per_cycle", "qualified", "stops"):
            yield from self._of_cycles(event, kind, parts, monitor.threshold, ranged, states)
        else:
            found = self._of_records(event, kind, ranged, states, monitor.plm)
            yield from (one for one in found if self._passes(event, one[0]))

    # --- without a look at single cycles

    def _of_records(
        self, event: Event, kind: str, ranged: bool, states: int | None, plm: int
    ) -> Iterator[tuple[Place, int]]:
        signal = event.signal
        if kind == "occurrence":
            numbers = occurrences_of(signal, states)
            for (block, instruction, number, inside), times in self.recorded.occurrences().items():
                if number in numbers and (inside or not ranged):
                    yield (block, instruction), times
        elif kind == "cycle":
            yield from self._cycles(signal, plm)
        elif kind in BUBBLES:
            wanted = machine_signals.select(signal, numbers_of(FrontCause))
            yield from self._lost(BUBBLES[kind], wanted)
        elif kind == "dispersal":
            yield from self._left(machine_signals.expanded(signal), lambda syllables: syllables)
        else:
            raise AssertionError(f"{signal}: {kind}")

    def _cycles(self, signal: str, plm: int) -> Iterator[tuple[Place, int]]:
        """The operating system's cycles are those of level 0, all others those of level 3."""
        named = machine_signals.named(signal)
        if "CLOCK" in named:
            kernel = self.recorded.kernel_clock()
            yield (None, NOBODY), (self.recorded.time()[1] - kernel) * (plm >> 3 & 1) + kernel * (plm & 1)
            return
        if plm & 8 and ("CORE" in named or "RETIRING" in named):
            yield from ((place, cycles) for place, cycles in self._left((), lambda _: 1))
        levels = {0: plm & 1, 3: plm & 8}
        wanted = set(range(64)) if "CORE" in named else machine_signals.select(signal, numbers_of(Cause))
        yield from self._lost(BACK, {cause for cause in wanted if levels[0 if cause == Cause["KERNEL"] else 3]})

    def _lost(self, kind: int, causes: Iterable[int]) -> Iterator[tuple[Place, int]]:
        wanted = set(causes)
        for block, instruction, cause, cycles in self.recorded.bubbles(kind):
            if cause in wanted:
                yield (block, instruction), cycles

    def _left(self, fields: Iterable[str], look: Callable[[int], int]) -> Iterator[tuple[Place, int]]:
        places = [DISPERSAL[field] for field in fields]
        for block, last, left, cycles in self.recorded.dispersal():
            yield (block, last), look(sum(left >> shift & mask for shift, mask in places)) * cycles

    def _level(self, term: str, threshold: int) -> int:
        function = machine_signals.level_function(term)
        histogram = self.recorded.levels()[function.level]
        values = [(function.of(value, len(histogram) - 1), cycles) for value, cycles in enumerate(histogram)]
        return sum(cycles * (value > threshold if threshold else value) for value, cycles in values)

    # --- cycle by cycle

    def _of_cycles(
        self, event: Event, kind: str, parts: Sequence[str], threshold: int, ranged: bool, states: int | None
    ) -> Iterator[tuple[Place, int]]:
        def look(increment: int) -> int:
            return int(increment > threshold) if threshold else increment

        if kind == "dispersal":
            fields = machine_signals.expanded(event.signal)
            yield from (one for one in self._left(fields, look) if self._passes(event, one[0]))
        elif kind == "stops":
            yield from self._sums(self._weigher(event, parts[0], ranged), lambda stops: stops)
            implicit = self._left(parts[1:], lambda syllables: int(syllables > 0))
            yield from (one for one in implicit if self._passes(event, one[0]))
        elif kind == "per_cycle":
            whole, high, low = machine_signals.per_cycle(parts[0])
            bits = (1 << high - low + 1) - 1
            yield from self._sums(self._weigher(event, whole, ranged), lambda total: look(total >> low & bits))
        elif kind == "qualified":
            yield from self._sums(self._weigher(event, "inst_retired", ranged), lambda total: min(total, 1))
        elif kind == "occurrence":
            yield from self._sums(self._noted(event, occurrences_of(event.signal, states), ranged), look)
        else:
            yield from self._sums(self._weigher(event, event.signal, ranged), look)
            if event.signal in MOVED:
                yield from self._moved(event, ranged, look)

    def _sums(self, adds: Callable[[Part], int], look: Callable[[int], int]) -> Iterator[tuple[Place, int]]:
        for parts, cycles in self.recorded.groups():
            if parts and (value := look(sum(map(adds, parts)))):
                yield (parts[-1][0], parts[-1][2]), value * cycles

    def _moved(self, event: Event, ranged: bool, look: Callable[[int], int]) -> Iterator[tuple[Place, int]]:
        """Registers that the register stack engine moves: so many a cycle, in cycles in which nothing issues."""
        adds = self._noted(event, {int(Occurrence[name]) for name in MOVED[event.signal]}, ranged)
        for parts, times in self.recorded.groups():
            if not parts:
                continue
            block, first, last, _, notes = parts[-1]
            if first > last and notes:
                full, rest = divmod(adds(parts[-1]), self._rate)
                yield (block, notes[0][0]), (full * look(self._rate) + look(rest)) * times

    def _weigher(self, event: Event, signal: str, ranged: bool) -> Callable[[Part], int]:
        """What the instructions of a part add to a signal of architecture."""
        checked = {int(Occurrence[name]) for name in FAILED_CHECKS.get(signal, ())}

        def adds(part: Part) -> int:
            block, first, last, executed, notes = part
            if block is None or first > last:
                return 0
            inside = {note[0] for note in notes if note[2]}
            failed = {note[0] for note in notes if note[1] in checked and (note[2] or not ranged)}
            total = 0
            for number in range(first, last + 1):
                if not self._passes(event, (block, number)):
                    continue
                one = self._record(block).instructions[number]
                total += number in failed and bool(one.isa_kind & Ia64Kind.LOAD_CHECK)
                always, when = weight(signal, one.kind, one.isa_kind)
                held = executed >> number - first & 1
                total += (held * when if number in inside else 0) if ranged else always + held * when
            return total

        return adds

    def _noted(self, event: Event, numbers: Iterable[int], ranged: bool) -> Callable[[Part], int]:
        """How often one of some occurrences happened to the instructions of a part."""
        wanted = set(numbers)

        def adds(part: Part) -> int:
            return sum(
                times
                for number, occurrence, inside, times in part[4]
                if occurrence in wanted and (inside or not ranged) and self._passes(event, (part[0], number))
            )

        return adds

    # --- qualification

    def _passes(self, event: Event, place: Place) -> bool:
        """What an event does not support does not constrain it (pfmon on Itanium 2, section 4.5)."""
        key = event.name, place
        if key not in self._passing:
            self._passing[key] = self._is_let_pass(event, place)
        return self._passing[key]

    def _is_let_pass(self, event: Event, place: Place) -> bool:
        channel = self._qualifier.channel(event)
        block, number = place
        nobody = block is None or number == NOBODY
        one = None if block is None or nobody else self._record(block).instructions[number]
        if event.iar and not self._qualifier.code_filter(channel).passes(one.address & ~15 if one else NOWHERE):
            return False
        opcodes = self._qualifier.opcode_filter(channel)
        if not event.opc or opcodes.everything:
            return True
        return opcodes.passes(*coded(one)) if one else not opcodes.mask and set(opcodes.slots) >= set("mifb")

    def _record(self, block: int) -> BlockRecord:
        if block not in self._records:
            self._records[block] = self._block(block)
        return self._records[block]


@cache
def weight(signal: str, kind: int, isa_kind: int) -> tuple[int, int]:
    """What an instruction of these kinds adds when it retires, and once more when it executes."""
    own = [
        term
        for term in signal_terms.terms()[signal]
        if term.source == signal_terms.INSTRUCTION and term.kinds.match(kind, isa_kind)
    ]
    return sum(term.retired for term in own), sum(term.executed for term in own)


def numbers_of(names: type[Cause] | type[FrontCause] | type[Occurrence]) -> dict[str, int]:
    return {name: int(value) for name, value in names.__members__.items()}


def occurrences_of(signal: str, states: int | None) -> set[int]:
    """``states``: only in these states of a line, a bit each from 0: I, S, E, M (Montecito manual table 3-6)."""
    chosen = machine_signals.select(signal, numbers_of(Occurrence))
    if states is None:
        return set(chosen)
    letters = [letter for bit, letter in enumerate("ISEM") if states >> bit & 1]
    return {number for number in chosen if Occurrence(number).name.endswith(tuple(f"_{one}" for one in letters))}
