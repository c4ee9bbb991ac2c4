"""Results in files: output of --json, baselines, and recordings, which are counted here."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, TypeVar, Unpack

from pfmon.bounded_files import read_bounded
from pfmon.errors import PfmonError, reason
from pfmon.library.keywords import Keywords
from pfmon.library.results.baseline import from_object
from pfmon.library.results.json_values import a_count, a_list, a_number, a_shown_text, an_object
from pfmon.library.results.tolerances import tolerances
from pfmon.library.run_api import replay
from pfmon.pmu import get
from pfmon.report.differences.difference import (
    CYCLES,
    THRESHOLD,
    ComparedCycles,
    ComparedLine,
    ComparedResult,
    Difference,
    difference,
)
from pfmon.report.differences.difference_matching import FunctionKey, LineKey
from pfmon.session.profile.cpi_causes import PARTS
from pfmon.session.run.programmed_pmu import Value
from pfmon.stream.recording.recording_file import MAGIC


def diff(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    *,
    options_b: Mapping[str, Any] | None = None,
    threshold: str = "",
    **options: Unpack[Keywords],
) -> Difference:
    """Return the differences from A to B, files of any of these kinds. ``options`` are for counting recordings,
    ``options_b`` override them for B. Recordings are counted for their cycles, and for the events of the other side if
    none are given. ``threshold``: percentages of an event's counts, as --threshold has them, below which changes of
    functions and lines are small. PfmonError: a file cannot be read, is none of these, or options are given that no
    file needs."""
    paths = [Path(a), Path(b)]
    given: list[dict[str, Any]] = [{**options}, {**options, **(options_b or {})}]
    read = [None if is_recording(path) else read_result(path) for path in paths]
    for side, found, words in zip("AB", read, given, strict=True):
        if found is not None and words and words != dict(options):
            raise PfmonError(f"{found.path}: options for {side} are for recordings, and this is none")
    if options and all(found is not None for found in read):
        raise PfmonError("options are for recordings, and neither file is one")
    names = next((list(found.counts) for found in read if found is not None), [])
    sides = [
        found or counted_recording(path, {"events": names, **words})
        for path, found, words in zip(paths, read, given, strict=True)
    ]
    small = tolerances("--threshold", threshold, [CYCLES, *sides[0].counts, *sides[1].counts], THRESHOLD)
    return difference(sides[0], sides[1], {"": small.general, **small.by_event})


def is_recording(path: Path) -> bool:
    """Whether a file is a recording. PfmonError: it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise PfmonError(f"{path}: {reason(error)}") from None


def read_result(path: Path) -> ComparedResult:
    """Read output of --json or --save-baseline. Lines that the program printed may precede the results."""
    try:
        text = read_bounded(path).decode(errors="replace")
        found = _parsed(text)
        if "counts" in found:
            baseline = from_object(found)
            machine = _machine(baseline.machine, baseline.changes)
            command = [a_shown_text(word) for word in baseline.command]
            counts = {a_shown_text(name): count for name, count in baseline.counts.items()}
            pmu = a_shown_text(baseline.pmu)
            return ComparedResult(str(path), "baseline", command, pmu, machine, counts, engine=baseline.engine)
        if "core" in found:
            raise PfmonError(f"{path}: results of two programs; compare one item of threads")
        return results_of(str(path), found)
    except (OSError, ValueError, KeyError, RecursionError):
        raise PfmonError(f"{path}: neither results (--json), nor a baseline, nor a recording") from None


def _parsed(text: str) -> dict[str, Any]:
    """Return the JSON object in a text. ValueError: there is none."""
    start = text.lstrip()
    try:
        found = json.loads(start)
    except ValueError:
        found = json.loads(text.rstrip().rpartition("\n")[2])
    return an_object(found)


def _machine(name: object, changes: object) -> str:
    return ", ".join(map(a_shown_text, [name, *a_list(changes)]))


def results_of(path: str, found: Mapping[str, Any]) -> ComparedResult:
    """The contents of Run.to_dict."""
    machine = an_object(found["machine"])
    events = [(a_shown_text(an_object(one)["name"]), a_count(one["count"])) for one in a_list(found["events"])]
    counts = dict(reversed(events))
    return ComparedResult(
        path,
        "results",
        [a_shown_text(word) for word in a_list(found["command"])],
        a_shown_text(found["pmu"]),
        _machine(machine["name"], machine["changes"]),
        {name: counts[name] for name, _ in events},
        _cycles(an_object(found["report"])) if found["report"] else None,
        _by_place(an_object(found["profile"]), "functions", _function) if found["profile"] else {},
        _by_place(an_object(found["profile"]), "lines", _line) if found["profile"] else {},
        an_object(found.get("engine") or {}),
    )


Place = TypeVar("Place", bound=Hashable)


def _by_place(
    profile: Mapping[str, Any], table: str, place: Callable[[Mapping[str, Any]], Place | None]
) -> dict[str, dict[Place, Value]]:
    """The counts of a table of a profile by event, then by place; rows of the same place are added."""
    events = [a_shown_text(event) for event in a_list(profile["events"])]
    found: dict[str, dict[Place, Value]] = {}
    for row in map(an_object, a_list(profile.get(table) or [])):
        key = place(row)
        for event, count in zip(events, a_list(row["counts"]), strict=True):
            if key is not None:
                before, value = found.setdefault(event, {}).get(key), a_count(count)
                found[event][key] = value if before is None or value is None else before + value
    return found


def _function(row: Mapping[str, Any]) -> FunctionKey:
    return FunctionKey(a_shown_text(row["name"]), _object(row), a_shown_text(row.get("file") or ""))


def _line(row: Mapping[str, Any]) -> LineKey | None:
    """The line of a row by line; None: it is of a function."""
    file, _, number = a_shown_text(row["name"]).rpartition(":")
    return LineKey(file, int(number), _object(row)) if file and number.isdecimal() and len(number) < 10 else None


def _object(row: Mapping[str, Any]) -> str:
    return a_shown_text(row["object"] or "").rpartition("/")[2]


def _cycles(report: Mapping[str, Any]) -> ComparedCycles:
    """Return the cycles in an object of Cpi.to_dict, merging functions of the same name and file."""
    functions: dict[FunctionKey, tuple[int, ...]] = {}
    for row in map(an_object, a_list(report["functions"])):
        key, counts = _function(row), _row(row)
        before = functions.get(key, (0,) * len(counts))
        functions[key] = tuple(x + y for x, y in zip(before, counts, strict=True))
    lines = {
        LineKey(a_shown_text(row["file"]), a_number(row["line"]), _object(row)): ComparedLine(
            None if row["text"] is None else a_shown_text(row["text"]), a_shown_text(row["function"]), _row(row)
        )
        for row in map(an_object, a_list(report.get("lines") or []))
    }
    parts = {
        a_shown_text(part): {
            a_shown_text(name): a_number(cycles) for name, cycles in an_object(an_object(of)["of"]).items()
        }
        for part, of in an_object(report["parts"]).items()
    }
    return ComparedCycles(a_number(report["cycles"]), a_number(report["instructions"]), parts, functions, lines)


def _row(row: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the cycles by part, then the instructions."""
    cycles = an_object(row["cycles"])
    return (*(a_number(cycles[part]) for part in PARTS), a_number(row["instructions"]))


def counted_recording(path: Path, options: dict[str, Any]) -> ComparedResult:
    """Count a recording's cycles and instructions, and its events if any are given."""
    machine = {name: value for name, value in options.items() if name in OF_MACHINES}
    found = replay(path, report="cpi", per_line=True, **machine).to_dict()
    if options["events"]:
        counted = replay(path, **{"unlimited": True, "per_function": True, "per_line": True, **options}).to_dict()
        found = {**counted, "report": found["report"]}
    else:
        names = get(found["pmu"]).target.default_events
        totals = [found["report"][total] for total in ("cycles", "instructions")]
        found["events"] = [{"name": name, "count": total} for name, total in zip(names, totals, strict=True)]
    return results_of(str(path), found)._replace(kind="recording")


OF_MACHINES = ("pmu", "machine", "set", "symbol_file", "debug_dir", "no_demangle", "sysroot", "partial")
"""Options that concern no events."""
