"""Differences of two results: counts, cycles by cause, functions, and source lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from pfmon.program.loaded_objects import shown_name
from pfmon.report.differences.difference_matching import FunctionKey, LineKey, matched_functions, matched_lines
from pfmon.session.run.programmed_pmu import Value

Row = TypeVar("Row")
THRESHOLD = Fraction(1, 200)
"""The share of all counts of an event below which the change of a function, or of a line, is one of many small ones."""
CYCLES = "cycles"
"""The name of the broken-down cycles in thresholds."""
ALL = "all cycles"


class ComparedLine(NamedTuple):
    """A source line: its text (None: not found), the function of its code, its cycles by part, then instructions."""

    text: str | None
    function: str
    counts: tuple[int, ...]


class ComparedCycles(NamedTuple):
    """The cycle breakdown of a result: by part and component, and by function: cycles by part, then instructions;
    by source line, as far as the file has that."""

    cycles: int
    instructions: int
    parts: Mapping[str, Mapping[str, int]]
    functions: Mapping[FunctionKey, tuple[int, ...]]
    lines: Mapping[LineKey, ComparedLine] = {}


class ComparedResult(NamedTuple):
    """One side. ``kind``: results (--json), recording, or baseline; ``counts`` by event; ``by_function``, ``by_line``:
    by event, then by function or line; ``engine``: that of the run (EngineRecord.to_dict). Data that a file lacks is
    empty, or None."""

    path: str
    kind: str
    command: Sequence[str]
    pmu: str
    machine: str
    counts: Mapping[str, Value]
    cycles: ComparedCycles | None = None
    by_function: Mapping[str, Mapping[FunctionKey, Value]] = {}
    by_line: Mapping[str, Mapping[LineKey, Value]] = {}
    engine: Mapping[str, Any] = {}

    @property
    def texts(self) -> dict[LineKey, str | None]:
        """The texts of all lines; None: unknown."""
        found: dict[LineKey, str | None] = {key: None for lines in self.by_line.values() for key in lines}
        return found | {key: line.text for key, line in (self.cycles.lines if self.cycles else {}).items()}

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

    @property
    def growth(self) -> int | float:
        """B minus A; a missing value counts as 0."""
        return (self.b or 0) - (self.a or 0)

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
    has no such function). ``key``: the function in A, or in B alone."""

    name: str
    cycles: Pair
    instructions: Pair
    parts_a: Sequence[int] | None
    parts_b: Sequence[int] | None
    key: FunctionKey

    def to_dict(self) -> dict[str, Any]:
        """Return name, cycles and instructions (Pair.to_dict), parts_a, parts_b."""
        pairs = {"cycles": self.cycles.to_dict(), "instructions": self.instructions.to_dict()}
        return {"name": self.name, **pairs, "parts_a": self.parts_a, "parts_b": self.parts_b}


class LinePlace(NamedTuple):
    """A source line on both sides: its number and text, None on a side without it (a text also if it was not found)."""

    file: str
    object: str
    line_a: int | None
    line_b: int | None
    text_a: str | None
    text_b: str | None

    @property
    def name(self) -> str:
        """FILE:LINE, with the shared object; of a line that has moved with both numbers."""
        moved = None not in (self.line_a, self.line_b) and self.line_a != self.line_b
        number = f"{self.line_a} -> {self.line_b}" if moved else self.line_a or self.line_b
        return shown_name(f"{self.file.rpartition('/')[2]}:{number}", self.object)


class ChangedLine(NamedTuple):
    """A source line whose counts differ. ``function``: of its code ("": unknown); ``counts``: its cycles, or those of
    an event; ``instructions`` and cycles by part: of the cycle breakdown."""

    place: LinePlace
    function: str
    counts: Pair
    instructions: Pair | None = None
    parts_a: Sequence[int] | None = None
    parts_b: Sequence[int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return name, file, object (null: the program itself), line_a, line_b, text_a, text_b, function, counts
        (Pair.to_dict), instructions (the same; null: of an event), parts_a, parts_b."""
        return {
            "name": self.place.name,
            **self.place._asdict(),
            "object": self.place.object or None,
            "function": self.function or None,
            "counts": self.counts.to_dict(),
            "instructions": self.instructions and self.instructions.to_dict(),
            "parts_a": self.parts_a,
            "parts_b": self.parts_b,
        }


class Difference(NamedTuple):
    """``counts`` in the order of A, then those of B alone; ``causes``, ``functions`` and ``lines`` are empty unless
    both sides have cycles; ``by_event``, ``lines_by_event``: for each event that both sides split, the functions, and
    the lines, whose counts differ. Functions and lines with the largest difference come first. ``threshold``: the share
    of an event's counts (in capitals; "": of others) below which changes are small."""

    a: ComparedResult
    b: ComparedResult
    counts: Sequence[Pair]
    causes: Sequence[CauseDifference]
    functions: Sequence[Changed]
    by_event: Mapping[str, Sequence[Pair]]
    lines: Sequence[ChangedLine] = ()
    lines_by_event: Mapping[str, Sequence[ChangedLine]] = {}
    threshold: Mapping[str, Fraction] = {"": THRESHOLD}

    @property
    def parts(self) -> list[str]:
        """The parts of the cycles, in order."""
        return [cause.name for cause in self.causes if not cause.part and cause.name != ALL]

    def total(self, event: str) -> Pair:
        """Return the counts of an event, or those of all cycles."""
        if event == CYCLES and self.causes:
            return self.causes[0].cycles
        return next((pair for pair in self.counts if pair.name == event), Pair(event, None, None))

    def share(self, event: str) -> Fraction:
        """Return the threshold of an event."""
        return self.threshold.get(event.upper(), self.threshold.get("", THRESHOLD))

    def parted(self, event: str, rows: Sequence[Row], counts: Callable[[Row], Pair]) -> tuple[list[Row], list[Row]]:
        """Return rows that change by the threshold of the larger total or more, and those that change by less."""
        total = self.total(event)
        least = self.share(event) * Fraction(max(total.a or 0, total.b or 0))
        large = [row for row in rows if abs(counts(row).growth) >= least]
        return large, [row for row in rows if abs(counts(row).growth) < least]

    def to_dict(self) -> dict[str, Any]:
        """Return the object that --json prints: conclusion (a sentence), threshold (percent, by event), a and b
        (ComparedResult.to_dict), counts, causes, functions, by_event, lines, lines_by_event (their to_dict)."""
        from pfmon.report.differences.difference_conclusion import conclusion

        return {
            "conclusion": conclusion(self),
            "threshold": {name or "all": float(100 * share) for name, share in self.threshold.items()},
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "counts": [pair.to_dict() for pair in self.counts],
            "causes": [cause.to_dict() for cause in self.causes],
            "functions": [one.to_dict() for one in self.functions],
            "by_event": {event: [pair.to_dict() for pair in pairs] for event, pairs in self.by_event.items()},
            "lines": [line.to_dict() for line in self.lines],
            "lines_by_event": {
                event: [line.to_dict() for line in lines] for event, lines in self.lines_by_event.items()
            },
        }


def difference(a: ComparedResult, b: ComparedResult, threshold: Mapping[str, Fraction] | None = None) -> Difference:
    """Return the differences from A to B."""
    cycles = (a.cycles, b.cycles) if a.cycles and b.cycles else None
    partner = matched_lines(a.texts, b.texts)
    return Difference(
        a,
        b,
        [Pair(name, a.counts.get(name), b.counts.get(name)) for name in {**a.counts, **b.counts}],
        list(_causes(*cycles)) if cycles else [],
        _functions(*cycles) if cycles else [],
        {event: _changed(a.by_function[event], b.by_function[event]) for event in _both(a.by_function, b.by_function)},
        _cycle_lines(*cycles, partner) if cycles else [],
        {event: _lines(a, b, event, partner) for event in _both(a.by_line, b.by_line)},
        threshold or {"": THRESHOLD},
    )


def _both(a: Mapping[str, object], b: Mapping[str, object]) -> list[str]:
    return [event for event in a if event in b]


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


Keys = tuple[FunctionKey | None, FunctionKey | None]


def _functions(a: ComparedCycles, b: ComparedCycles) -> list[Changed]:
    found = []
    for name, (key_a, key_b) in _named(matched_functions(a.functions, b.functions)):
        first = a.functions[key_a] if key_a else None
        second = b.functions[key_b] if key_b else None
        key = key_a or key_b
        if first == second or key is None:
            continue
        parts = first and first[:-1], second and second[:-1]
        found.append(Changed(name, *_pairs(name, first, second), *parts, key))
    return sorted(found, key=lambda one: (-abs(one.cycles.growth), -abs(one.instructions.growth), one.name))


def _pairs(name: str, a: Sequence[int] | None, b: Sequence[int] | None) -> tuple[Pair, Pair]:
    """Return the cycles and the instructions of rows of counts."""
    cycles = Pair(name, sum(a[:-1]) if a else None, sum(b[:-1]) if b else None)
    return cycles, Pair(name, a[-1] if a else None, b[-1] if b else None)


def _changed(a: Mapping[FunctionKey, Value], b: Mapping[FunctionKey, Value]) -> list[Pair]:
    named = _named(matched_functions(a, b))
    pairs = (Pair(name, a[one] if one else None, b[other] if other else None) for name, (one, other) in named)
    return sorted((pair for pair in pairs if pair.a != pair.b), key=lambda pair: (-abs(pair.growth), pair.name))


def _named(pairs: Sequence[Keys]) -> list[tuple[str, Keys]]:
    """Return the pairs with names: with the source file, where a name would stand for several; with both names, where
    these differ."""
    plain = [[shown_name(key.name, key.object) for key in keys if key] for keys in pairs]
    pairs_of = Counter(name for names in plain for name in set(names))
    found = []
    for names, keys in zip(plain, pairs, strict=True):
        files = [key.file for key in keys if key]
        shown = [
            f"{name} ({file})" if file and pairs_of[name] > 1 else name for name, file in zip(names, files, strict=True)
        ]
        found.append((" -> ".join(dict.fromkeys(shown)), keys))
    return found


def _cycle_lines(a: ComparedCycles, b: ComparedCycles, partner: Mapping[LineKey, LineKey]) -> list[ChangedLine]:
    found = []
    for one, other in _line_pairs(a.lines, b.lines, partner):
        first = a.lines.get(one) if one else None
        second = b.lines.get(other) if other else None
        counts_a, counts_b = first and first.counts, second and second.counts
        if counts_a == counts_b or not any((*(counts_a or ()), *(counts_b or ()))):
            continue
        place = _place(one, other, first and first.text, second and second.text)
        function = first.function if first else second.function if second else ""
        parts = counts_a and counts_a[:-1], counts_b and counts_b[:-1]
        found.append(ChangedLine(place, function, *_pairs(place.name, counts_a, counts_b), *parts))
    return _in_order(found)


def _lines(a: ComparedResult, b: ComparedResult, event: str, partner: Mapping[LineKey, LineKey]) -> list[ChangedLine]:
    of_a, of_b, texts_a, texts_b = a.by_line[event], b.by_line[event], a.texts, b.texts
    found = []
    for one, other in _line_pairs(of_a, of_b, partner):
        first, second = of_a.get(one) if one else None, of_b.get(other) if other else None
        if (first or 0) == (second or 0):
            continue
        place = _place(one, other, texts_a.get(one) if one else None, texts_b.get(other) if other else None)
        found.append(ChangedLine(place, "", Pair(place.name, first, second)))
    return _in_order(found)


def _line_pairs(
    a: Mapping[LineKey, object], b: Mapping[LineKey, object], partner: Mapping[LineKey, LineKey]
) -> list[tuple[LineKey | None, LineKey | None]]:
    taken = {partner[key] for key in a if key in partner}
    pairs: list[tuple[LineKey | None, LineKey | None]] = [(key, partner.get(key)) for key in a]
    return [*pairs, *((None, key) for key in b if key not in taken)]


def _place(a: LineKey | None, b: LineKey | None, text_a: str | None, text_b: str | None) -> LinePlace:
    known = a or b
    assert known
    return LinePlace(known.file, known.object, a and a.line, b and b.line, text_a, text_b)


def _in_order(lines: Sequence[ChangedLine]) -> list[ChangedLine]:
    return sorted(lines, key=lambda line: (-abs(line.counts.growth), line.counts.name))
