"""Checks of counts against those of an earlier state: verdicts, text, Markdown."""

from fractions import Fraction

import pytest

from pfmon.report.baseline_table import Change
from pfmon.report.differences.check import Check, verdict
from pfmon.report.differences.check_text import check_markdown, check_text
from pfmon.report.differences.difference import ComparedResult, Pair, difference
from pfmon.report.differences.difference_matching import FunctionKey


def result(path: str, **counts: int) -> ComparedResult:
    """A side with two functions that have all instructions."""
    first = min(counts["instructions"], 600)
    functions = {
        FunctionKey("parse(a|b)", "", ""): first,
        FunctionKey("scan", "", ""): counts["instructions"] - first,
    }
    return ComparedResult(path, "command", [path], "skylake", "skylake", counts, None, {"instructions": functions})


def checked(base: ComparedResult, new: ComparedResult, percent: int = 1) -> Check:
    both = [name for name in new.counts if name in base.counts]
    changes = [Change(name, base.counts[name], new.counts[name], Fraction(percent, 100)) for name in both]
    found = difference(base, new)
    return Check(changes, [pair for pair in found.counts if pair.name not in both], found)


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [(100, 100, "same"), (100, 101, "within"), (100, 99, "within"), (100, 102, "grew"), (100, 98, "shrank")],
)
def test_a_verdict_is_by_the_tolerance(before: int, now: int, said: str) -> None:
    assert verdict(Change("cycles", before, now, Fraction(1, 100))) == said


def test_the_text_names_the_event_and_the_function() -> None:
    found = checked(result("old", instructions=1000, cycles=50), result("new", instructions=1100, cycles=50))
    lines = [line.split() for line in check_text(found, 5).splitlines()]
    assert ["instructions", "1000", "1100", "+100", "+10.000%", "1%", "grew"] in lines
    assert ["cycles", "50", "50", "0", "+0.000%", "1%", "same"] in lines
    assert ["400", "500", "+100", "scan"] in lines
    assert not [line for line in lines if "parse(a|b)" in line]
    assert lines[-1] == ["instructions", "grew", "by", "more", "than", "the", "tolerance", "(1", "of", "2", "events)"]


def test_an_event_of_one_side_is_not_compared() -> None:
    found = checked(result("old", instructions=10, loads=5), result("new", instructions=10, stores=7))
    lines = [line.split() for line in check_text(found, 5).splitlines()]
    assert ["loads", "5", "-", "-", "-", "-", "not", "compared"] in lines
    assert ["stores", "-", "7", "-", "-", "-", "not", "compared"] in lines
    assert not found.to_dict()["grew"]


def test_markdown_rows_have_as_many_cells_as_the_heading() -> None:
    """Bars of names are escaped: those that are not end cells."""
    found = checked(result("a|b", instructions=500), result("new", instructions=1100))
    text = check_markdown(found, 5)
    assert text.startswith("### pfmon: instructions grew by more than the tolerance\n")
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert len(tables) == 2
    for table in tables:
        bars = [line.replace("\\|", "").count("|") for line in table]
        assert {*bars} == {bars[0]}
    assert "| `parse(a\\|b)` | 500 | 600 | +100 |" in text
    assert "`base: a|b, PMU skylake, machine skylake`" in text


def test_functions_beyond_the_limit_are_one_line() -> None:
    found = checked(result("old", instructions=500), result("new", instructions=1100))
    for text in (check_text(found, 1), check_markdown(found, 1)):
        assert "1 more, together by +100" in text
    assert found.grown_functions("instructions") == [Pair("scan", 0, 500), Pair("parse(a|b)", 500, 600)]


def test_functions_with_small_changes_are_one_line() -> None:
    """Below 0.5% of the event, as in pfmon diff."""
    found = checked(result("old", instructions=100_000), result("new", instructions=102_000))
    small = found.difference.by_event["instructions"][0]._replace(name="tiny", a=10, b=12)
    several = found.difference._replace(by_event={"instructions": [*found.difference.by_event["instructions"], small]})
    text = check_text(found._replace(difference=several), 5)
    assert "scan" in text
    assert "tiny" not in text
    assert "\n1 more, together by +2\n" in text


def test_json_has_numbers_and_verdicts() -> None:
    found = checked(result("old", instructions=1000), result("new", instructions=1100)).to_dict()
    assert found["grew"] is True
    assert found["events"] == [
        {
            "name": "instructions",
            "base": 1000,
            "new": 1100,
            "difference": 100,
            "change": 10.0,
            "tolerance": 1.0,
            "verdict": "grew",
        }
    ]
    assert [one["name"] for one in found["functions"]["instructions"]] == ["scan"]
