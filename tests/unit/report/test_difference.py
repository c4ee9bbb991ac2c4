"""Differences of two results: hand-made ones, whose differences are known, and properties of any."""

import json
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from grids import each
from hypothesis import given, settings
from hypothesis import strategies as st

from pfmon.report.differences.difference import (
    ComparedCycles,
    ComparedLine,
    ComparedResult,
    Difference,
    Pair,
    difference,
)
from pfmon.report.differences.difference_conclusion import conclusion
from pfmon.report.differences.difference_matching import FunctionKey, LineKey, aligned, matched_files, matched_functions
from pfmon.report.differences.difference_text import difference_text

PARTS = ("inherent execution", "data access", "branch mispredicts")
FILE = "/home/me/csv.c"


def side(
    functions: dict[FunctionKey, tuple[int, ...]], lines: dict[LineKey, ComparedLine] | None = None, path: str = "a"
) -> ComparedResult:
    """A result with these cycles by part, then instructions."""
    columns = [sum(column) for column in zip(*functions.values(), strict=True)] or [0] * (len(PARTS) + 1)
    parts = {part: {"": cycles} for part, cycles in zip(PARTS, columns, strict=False)}
    cycles = ComparedCycles(sum(columns[:-1]), columns[-1], parts, functions, lines or {})
    counts = {"cycles": cycles.cycles, "instructions": cycles.instructions}
    return ComparedResult(path, "recording", ["./csv"], "skylake", "skylake", counts, cycles)


def line(number: int, text: str | None, *counts: int, function: str = "parse") -> dict[LineKey, ComparedLine]:
    return {LineKey(FILE, number): ComparedLine(text, function, counts)}


PARSE, SPLIT, MAIN = FunctionKey("parse"), FunctionKey("split"), FunctionKey("main")
BEFORE = side(
    {PARSE: (1000, 2000, 7000, 4000), SPLIT: (500, 0, 0, 500), MAIN: (40, 0, 0, 40)},
    {
        **line(38, "while (*at) {", 500, 0, 0, 1000),
        **line(40, "if (*at == quote)", 500, 2000, 7000, 3000),
        **line(90, "return at;", 500, 0, 0, 500, function="split"),
    },
)
AFTER = side(
    {PARSE: (1000, 2000, 1000, 4000), FunctionKey("join"): (300, 0, 0, 300), MAIN: (41, 0, 0, 41)},
    {
        **line(39, "while (*at) {", 500, 0, 0, 1000),
        **line(41, "if (*at == quotes)", 500, 2000, 1000, 3000),
        **line(95, "memcpy(out, in, n);", 300, 0, 0, 300, function="join"),
    },
    "b",
)


def test_the_result_is_a_sentence() -> None:
    found = difference(BEFORE, AFTER)
    percent = 100 * (10540 - 4341) / 10540
    assert conclusion(found) == (
        f"B takes {percent:.1f}% fewer cycles: -6,000 in parse at csv.c:41, mostly mispredicted branches"
    )


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((100, 100), "A and B have the same number of loads: 100"),
        ((100, 112), "B has 12.0% more loads"),
        ((100_000, 99_999), "B has 0.001% fewer loads, which is below 0.5%"),
        ((0, 7), "B has 7 more loads"),
        ((None, 7), ""),
    ],
)
def test_results_without_cycles_are_concluded_by_their_first_event(counts: tuple[int | None, int], said: str) -> None:
    a, b = (ComparedResult("", "baseline", [], "", "", {"loads": count}) for count in counts)
    assert conclusion(difference(a, b)) == said


def test_lines_are_matched_across_an_edit() -> None:
    found = {one.counts.name: one for one in difference(BEFORE, AFTER).lines}
    assert set(found) == {"csv.c:40 -> 41", "csv.c:90", "csv.c:95"}
    edited = found["csv.c:40 -> 41"]
    assert edited.counts[1:] == (9500, 3500) and (edited.parts_a, edited.parts_b) == (
        (500, 2000, 7000),
        (500, 2000, 1000),
    )
    assert (edited.place.text_a, edited.place.text_b) == ("if (*at == quote)", "if (*at == quotes)")
    assert found["csv.c:90"].counts[1:] == (500, None) and found["csv.c:95"].counts[1:] == (None, 300)


def test_functions_of_one_side_alone_are_new_or_gone() -> None:
    text = difference_text(difference(BEFORE, AFTER), 20)
    assert "  split (gone)\n" in text and "  join (new)\n" in text
    assert "csv.c:90 (gone)  return at;\n" in text and "csv.c:95 (new)  memcpy(out, in, n);\n" in text
    assert "csv.c:40 -> 41  if (*at == quote)\n" in text and " now  if (*at == quotes)\n" in text
    assert "1 function changed by less than 0.5% of the cycles, together by +1\n" in text and "  main\n" not in text


@pytest.mark.parametrize(
    ("share", "kept"),
    [(0, {"parse", "split", "join", "main"}), (4, {"parse", "split"}), (50, {"parse"}), (100, set())],
)
def test_changes_below_the_threshold_are_small(share: int, kept: set[str]) -> None:
    found = difference(BEFORE, AFTER, {"": Fraction(share, 100)})
    large, small = found.parted("cycles", found.functions, lambda one: one.cycles)
    assert {one.name for one in large} == kept and len(large) + len(small) == 4
    of_cycles = difference(BEFORE, AFTER, {"": Fraction(1), "CYCLES": Fraction(share, 100)})
    assert of_cycles.parted("cycles", of_cycles.functions, lambda one: one.cycles) == (large, small)


@each(
    ("a", "b", "pairs"),
    [
        ([("f",)], [("f",)], [(0, 0)]),
        ([("f", "", "a.c"), ("f", "", "b.c")], [("f", "", "b.c"), ("f", "", "a.c")], [(0, 1), (1, 0)]),
        ([("f", "", "a.c"), ("f", "", "b.c")], [("f", "", "a.c"), ("f", "", "moved.c")], [(0, 0), (1, 1)]),
        ([("f", "", "a.c")], [("f",)], [(0, 0)]),
        ([("f", "", "a.c"), ("f", "", "b.c")], [("f",)], [(0, None), (1, None), (None, 0)]),
        ([("f", "libx.so.1")], [("f", "libx.so.2")], [(0, 0)]),
        ([("f", "libx.so.1")], [("f", "liby.so.1")], [(0, None), (None, 0)]),
        ([("parse(int)",)], [("parse(long)",)], [(0, 0)]),
        ([("parse(int)",), ("parse(char)",)], [("parse(long)",)], [(0, None), (1, None), (None, 0)]),
        ([("parse",)], [("parse.constprop.0",)], [(0, 0)]),
        ([("parse",)], [("parse",), ("parse.part.0",)], [(0, 0), (None, 1)]),
        ([("parse",)], [("parse.cold",)], [(0, None), (None, 0)]),
    ],
)
def test_functions_of_two_builds_are_matched(
    a: list[tuple[str, ...]], b: list[tuple[str, ...]], pairs: list[tuple[int | None, int | None]]
) -> None:
    first, second = [FunctionKey(*one) for one in a], [FunctionKey(*one) for one in b]
    found = matched_functions(first, second)
    assert found == [
        (None if one is None else first[one], None if other is None else second[other]) for one, other in pairs
    ]


def test_static_functions_of_one_name_have_their_files_in_tables() -> None:
    a = side({FunctionKey("turn", "", "one.c"): (10, 0, 0, 1), FunctionKey("turn", "", "two.c"): (20, 0, 0, 1)})
    b = side({FunctionKey("turn", "", "one.c"): (15, 0, 0, 1), FunctionKey("turn", "", "two.c"): (10, 0, 0, 1)})
    found = difference(a, b).functions
    assert {one.name: one.cycles.difference for one in found} == {"turn (one.c)": 5, "turn (two.c)": -10}


def test_files_are_matched_by_the_ends_of_their_paths() -> None:
    a = ["/a/v1/csv.c", "/a/v1/one/util.c", "/a/v1/two/util.c", "/usr/include/x.h", "/a/v1/old.c"]
    b = ["/a/v2/csv.c", "/a/v2/one/util.c", "/a/v2/two/util.c", "/usr/include/x.h", "/a/v2/new.c"]
    assert matched_files(a, b) == dict(zip(a[:-1], b[:-1], strict=True))


def test_lines_without_texts_are_matched_by_number() -> None:
    assert aligned({1: None, 5: None}, {5: None, 9: None}) == {5: 5}
    assert aligned({1: "x", 5: "y"}, {5: None}) == {5: 5}


texts = st.lists(st.sampled_from(["a = 1;", "b = 2;", "}", "f(a);", "f(b);", "f(a, b);", "return;"]), max_size=12)


def numbered(lines: list[str]) -> dict[int, str | None]:
    return dict(enumerate(lines, 1))


@given(texts, texts)
def test_alignment_is_in_order_and_the_same_both_ways(a: list[str], b: list[str]) -> None:
    found = aligned(numbered(a), numbered(b))
    assert sorted(found) == [*found] and sorted(found.values()) == [*found.values()]
    assert {other: one for one, other in found.items()} == aligned(numbered(b), numbered(a))
    assert aligned(numbered(a), numbered(a)) == {number: number for number in range(1, len(a) + 1)}


@given(st.lists(st.text("abcxyz();= ", max_size=9), max_size=12, unique=True), st.integers(0, 12))
def test_lines_behind_an_inserted_one_are_found(lines: list[str], place: int) -> None:
    edited = [*lines[:place], "MOVED(SOMEWHERE, 99);", *lines[place:]]
    found = aligned(numbered(lines), numbered(edited))
    assert [edited[other - 1] for other in found.values()] == lines


rows = st.tuples(*[st.integers(0, 50)] * 4)
keys = st.builds(
    FunctionKey,
    st.sampled_from(["f", "g", "g.part.0", "h(int)", "h(long)"]),
    st.sampled_from(["", "libx.so.1", "libx.so.2"]),
    st.sampled_from(["", "a.c", "b.c"]),
)
numbers = st.integers(1, 9)
lines = st.dictionaries(
    st.builds(LineKey, st.sampled_from(["/v1/x.c", "/v2/x.c", "/v1/y.h"]), numbers, st.sampled_from(["", "libx.so.1"])),
    st.builds(ComparedLine, st.sampled_from(["a = 1;", "a = 2;", "}", "f(a);"]), st.just("f"), rows),
    max_size=8,
)
sides = st.builds(side, st.dictionaries(keys, rows, max_size=6), lines)


@given(sides)
def test_a_result_differs_in_nothing_from_itself(one: ComparedResult) -> None:
    found = difference(one, one)
    assert not found.functions and not found.lines
    assert all(pair.difference == 0 for pair in found.counts)
    assert "no function differs\n" in difference_text(found, 20) and "the same number of cycles" in conclusion(found)


def flipped(pair: Pair) -> tuple[object, ...]:
    return pair.b, pair.a


def ends(name: str) -> frozenset[str]:
    return frozenset(name.split(" -> "))


@pytest.mark.slow
@settings(max_examples=200)
@given(sides, sides)
def test_differences_are_negative_the_other_way_round(a: ComparedResult, b: ComparedResult) -> None:
    there, back = difference(a, b), difference(b, a)
    assert {pair.name: (pair.a, pair.b) for pair in there.counts} == {pair.name: flipped(pair) for pair in back.counts}
    assert functions(there, back=False) == functions(back, back=True)
    assert line_changes(there, back=False) == line_changes(back, back=True)
    assert sum(one.cycles.growth for one in there.functions) == there.total("cycles").growth
    json.dumps(there.to_dict())


def functions(found: Difference, back: bool) -> list[tuple[Any, ...]]:
    shown = [
        (ends(one.name), *(flipped(one.cycles) if back else one.cycles[1:]), one.parts_b if back else one.parts_a)
        for one in found.functions
    ]
    return sorted(shown, key=lambda row: (sorted(row[0]), str(row[1:])))  # equal sets differ as text


def line_changes(found: Difference, back: bool) -> list[tuple[object, ...]]:
    shown = [
        (
            *((one.place.line_b, one.place.line_a) if back else (one.place.line_a, one.place.line_b)),
            *(flipped(one.counts) if back else one.counts[1:]),
            one.parts_b if back else one.parts_a,
        )
        for one in found.lines
    ]
    return sorted(shown, key=str)


def test_every_pair_of_sides_has_a_text() -> None:
    nothing = ComparedResult("c", "baseline", [], "", "", {})
    for a, b in product((BEFORE, AFTER, nothing), repeat=2):
        assert difference_text(difference(a, b), 1).startswith("A: ")
