"""Differences of two results: counts, cycles by cause, and functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pfmon.session.run.programmed_pmu import Value


class ComparedCycles(NamedTuple):
    """The cycle breakdown of a result: by part and component, and by function (its name with its shared object): cycles
    by part, then instructions."""

    cycles: int
    instructions: int
    parts: Mapping[str, Mapping[str, int]]
    functions: Mapping[str, tuple[int, ...]]


class ComparedResult(NamedTuple):
    """One side. ``kind``: results (--json), recording, or baseline; ``counts`` by event; ``by_function``: by event,
    then by function. Data that a file lacks is empty, or None."""

    path: str
    kind: str
    command: Sequence[str]
    pmu: str
    machine: str
    counts: Mapping[str, Value]
    cycles: ComparedCycles | None = None
    by_function: Mapping[str, Mapping[str, Value]] = {}

    def to_dict(self) -> dict[str, Any]:
        """Return path, kind, command, pmu, machine."""
        return {name: getattr(self, name) for name in ("path", "kind", "command", "pmu", "machine")}


class Pair(NamedTuple):
    """A value on both sides; None on a side without it."""

    name: str
    a: Value
    b: Value

    @property
    def difference(self) -> Value:
        """B minus A."""
        return None if self.a is None or self.b is None else self.b - self.a

    @property
    def change(self) -> float | None:
        """The difference as a fraction of A; None if undefined."""
        return None if self.difference is None or not self.a else self.difference / self.a

    def to_dict(self) -> dict[str, Any]:
        """Return name, a, b, difference, change (null if undefined)."""
        return {"name": self.name, "a": self.a, "b": self.b, "difference": self.difference, "change": self.change}


class CauseDifference(NamedTuple):
    """The cycles of one cause, a component of ``part`` ("": a part itself), and its cycles per instruction."""

    name: str
    part: str
    cycles: Pair
    cpi: Pair

    def to_dict(self) -> dict[str, Any]:
        """Return name, part (null: it is a part itself), cycles and cpi (Pair.to_dict)."""
        pairs = {"cycles": self.cycles.to_dict(), "cpi": self.cpi.to_dict()}
        return {"name": self.name, "part": self.part or None, **pairs}


class Changed(NamedTuple):
    """A function that differs between the sides: its cycles, its instructions, and its cycles by part (None: the side
    has no such function)."""

    name: str
    cycles: Pair
    instructions: Pair
    parts_a: Sequence[int] | None
    parts_b: Sequence[int] | None

    def to_dict(self) -> dict[str, Any]:
        """Return name, cycles and instructions (Pair.to_dict), parts_a, parts_b."""
        pairs = {"cycles": self.cycles.to_dict(), "instructions": self.instructions.to_dict()}
        return {"name": self.name, **pairs, "parts_a": self.parts_a, "parts_b": self.parts_b}


class Difference(NamedTuple):
    """``counts`` in the order of A, then those of B alone; ``causes`` and ``functions`` are empty unless both sides
    have cycles; ``by_event``: for each event that both sides split, the functions whose counts differ. Functions with
    the largest difference come first."""

    a: ComparedResult
    b: ComparedResult
    counts: Sequence[Pair]
    causes: Sequence[CauseDifference]
    functions: Sequence[Changed]
    by_event: Mapping[str, Sequence[Pair]]

    @property
    def parts(self) -> list[str]:
        """The parts of the cycles, in order."""
        return [cause.name for cause in self.causes if not cause.part and cause.name != ALL]

    def to_dict(self) -> dict[str, Any]:
        """Return the object that --json prints: a and b (Result.to_dict), counts, causes, functions, by_event (their
        to_dict)."""
        return {
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "counts": [pair.to_dict() for pair in self.counts],
            "causes": [cause.to_dict() for cause in self.causes],
            "functions": [one.to_dict() for one in self.functions],
            "by_event": {event: [pair.to_dict() for pair in pairs] for event, pairs in self.by_event.items()},
        }


ALL = "all cycles"


def difference(a: ComparedResult, b: ComparedResult) -> Difference:
    """Return the differences from A to B."""
    both = a.cycles is not None and b.cycles is not None
    events = [event for event in a.by_function if event in b.by_function]
    return Difference(
        a,
        b,
        [Pair(name, a.counts.get(name), b.counts.get(name)) for name in {**a.counts, **b.counts}],
        list(_causes(a.cycles, b.cycles)) if a.cycles and b.cycles else [],
        _functions(a.cycles, b.cycles) if both and a.cycles and b.cycles else [],
        {event: _changed(a.by_function[event], b.by_function[event]) for event in events},
    )


def _causes(a: ComparedCycles, b: ComparedCycles) -> Iterator[CauseDifference]:
    def cause(name: str, part: str, first: int, second: int) -> CauseDifference:
        cpi = Pair(name, _per(first, a.instructions), _per(second, b.instructions))
        return CauseDifference(name, part, Pair(name, first, second), cpi)

    yield cause(ALL, "", a.cycles, b.cycles)
    for part in {**a.parts, **b.parts}:
        first, second = a.parts.get(part, {}), b.parts.get(part, {})
        yield cause(part, "", sum(first.values()), sum(second.values()))
        inner = {**first, **second}
        for name in inner if len(inner) > 1 else ():
            if first.get(name) or second.get(name):
                yield cause(name, part, first.get(name, 0), second.get(name, 0))


def _per(above: int, below: int) -> float | None:
    return above / below if below else None


def _functions(a: ComparedCycles, b: ComparedCycles) -> list[Changed]:
    found = []
    for name in {**a.functions, **b.functions}:
        first, second = a.functions.get(name), b.functions.get(name)
        if first == second:
            continue
        cycles = Pair(name, sum(first[:-1]) if first else None, sum(second[:-1]) if second else None)
        instructions = Pair(name, first[-1] if first else None, second[-1] if second else None)
        found.append(Changed(name, cycles, instructions, first and first[:-1], second and second[:-1]))
    return sorted(found, key=lambda one: (-_size(one.cycles), -_size(one.instructions), one.name))


def _changed(a: Mapping[str, Value], b: Mapping[str, Value]) -> list[Pair]:
    pairs = (Pair(name, a.get(name), b.get(name)) for name in {**a, **b})
    return sorted((pair for pair in pairs if pair.a != pair.b), key=lambda pair: (-_size(pair), pair.name))


def _size(pair: Pair) -> float:
    """Return the size of a difference; a missing value counts as 0."""
    return abs((pair.b or 0) - (pair.a or 0))
