"""Results in files: what --json printed, a baseline, or a recording, which is counted here."""

from __future__ import annotations

import json
from pathlib import Path

from pfmon.errors import PfmonError
from pfmon.library.api import replay
from pfmon.library.baseline import from_object
from pfmon.program.objects import shown_name
from pfmon.report.difference import Cycles, Result, difference
from pfmon.session.cpi import PARTS
from pfmon.stream.file import MAGIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Any, Unpack

    from pfmon.library.keywords import Keywords
    from pfmon.report.difference import Difference


def diff(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    *,
    options_b: Mapping[str, Any] | None = None,
    **options: Unpack[Keywords],
) -> Difference:
    """What differs from A to B, files of any of these kinds. ``options`` say how recordings are counted, ``options_b``
    what is different for B. PfmonError: a file cannot be read, is none of these, or options are given that no file
    takes. Recordings are counted with the events of the other side if no events are given, and for their cycles."""
    paths = [Path(a), Path(b)]
    given: list[dict[str, Any]] = [{**options}, {**options, **(options_b or {})}]
    read = [None if _is_recording(path) else _read(path) for path in paths]
    for side, found, words in zip("AB", read, given, strict=True):
        if found is not None and words and words != dict(options):
            raise PfmonError(f"{found.path}: options for {side} say how a recording is counted, and this is none")
    if options and all(found is not None for found in read):
        raise PfmonError("options say how recordings are counted, and neither file is one")
    names = next((list(found.counts) for found in read if found is not None), [])
    sides = [
        found or _counted(path, {"events": names, **words})
        for path, found, words in zip(paths, read, given, strict=True)
    ]
    return difference(*sides)


def _is_recording(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise PfmonError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def _read(path: Path) -> Result:
    """What --json or --save-baseline wrote. Before results there may be lines that the program printed."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        found = _parsed(text)
        if "counts" in found:
            baseline = from_object(found)
            machine = _machine(baseline.machine, baseline.changes)
            return Result(str(path), "baseline", baseline.command, baseline.pmu, machine, baseline.counts)
        if "core" in found:
            raise PfmonError(f"{path}: results of two programs at once; what is compared is one's: an item of threads")
        return _results(str(path), found)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise PfmonError(f"{path}: neither results (--json), nor a baseline, nor a recording") from None


def _parsed(text: str) -> dict[str, Any]:
    """The object in a text. ValueError: there is none."""
    start = text.lstrip()
    try:
        found = json.loads(start)
    except ValueError:
        found = json.loads(text.rstrip().rpartition("\n")[2])
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def _machine(name: str, changes: Any) -> str:
    return ", ".join([name, *changes])


def _results(path: str, found: Mapping[str, Any]) -> Result:
    """What Run.to_dict has."""
    profile = found["profile"] or {}
    by_function: dict[str, dict[str, Any]] = {}
    for row in profile.get("functions") or ():
        for event, count in zip(profile["events"], row["counts"], strict=True):
            by_function.setdefault(event, {})[_shown(row)] = count
    machine = _machine(found["machine"]["name"], found["machine"]["changes"])
    counts = {event["name"]: event["count"] for event in reversed(found["events"])}
    in_order = {event["name"]: counts[event["name"]] for event in found["events"]}
    return Result(
        path,
        "results",
        found["command"],
        found["pmu"],
        machine,
        in_order,
        _cycles(found["report"]) if found["report"] else None,
        by_function,
    )


def _shown(row: Mapping[str, Any]) -> str:
    return shown_name(row["name"], row["object"] or "")


def _cycles(report: Mapping[str, Any]) -> Cycles:
    """What Cpi.to_dict has; functions of one name are one."""
    functions: dict[str, tuple[int, ...]] = {}
    for row in report["functions"]:
        name, counts = _shown(row), (*(row["cycles"][part] for part in PARTS), row["instructions"])
        before = functions.get(name, (0,) * len(counts))
        functions[name] = tuple(x + y for x, y in zip(before, counts, strict=True))
    parts = {part: of["of"] for part, of in report["parts"].items()}
    return Cycles(report["cycles"], report["instructions"], parts, functions)


def _counted(path: Path, options: dict[str, Any]) -> Result:
    """A recording, counted for its cycles, and for events if there are any."""
    machine = {name: value for name, value in options.items() if name in OF_MACHINES}
    found = replay(path, report="cpi", **machine).to_dict()
    if options["events"]:
        counted = replay(path, **{"unlimited": True, "per_function": True, **options}).to_dict()
        found = {**counted, "report": found["report"]}
    return _results(str(path), found)._replace(kind="recording")


OF_MACHINES = ("pmu", "machine", "set", "symbol_file", "debug_dir", "no_demangle", "sysroot", "partial")
"""Options that are not about events."""
