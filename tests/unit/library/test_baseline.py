"""Baselines in files: what was written is read, and anything else is one line."""

import json
from pathlib import Path
from typing import Any

import pytest
from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from pfmon.cli.command_line import read as read_words
from pfmon.errors import PfmonError
from pfmon.library.resolving.machine_selection import processor_of
from pfmon.library.results.baseline import Baseline, baseline_of, differences, read

COUNTS = {"A": 1, "B": 1 << 70, "C": 1.5, "D": None}
GOOD = Baseline(["sort", "500"], "itanium2", "itanium2", [], {}, COUNTS)
JSON: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def of(*words: str) -> Baseline:
    """The baseline that a command makes, without running it; its events are A."""
    line = read_words(["-e", "a", *words])
    return baseline_of(line.command, processor_of(line.options), line.options, {"A": 1})


def refusal(path: Path) -> str:
    with pytest.raises(PfmonError) as error:
        read(str(path), "--baseline=FILE")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    made = of(
        "--irange=main",
        "--trigger-data-start-addresses=x",
        "--trigger-data-ro",
        "--set=l3.size=1536k",
        "sort",
        "\udcff",
    )
    for one in (GOOD, made):
        path.write_text(one.to_text())
        assert read(str(path), "") == one
        assert list(differences(read(str(path), ""), one)) == []


def test_a_file_that_is_not_there_says_how_it_is_made(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert f"--save-baseline={path} makes it" in refusal(path)


@each("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"pfmon": "0.1.0"}', b"9" * 5000, b"mine"])
def test_another_file_is_no_baseline(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert "this is no baseline" in refusal(path)


def test_a_directory_is_no_baseline(tmp_path: Path) -> None:
    assert "is a directory" in refusal(tmp_path)


@each("value", ["NaN", "Infinity", "1e999", "-1", "true", '"5"', "[1]"])
def test_what_is_no_count_makes_no_baseline(value: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    text = GOOD._replace(counts={"A": 12345}).to_text()
    path.write_text(text.replace("12345", "0"))
    read(str(path), "")
    path.write_text(text.replace("12345", value))
    assert "this is no baseline" in refusal(path)


@pytest.mark.slow
@examples(200)
@given(st.sampled_from(Baseline._fields), JSON)
def test_any_value_of_a_key_is_read_or_one_line(name: str, value: object) -> None:
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile("w") as file:
        json.dump({"pfmon": "0.1.0", **GOOD._asdict(), name: value}, file)
        file.flush()
        try:
            found = read(file.name, "--baseline=FILE")
        except PfmonError as error:
            assert "this is no baseline" in str(error)
        else:
            assert all("\n" not in reason or "\n" in str(found) for reason in differences(found, GOOD))


@each(
    ("words", "reason"),
    [
        (("sort", "501"), "it is of sort 500, and this is sort 501"),
        (("sort", "500", "x"), "this is sort 500 x"),
        (("--pmu=montecito", "sort", "500"), "--pmu=itanium2, and this is montecito"),
        (("--set=l3.size=1536k", "sort", "500"), "and this is itanium2 with l3.size=1536k"),
        (("--irange=main", "sort", "500"), "(--irange)"),
        (("-k", "--event-thresholds=2", "sort", "500"), "(--event-thresholds, --levels)"),
        (("--machine=itanium2", "--unlimited", "--per-function", "sort", "500"), ""),
    ],
)
def test_counts_of_something_else_are_not_compared(words: tuple[str, ...], reason: str) -> None:
    found = list(differences(of("sort", "500"), of(*words)))
    assert [reason in one for one in found] == ([True] if reason else [])


def test_an_event_that_is_missing_is_named() -> None:
    assert list(differences(GOOD, GOOD._replace(counts={"A": None, "X": None}))) == ["there is no X in it"]


def test_where_files_are_does_not_matter() -> None:
    assert list(differences(of("/build/1/sort", "/tmp/1/in"), of("./sort", "in"))) == []
    assert list(differences(of("/"), of("sort"))) != []
