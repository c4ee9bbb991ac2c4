"""firefox, by the published types of processed profiles of version 61 (Firefox Profiler, src/types/profile.ts)."""

import json
from pathlib import Path
from typing import Any

import pytest
from cpp_program import AREA, HEADER, MAIN_FILE, NAME, write_cpp_program
from exported import QUEENS, expected, export

# The columns of each table, and the table that a column of numbers of rows is about.
TABLES = {
    "stackTable": {"frame": "frameTable", "prefix": "stackTable"},
    "frameTable": {
        **dict.fromkeys(("address", "inlineDepth", "category", "subcategory", "innerWindowID", "line", "column"), ""),
        "func": "funcTable",
        "nativeSymbol": "nativeSymbols",
    },
    "funcTable": {
        **dict.fromkeys(("isJS", "relevantForJS", "lineNumber", "columnNumber"), ""),
        "name": "stringArray",
        "resource": "resourceTable",
        "source": "sources",
    },
    "resourceTable": {"lib": "libs", "name": "stringArray", "host": "stringArray", "type": ""},
    "nativeSymbols": {"libIndex": "libs", "address": "", "name": "stringArray", "functionSize": ""},
    "sources": {"id": "", "filename": "stringArray", "startLine": "", "startColumn": "", "sourceMapURL": "stringArray"},
}
META = {"interval", "startTime", "processType", "product", "stackwalk", "version", "markerSchema"}
THREAD = {
    *("processType", "processStartupTime", "processShutdownTime", "registerTime", "unregisterTime", "pausedRanges"),
    *("name", "isMainThread", "processName", "pid", "tid", "samples", "markers"),
}
MARKERS = {"data", "name", "startTime", "endTime", "phase", "category"}


@pytest.fixture(name="profile")
def queens(tmp_path: Path) -> Any:
    return json.loads(export(tmp_path / "profile.json", "firefox").read_text())


def frames(profile: Any, stack: int) -> list[int]:
    """The frames of a stack, the innermost first."""
    found, table = [], profile["shared"]["stackTable"]
    at: int | None = stack
    while at is not None:
        found.append(table["frame"][at])
        at = table["prefix"][at]
    return found


def test_tables_are_those_of_the_format(profile: Any) -> None:
    assert set(profile) == {"meta", "libs", "shared", "threads"}
    shared = profile["shared"]
    assert set(shared) == {*TABLES, "stringArray"}
    lengths = {name: shared[name]["length"] for name in TABLES}
    lengths |= {"libs": len(profile["libs"]), "stringArray": len(shared["stringArray"])}
    for name, columns in TABLES.items():
        assert set(shared[name]) == {*columns, "length"}
        for column, about in columns.items():
            cells = shared[name][column]
            assert len(cells) == lengths[name]
            assert not about or all(cell in (None, -1) or 0 <= cell < lengths[about] for cell in cells)
    prefixes = shared["stackTable"]["prefix"]
    assert all(prefix is None or prefix < number for number, prefix in enumerate(prefixes))
    assert len(set(shared["stringArray"])) == len(shared["stringArray"])


def test_what_describes_the_profile_is_complete(profile: Any) -> None:
    meta = profile["meta"]
    assert meta.keys() >= META and meta["preprocessedProfileVersion"] == 61
    assert meta["categories"][0]["color"] == "grey" and all(one["subcategories"] for one in meta["categories"])
    (library,) = profile["libs"]
    assert set(library) == {"arch", "name", "path", "debugName", "debugPath", "breakpadId", "codeId"}
    assert library["path"] == QUEENS[0]
    for thread in profile["threads"]:
        assert set(thread) == THREAD
        assert set(thread["markers"]) == {*MARKERS, "length"}
        assert set(thread["samples"]) == {"stack", "time", "weight", "weightType", "length"}
    assert [thread["isMainThread"] for thread in profile["threads"]] == [True, False]


@pytest.mark.slow
def test_a_thread_has_the_samples_of_an_event(profile: Any) -> None:
    shared = profile["shared"]
    base = 0x4000000000000000
    for thread in profile["threads"]:
        samples, found = thread["samples"], []
        for stack, time, weight in zip(samples["stack"], samples["time"], samples["weight"], strict=True):
            rows = frames(profile, stack)
            addresses = tuple(base + shared["frameTable"]["address"][frame] for frame in rows)
            functions = [shared["frameTable"]["func"][frame] for frame in rows]
            names = tuple(shared["stringArray"][shared["funcTable"]["name"][one]] for one in functions)
            found.append((addresses, names, round(time * 1_000_000), weight))
        assert samples["weightType"] == "samples" and samples["length"] == len(found)
        assert found == [
            (one.frames, one.functions, one.stamp, one.period) for one in expected() if one.event == thread["name"]
        ]


def test_frames_and_functions_have_lines(tmp_path: Path) -> None:
    program = str(write_cpp_program(tmp_path / "shapes"))
    words = ("-e", "ia64_inst_retired", "--long-smpl-periods=1")
    profile = json.loads(export(tmp_path / "profile.json", "firefox", *words, command=(program,)).read_text())
    shared = profile["shared"]
    table, functions, text = shared["frameTable"], shared["funcTable"], shared["stringArray"]
    files = [None if source is None else text[shared["sources"]["filename"][source]] for source in functions["source"]]
    names = [text[name] for name in functions["name"]]
    assert set(zip(names, files, functions["lineNumber"], strict=True)) == {("main", MAIN_FILE, 3), (NAME, HEADER, 11)}
    lines = {(names[func], line) for func, line in zip(table["func"], table["line"], strict=True)}
    # What was inlined from a header has no line of main.cpp.
    assert lines == {("main", 3), ("main", 4), ("main", None), ("main", 6), (NAME, 11), (NAME, 12)}
    start = AREA - 0x4000000000010000
    assert dict(zip(shared["nativeSymbols"]["address"], shared["nativeSymbols"]["functionSize"], strict=True)) == {
        0: 0x80,
        start: 0x20,
    }
