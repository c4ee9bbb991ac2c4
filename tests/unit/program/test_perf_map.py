"""Perf maps: names of generated code, the last one where pieces of code overlap, and no others' maps."""

import os
import time
from pathlib import Path

import pytest

from pfmon.program import perf_map
from pfmon.program.perf_map import PerfMap, symbols


def named(text: bytes) -> list[tuple[int, int, str]]:
    return [(one.address, one.size, one.name) for one in symbols(text)]


def test_lines_are_start_size_and_name_with_spaces() -> None:
    assert named(b"7f00 20 JS:*f /a b.js:1\n8f00 1 x\n") == [(0x7F00, 0x20, "JS:*f /a b.js:1"), (0x8F00, 1, "x")]


def test_code_written_last_takes_the_place_of_what_it_overlaps() -> None:
    text = b"1000 100 old\n1200 10 kept\n1080 100 new\n1000 80 fits\n"
    assert named(text) == [(0x1000, 0x80, "fits"), (0x1080, 0x100, "new"), (0x1200, 0x10, "kept")]


@pytest.mark.parametrize("line", [b"x 1 a", b"1 a", b"10 0 empty", b"ffffffffffffffff 2 beyond", b"\0\xff", b""])
def test_lines_that_name_no_code_are_left_out(line: bytes) -> None:
    assert named(line + b"\n1000 1 \xff\n") == [(0x1000, 1, "\\xff")]


@pytest.fixture(name="folder")
def maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(perf_map, "FOLDER", tmp_path)
    return tmp_path


def test_the_map_of_a_process_counts_if_it_was_written_since(folder: Path) -> None:
    (folder / "perf-1000.map").write_text("1000 10 before\n")
    long_ago = time.time() - 100
    os.utime(folder / "perf-1000.map", (long_ago, long_ago))
    one = PerfMap(1000)
    assert PerfMap(1000).table.nearest(0x1000) is None
    (folder / "perf-1000.map").write_text("1000 10 now\n")
    found = one.table.nearest(0x1008)
    assert found and str(found) == "now+0x8"
    assert one.table.nearest(0x1010) is None


def test_of_an_unknown_process_the_only_new_map_counts(folder: Path) -> None:
    one, two = PerfMap(None), PerfMap(None)
    (folder / "perf-7.map").write_text("1000 10 seven\n")
    assert one.table.nearest(0x1000)
    (folder / "perf-8.map").write_text("1000 10 eight\n")
    assert two.table.nearest(0x1000) is None
