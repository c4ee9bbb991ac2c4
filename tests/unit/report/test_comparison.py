"""What grew, what shrank, and what stayed within its tolerance."""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pfmon.report.baseline_table import Change, compare, table

COUNTS = st.integers(0, 1 << 70)
PARTS = st.fractions(0, 3, max_denominator=1000)


def change(before: int | float | None, now: int | float | None, part: Fraction = Fraction(1, 100)) -> Change:
    return Change("EVENT", before, now, part)


def verdict(one: Change) -> str:
    return "grew" if one.grew else "shrank" if one.shrank else "stayed"


def test_the_tolerance_itself_is_still_allowed() -> None:
    assert [verdict(change(1000, now)) for now in (989, 990, 1000, 1010, 1011)] == [
        "shrank",
        "stayed",
        "stayed",
        "stayed",
        "grew",
    ]


def test_one_more_shows_in_a_count_that_no_float_holds() -> None:
    before = (1 << 60) + 1
    assert verdict(change(before, before + 1, Fraction(0))) == "grew"
    assert verdict(change(before, before, Fraction(0))) == "stayed"


def test_anything_is_more_than_nothing() -> None:
    assert verdict(change(0, 1, Fraction(5))) == "grew"
    assert verdict(change(0, 0, Fraction(0))) == "stayed"


def test_a_formula_that_is_undefined_on_one_side_grew() -> None:
    assert verdict(change(None, None)) == "stayed"
    assert verdict(change(None, 0.0)) == verdict(change(1.5, None)) == "grew"


@pytest.mark.slow
@given(COUNTS, COUNTS, PARTS)
def test_the_verdict_is_that_of_exact_arithmetic(before: int, now: int, part: Fraction) -> None:
    wanted = "grew" if now > before * (1 + part) else "shrank" if now < before * (1 - part) else "stayed"
    assert verdict(change(before, now, part)) == wanted


@pytest.mark.slow
@given(COUNTS, COUNTS, PARTS, PARTS)
def test_what_grew_also_grew_under_a_smaller_tolerance(before: int, now: int, part: Fraction, more: Fraction) -> None:
    assume(change(before, now, part + more).grew)
    assert change(before, now, part).grew and change(before, now, part).rose


@pytest.mark.slow
@given(st.dictionaries(st.text(min_size=1), st.tuples(COUNTS, COUNTS), min_size=1))
def test_each_counted_event_is_compared_with_its_own(counts: dict[str, tuple[int, int]]) -> None:
    before = {name: value for name, (value, _) in counts.items()} | {"": 3}  # and one that is not counted any more
    now = {name: value for name, (_, value) in counts.items()}
    found = compare(before, now, lambda name: Fraction(len(name)))
    assert [(one.name, one.before, one.now, one.tolerance) for one in found] == [
        (name, *values, len(name)) for name, values in counts.items()
    ]


def test_table_has_a_line_for_each_change() -> None:
    changes = [
        change(100, 150),
        Change("LONGER_NAME", 2_000_000, 1_000_000, Fraction(1, 40)),
        change(0, 7),
        change(0.5, 1.0),
    ]
    assert table(changes, "us").splitlines() == [
        "event           before        now     change  tolerance",
        "EVENT              100        150   +50.000%         1%",
        "LONGER_NAME  2,000,000  1,000,000   -50.000%       2.5%",
        "EVENT                0          7        n/a         1%",
        "EVENT              0.5          1  +100.000%         1%",
    ]
