"""The cycle breakdown of a run: figure 3-2 of the Montecito manual (cpi_causes.py), for the run and by function.

Every cycle either retires an instruction or is a back-end bubble of one cause, the latest in the pipeline (section
3.2.1.4), so the parts add up to the cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from pfmon.counting._counting import CountAccumulator, Increments, MachineTotals, QueryKind, add_totals
from pfmon.counting.totals.counting_unit import stack_rate
from pfmon.counting.totals.record_query import RecordQuery, names, query_of
from pfmon.machine.config.machine_figures import IN_ORDER, OUT_OF_ORDER, MachineFigures
from pfmon.pmu.qualify.filters import FilteredSignal, InstructionFilter
from pfmon.program.loaded_objects import LoadedObjects, shown_name
from pfmon.session.profile.code_profile import NO_CODE, Function, FunctionNames
from pfmon.session.profile.cpi_causes import INHERENT, OF_ONE_CORE, PARTS
from pfmon.session.profile.cpi_lines import LineRow, cycle_lines
from pfmon.session.profile.dataframes import frame
from pfmon.session.profile.omissions import Omission, mentioned, omissions_of, together
from pfmon.session.profile.top_down import IssueSlots, TopDown, top_down
from pfmon.session.profile.top_down import together as slots_together
from pfmon.session.run.programmed_pmu import RunData

RATIOS: dict[str, dict[str, tuple[str, str, int]]] = {
    IN_ORDER: {
        "L1D read misses per read": ("l1d_read_misses.all", "l1d_reads", 1),
        "L2 data misses per reference": ("l2d_misses", "l2d_references.all", 1),
        "L3 misses per reference": ("l3_misses", "l3_references", 1),
        "L1I misses per fetch": ("l2i_demand_reads", "l1i_reads", 1),
        "data TLB misses per 1000 instructions": ("l2dtlb_misses", "", 1000),
        "mispredicted branches per branch": ("branches.mispredicted", "branches.all", 1),
    },
    OUT_OF_ORDER: {
        "L1D misses per 1000 instructions": ("l1d_misses", "", 1000),
        "L1I misses per 1000 instructions": ("l1i_misses", "", 1000),
        "last-level cache misses per reference": ("llc_misses", "llc_references", 1),
        "data TLB misses per 1000 instructions": ("dtlb_misses", "", 1000),
        "mispredicted branches per branch": ("branches.mispredicted", "branches.all", 1),
    },
}
"""Kind of core -> name -> signal, divisor's signal ("": retired instructions), factor."""


class FunctionRow(NamedTuple):
    """A function's cycles, by part in the order of PARTS, its instructions, the path of its shared object, and the
    source file of a static one."""

    name: str
    address: int
    cycles: tuple[int, ...]
    instructions: int
    object: str = ""
    file: str = ""

    @property
    def shown(self) -> str:
        """The name in tables."""
        return shown_name(self.name, self.object)

    def to_dict(self) -> dict[str, Any]:
        """Return name, address, object (null: the program itself), file (of a static function; else null),
        instructions, cycles by part."""
        return {
            "name": self.name,
            "address": self.address,
            "object": self.object or None,
            "file": self.file or None,
            "instructions": self.instructions,
            "cycles": dict(zip(PARTS, self.cycles, strict=True)),
        }


class CpiStack(NamedTuple):
    """The breakdown of a run: cycles by part and by what the part consists of; None: a ratio of nothing. ``terms``:
    what each ratio is of, its factor among the first."""

    machine: str
    cycles: int
    instructions: int
    parts: dict[str, dict[str, int]]
    ratios: dict[str, float | None]
    functions: list[FunctionRow]
    terms: Mapping[str, tuple[int, int]] = {}
    omissions: Sequence[Omission] = ()
    """Parts of the program that the model omits."""
    lines: Sequence[LineRow] | None = None
    """By source line, if that is wanted."""
    python: Sequence[FunctionRow] = ()
    """Python functions with the native code that they call, where those are counted; the address is the first line."""
    top_down: TopDown | None = None
    """Dispatch slots of an out-of-order core, by node; None for an in-order core."""

    def total(self, part: str) -> int:
        """Return the cycles of a part."""
        return sum(self.parts[part].values())

    def to_dict(self, text: Callable[[str, int], str | None] = lambda file, line: None) -> dict[str, Any]:
        """Keys: report, machine, cycles, instructions, parts (name -> cycles and components), ratios, omissions (text,
        share), functions (FunctionRow.to_dict), lines (null, or LineRow.to_dict), python (as functions: the address
        is the first line, the object the file), top_down (null, or TopDown.to_dict). ``text``: that of a line."""
        per_cycle = self.instructions / self.cycles if self.cycles else None
        return {
            "report": "cpi",
            "machine": self.machine,
            "cycles": self.cycles,
            "instructions": self.instructions,
            "parts": {part: {"cycles": self.total(part), "of": inner} for part, inner in self.parts.items()},
            "ratios": {"instructions per cycle": per_cycle, **self.ratios},
            "omissions": [one.to_dict() for one in mentioned(self.omissions)],
            "functions": [row.to_dict() for row in self.functions],
            "lines": None if self.lines is None else [row.to_dict(text(row.file, row.line)) for row in self.lines],
            "python": [row.to_dict() for row in self.python],
            "top_down": self.top_down.to_dict() if self.top_down else None,
        }

    def _repr_html_(self) -> str:
        """Return the parts for a notebook: cycles, cycles an instruction, share."""
        from pfmon.session.profile.notebook_tables import html_table

        rows = [("all cycles", self.cycles), *((part, self.total(part)) for part in self.parts)]
        shares = [(name, own, own / (self.instructions or 1), f"{own / (self.cycles or 1):.1%}") for name, own in rows]
        return html_table(("cycles by cause", "cycles", "an instruction", "share"), shares, self.machine)

    def to_pandas(self) -> Any:
        """Return a DataFrame: a row for each function, with its instructions and its cycles by part."""
        rows = self.functions
        parts = {part: [row.cycles[place] for row in rows] for place, part in enumerate(PARTS)}
        instructions = [row.instructions for row in rows]
        return frame({"name": [row.name for row in rows], "instructions": instructions, **parts}, "name")


def breakdown(
    figures: MachineFigures, seen: RunData, objects: LoadedObjects, demangle: bool = True, lines: bool = False
) -> CpiStack:
    """Return the breakdown of a run recorded by a machine and a tally, also by source line if ``lines``. The components
    of PARTS, followed by the retired instructions, are counted like the monitors of a PMU."""
    queries = [
        RecordQuery(QueryKind.CYCLES, retiring=not causes, causes=sum(1 << cause for cause in causes))
        for _, causes in _pieces()
    ]
    sink = counted(seen, queries, by_place=True)
    totals = sink.totals()
    instructions = totals.pop()
    pieces = iter(totals)
    of_others = OF_ONE_CORE[OUT_OF_ORDER if figures.core == IN_ORDER else IN_ORDER]
    found = {part: {name: next(pieces) for name in inner} for part, inner in PARTS.items()}
    parts = {part: {name: of for name, of in inner.items() if name not in of_others} for part, inner in found.items()}
    terms = {name: _terms(seen, instructions, *ratio) for name, ratio in RATIOS[figures.core].items()}
    cycles = sum(sum(inner.values()) for inner in found.values())
    lookup = FunctionNames(objects, demangle, seen.table.instruction_set)
    functions = _functions(sink, lookup)
    left_out = omissions_of(seen.records.machine) if seen.records else ()
    return CpiStack(
        *(str(figures["machine.name"]), cycles, instructions, parts, _ratios(terms), functions, terms, left_out),
        cycle_lines(sink, lookup, _part_of) if lines else None,
        top_down=_top_down(figures, seen, found, instructions) if figures.core == OUT_OF_ORDER else None,
    )


def _top_down(
    figures: MachineFigures, seen: RunData, found: Mapping[str, Mapping[str, int]], instructions: int
) -> TopDown | None:
    """Return what the slots of a run went to; None: there was no machine."""
    if seen.records is None:
        return None
    counted = getattr(seen.records.machine, "issue_slots", lambda: None)()
    cycles = {name: of for inner in found.values() for name, of in inner.items()}
    return top_down(figures, cycles, instructions, IssueSlots(*counted) if counted else None)


def of_all(found: Sequence[tuple[str, CpiStack]]) -> CpiStack:
    """The breakdown of several programs on equal machines together, each with its path, which names its functions."""
    some = [cpi for _, cpi in found]
    parts = {
        part: {name: sum(cpi.parts[part][name] for cpi in some) for name in inner}
        for part, inner in some[0].parts.items()
    }
    terms = {
        name: (sum(cpi.terms[name][0] for cpi in some), sum(cpi.terms[name][1] for cpi in some))
        for name in some[0].terms
    }
    rows: dict[tuple[str, str], FunctionRow] = {}
    for path, cpi in found:
        for row in cpi.functions:
            key = row.name, row.object or path
            known = rows.get(key, FunctionRow(row.name, row.address, (0,) * len(PARTS), 0, key[1]))
            cycles = tuple(a + b for a, b in zip(known.cycles, row.cycles, strict=True))
            rows[key] = known._replace(cycles=cycles, instructions=known.instructions + row.instructions)
    return CpiStack(
        *(some[0].machine, sum(cpi.cycles for cpi in some), sum(cpi.instructions for cpi in some), parts),
        *(_ratios(terms), _in_order(rows.values()), terms),
        together([(cpi.instructions, cpi.omissions) for cpi in some]),
        top_down=slots_together([cpi.top_down for cpi in some if cpi.top_down]) if some[0].top_down else None,
    )


def _functions(sink: CountAccumulator, lookup: FunctionNames) -> list[FunctionRow]:
    """Return cycles and instructions by function, the one with most cycles first."""
    functions: dict[Function, list[int]] = {}
    found = [(Function(NO_CODE, 0), sink.outside_blocks())]
    for file in sorted(sink.files()):
        boundaries = lookup.boundaries(file)
        for piece, counts in sink.by_piece(boundaries, file).items():
            found.append((lookup.row(boundaries[piece - 1] if piece else 0, file), counts))
    for function, counts in found:
        if not any(counts):
            continue
        row = functions.setdefault(function, [0] * (len(PARTS) + 1))
        row[-1] += counts[-1]
        for number, cycles in enumerate(counts[:-1]):
            row[_part_of(number)] += cycles
    rows = [
        FunctionRow(one.name, one.address, tuple(row[:-1]), row[-1], one.object, one.file)
        for one, row in functions.items()
    ]
    return _in_order(rows)


def _in_order(rows: Iterable[FunctionRow]) -> list[FunctionRow]:
    return sorted(rows, key=lambda row: (-sum(row.cycles), row.address, row.object))


def counted(seen: RunData, queries: Sequence[RecordQuery], by_place: bool = False) -> CountAccumulator:
    """Return the counts of the record queries, followed by the retired instructions."""
    open_filter = InstructionFilter()
    sink = CountAccumulator(len(queries) + 1, seen.table, by_place)
    if seen.records:
        behind = Increments([*(FilteredSignal(query.signal, open_filter, False) for query in queries), NOTHING])
        rate = stack_rate(seen.records.figures)
        found = MachineTotals(seen.records.machine, [*queries, RecordQuery()], behind, seen.table, rate)
        found.add(sink, seen.records.event_sets)
    if seen.tally:
        retired = Increments([*(NOTHING for _ in queries), FilteredSignal("inst_retired", open_filter, False)])
        add_totals(seen.tally, retired, sink)
    return sink


def _retired(seen: RunData, signal: str) -> int:
    """Return a signal's count as far as architecture decides it."""
    sink = CountAccumulator(1, seen.table)
    if seen.tally:
        add_totals(seen.tally, Increments([FilteredSignal(signal, InstructionFilter(), False)]), sink)
    return sink.totals()[0]


NOTHING = FilteredSignal("", InstructionFilter(), False)


def part_queries() -> list[RecordQuery]:
    """Return a record query for each of PARTS, in order: the cycles of all its components."""
    causes = [0] * len(PARTS)
    for number, (_, of) in enumerate(_pieces()):
        causes[_part_of(number)] |= sum(1 << cause for cause in of)
    return [
        RecordQuery(QueryKind.CYCLES, retiring=part == INHERENT, causes=of)
        for part, of in zip(PARTS, causes, strict=True)
    ]


def _pieces() -> list[tuple[str, frozenset[int]]]:
    """Return the components of all parts, in order, with the numbers of their causes."""
    causes = names("cycle")
    return [
        (name, frozenset(causes[cause] for cause in causes if any(fnmatchcase(cause, pattern) for pattern in patterns)))
        for inner in PARTS.values()
        for name, patterns in inner.items()
    ]


def _part_of(piece: int) -> int:
    """Return the number of a component's part."""
    return [number for number, inner in enumerate(PARTS.values()) for _ in inner][piece]


def _ratios(terms: Mapping[str, tuple[int, int]]) -> dict[str, float | None]:
    return {name: above / below if below else None for name, (above, below) in terms.items()}


def _terms(seen: RunData, instructions: int, above: str, below: str, factor: int) -> tuple[int, int]:
    """Numerator and denominator of a ratio."""

    def totals(*signals: str) -> list[int]:
        return counted(seen, [query_of(signal, 0, False, None) for signal in signals]).totals()[:-1]

    if below == "branches.all":
        divisor = _retired(seen, below)
    else:
        divisor = totals(below)[0] if below else instructions
    return factor * totals(above)[0], divisor
