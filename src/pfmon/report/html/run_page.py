"""The HTML page of a run: its counts and the data collected for the report, in one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pfmon.program.source_texts import SourceTexts
from pfmon.report.html.page import D3, FLAME, PLOT, page
from pfmon.report.html.sample_tree import SampleTree
from pfmon.report.html.source_files import SourceFiles
from pfmon.report.html.timeline_data import timeline_data
from pfmon.report.programming_record import ProgrammingRecord, programming_lines
from pfmon.session.profile.call_graph import CallGraph
from pfmon.session.profile.code_profile import Function, ProfileRow, Source
from pfmon.session.profile.cpi_causes import PARTS
from pfmon.session.profile.cpi_stack import CpiStack
from pfmon.session.profile.data_areas import Area
from pfmon.session.profile.largest_causes import LargestCause
from pfmon.session.profile.omissions import omissions_line
from pfmon.session.profile.top_down import TopDown
from pfmon.session.run.programmed_pmu import Count, ThreadCounts, Value
from pfmon.session.run.report_collector import CollectedReport, DataView
from pfmon.version import VERSION

SCRIPTS = (
    *("flame.js", "run_functions.js", "run_findings.js", "run_sources.js", "run_code.js", "run_timeline.js"),
    *("run_memory.js", "run.js"),
)
MAX_CALLS = 8000
"""Maximum number of pairs of caller and callee: those with most cycles."""
MAX_LOAD_PLACES = 1000
"""Maximum number of lines whose loads missed: those with the largest latencies."""
MAX_CHART_POINTS = 1500
"""Maximum number of intervals of a curve over time; further ones are joined."""


def run_page(
    surveyed: CollectedReport,
    command: Sequence[str],
    pmu: str,
    ending: str,
    notes: Sequence[str],
    programming: ProgrammingRecord,
    counts: Sequence[Count] = (),
    events: Sequence[str] = (),
    by_function: Sequence[ProfileRow] = (),
    intervals: Sequence[tuple[int, Sequence[Value]]] | None = None,
    descriptions: Mapping[str, str] | None = None,
    samples: SampleTree | None = None,
    threads: Sequence[ThreadCounts] | None = None,
    kept: Mapping[str, str] | None = None,
) -> str:
    """The file's text. ``ending``: how the program ended; ``events``: those of ``by_function`` and ``intervals``;
    ``descriptions``: by event; ``kept``: texts of source files by path, of a recording."""
    data = run_data(
        *(surveyed, command, pmu, ending, notes, programming, counts, events, by_function, intervals, descriptions),
        samples,
        threads,
        kept,
    )
    return page(f"pfmon: {data['title']}", data, SCRIPTS, (D3, PLOT, FLAME))


def run_data(
    surveyed: CollectedReport,
    command: Sequence[str],
    pmu: str,
    ending: str,
    notes: Sequence[str],
    programming: ProgrammingRecord,
    counts: Sequence[Count] = (),
    events: Sequence[str] = (),
    by_function: Sequence[ProfileRow] = (),
    intervals: Sequence[tuple[int, Sequence[Value]]] | None = None,
    descriptions: Mapping[str, str] | None = None,
    samples: SampleTree | None = None,
    threads: Sequence[ThreadCounts] | None = None,
    kept: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The data of a run's page; arguments as `run_page` has them."""
    files = SourceFiles(SourceTexts("", *surveyed.places.folders, kept=kept))
    functions = FunctionNumbers(surveyed.cpi)
    name = command[0].rpartition("/")[2]
    sources: dict[tuple[str, int], int] = {}
    return {
        "pfmon": VERSION,
        "title": f"{name} on {surveyed.cpi.machine}",
        "command": list(command),
        "pmu": pmu,
        "ending": ending,
        "notes": list(notes),
        "programming": programming_lines(programming),
        "figures": [[name, value] for name, value in sorted(surveyed.figures.items())],
        "given": list(surveyed.figures.given),
        "cpi": cpi_data(surveyed.cpi),
        "causes": [_cause(cause, functions, files) for cause in surveyed.causes],
        "counts": [_count(count, descriptions or {}) for count in counts],
        "intervals": _intervals(events, intervals) if intervals else None,
        "functions": {"events": list(events) if by_function else [], "rows": _functions(surveyed.cpi, by_function)},
        "python": [[row.name, row.object, row.address, *row.cycles, row.instructions] for row in surveyed.cpi.python],
        "threads": _threads(surveyed, threads or ()),
        "lines": [[files.number(one.file, one.line), one.line, *one.counts] for one in surveyed.places.lines],
        "listings": _listings(surveyed, sources),
        "sources": [[files.number(file, line), line] for file, line in sources],
        "timelines": [timeline_data(one) for one in surveyed.timelines],
        "calls": _calls(surveyed),
        "graph": _graph(surveyed.graph, functions),
        "samples": samples.to_data() if samples else None,
        "data": _memory(surveyed.data, functions, files),
        "files": files.to_data(),
    }


class FunctionNumbers:
    """The positions of functions in the page's table."""

    def __init__(self, cpi: CpiStack) -> None:
        self._numbers = {(row.name, row.address, row.object): number for number, row in enumerate(cpi.functions)}

    def of(self, function: Function | None) -> int:
        """Return a function's position; -1: it is not in the table."""
        return self._numbers.get((function.name, function.address, function.object), -1) if function else -1


def cpi_data(cpi: CpiStack) -> dict[str, Any]:
    """Return the cycle breakdown in the pages' format."""
    return {
        "machine": cpi.machine,
        "cycles": cpi.cycles,
        "instructions": cpi.instructions,
        "parts": [{"name": part, "of": list(cpi.parts[part].items())} for part in PARTS],
        "ratios": list(cpi.ratios.items()),
        "omissions": omissions_line(cpi.omissions),
        "top_down": _top_down(cpi.top_down) if cpi.top_down else None,
    }


def _top_down(found: TopDown) -> dict[str, Any]:
    """Return what the slots went to: rows of a node of level 1, one of level 2, slots (null: not known)."""
    rows = [[part, name, slots] for part, of in found.parts.items() for name, slots in of.items()]
    return {"slots": found.slots, "width": found.width, "measured": found.measured, "rows": rows}


def _count(count: Count, descriptions: Mapping[str, str]) -> dict[str, Any]:
    return {**count.to_dict(), "description": descriptions.get(count.name, "")}


def _intervals(events: Sequence[str], intervals: Sequence[tuple[int, Sequence[Value]]]) -> dict[str, Any]:
    """Return events, milliseconds of an interval, number of intervals joined to a row, rows: end in nanoseconds,
    counts. The value of a formula over joined intervals is their mean."""
    joined = -(-len(intervals) // MAX_CHART_POINTS)
    rows = []
    for first in range(0, len(intervals), joined):
        some = intervals[first : first + joined]
        columns = zip(*(values for _, values in some), strict=True)
        rows.append([some[-1][0], *(_together(column) for column in columns)])
    return {"events": list(events), "milliseconds": intervals[0][0] / 1e6, "joined": joined, "rows": rows}


def _together(column: Sequence[Value]) -> Value:
    numbers = [value for value in column if value is not None]
    if any(isinstance(value, float) for value in numbers):
        return sum(numbers) / len(numbers)
    return sum(numbers) if numbers else None


def _functions(cpi: CpiStack, by_function: Sequence[ProfileRow]) -> list[list[Any]]:
    """Return a row for each function: name, address, shared object, cycles by part, instructions, counts of events."""
    counted = {(row.name, row.address, row.object): row.values for row in by_function}
    nothing = (0,) * (len(by_function[0].values) if by_function else 0)
    return [
        [
            *(row.shown, f"{row.address:#x}", row.object, *row.cycles, row.instructions),
            *counted.get((row.name, row.address, row.object), nothing),
        ]
        for row in cpi.functions
    ]


def _cause(cause: LargestCause, functions: FunctionNumbers, files: SourceFiles) -> dict[str, Any]:
    source = cause.source
    return {
        "part": cause.part,
        "cause": cause.cause,
        "cycles": cause.cycles,
        "function": functions.of(cause.function),
        "name": str(cause.function) if cause.function else "",
        "in_function": cause.in_function,
        "source": [files.number(source.file, source.line), source.line] if source else None,
        "in_line": cause.in_line,
        "advice": cause.advice,
    }


def _threads(surveyed: CollectedReport, counted: Sequence[ThreadCounts]) -> list[dict[str, Any]]:
    """Return number, cycles by part and instructions of each of several threads, with the counts of the events, if each
    thread was counted."""
    if len(surveyed.threads) < 2:
        return []
    events = {thread.place: [count.value for count in thread.counts] for thread in counted}
    return [{"thread": number, "counts": counts, "events": events.get(number)} for number, counts in surveyed.threads]


def _graph(graph: CallGraph, functions: FunctionNumbers) -> dict[str, Any]:
    """Return cycles and instructions with callees, by number of the function, and calls: caller, callee, number of
    calls, cycles, instructions."""
    return {
        "inclusive": [[functions.of(function), *counts] for function, counts in graph.inclusive.items()],
        "edges": [
            [functions.of(edge.caller), functions.of(edge.callee), edge.calls, edge.cycles, edge.instructions]
            for edge in graph.edges[:MAX_CALLS]
        ],
    }


def _listings(surveyed: CollectedReport, sources: dict[tuple[str, int], int]) -> list[dict[str, Any]]:
    """Return the instructions of functions, with their source lines as numbers in ``sources``."""
    return [
        {
            "function": listing.function,
            "whole": listing.whole,
            "rows": [
                [
                    f"{one.address:x}",
                    one.text,
                    one.counts,
                    sources.setdefault((one.file, one.line), len(sources)) if one.file else -1,
                ]
                for one in listing.instructions
            ],
        }
        for listing in surveyed.places.listings
    ]


def _calls(surveyed: CollectedReport) -> dict[str, Any]:
    names: dict[str, int] = {}
    rows = [[row.parent, names.setdefault(row.name, len(names)), row.calls, *row.counts] for row in surveyed.calls]
    return {"names": list(names), "rows": rows}


def _memory(view: DataView, functions: FunctionNumbers, files: SourceFiles) -> dict[str, Any]:
    return {
        "areas": [_area(area) for area in view.areas],
        "places": _load_places(view, functions, files),
        "latencies": [[cycles, count] for cycles, count in enumerate(view.latencies) if count],
        "l3": view.l3,
        "memory": view.memory,
        "piece": view.piece,
    }


def _load_places(view: DataView, functions: FunctionNumbers, files: SourceFiles) -> list[list[Any]]:
    """Return loads that missed by source line, of code without lines by function: number of the function, of the file
    (-1: none), line, misses by level, latencies; those with the largest latencies first."""
    sums: dict[tuple[Function, Source | None], list[int]] = {}
    for one in view.instructions:
        known = sums.setdefault((one.function, one.source), [0, 0, 0, 0])
        sums[one.function, one.source] = [a + b for a, b in zip(known, (*one.misses, one.cycles), strict=True)]
    largest = sorted(sums.items(), key=lambda one: -one[1][3])[:MAX_LOAD_PLACES]
    return [
        [
            functions.of(function),
            *((files.number(source.file, source.line), source.line) if source else (-1, 0)),
            *counts,
        ]
        for (function, source), counts in largest
    ]


def _area(area: Area) -> list[Any]:
    """Return name, kind, beginning, bytes, misses by level, latencies, TLB misses, and for each part its first and last
    address, misses and latencies."""
    first, last = area.reached
    step = (last + 1 - first) / len(area.parts)
    ends = [first + round(number * step) for number in range(len(area.parts) + 1)]
    parts = [
        [f"{start:#x}", f"{end - 1:#x}", *counts]
        for start, end, counts in zip(ends, ends[1:], area.parts, strict=False)
    ]
    size = area.end - area.start
    return [area.name, area.kind, f"{area.start:#x}", size, *area.misses, area.cycles, area.translations, parts]
