"""Percentages by which counts may grow."""

from fractions import Fraction

import pytest
from grids import each
from hypothesis import given
from hypothesis import strategies as st

from pfmon.errors import BadValueError
from pfmon.library.results.tolerances import DEFAULT, tolerances

NAMES = ["LLC_MISSES", "INSTRUCTIONS_RETIRED", "A"]
HUNDREDTHS = st.integers(0, 100_000)


def percentage(hundredths: int) -> str:
    return f"{hundredths // 100}.{hundredths % 100:02d}%"


def test_without_a_word_it_is_one_percent() -> None:
    assert tolerances("--tolerance", "", NAMES).of("A") == DEFAULT == Fraction(1, 100)


def test_an_event_has_its_own_in_any_case_of_letters() -> None:
    found = tolerances("--tolerance", "2%, llc_misses = 0.5 %", NAMES)
    assert (found.of("LLC_MISSES"), found.of("llc_misses"), found.of("A")) == (
        Fraction(1, 200),
        Fraction(1, 200),
        Fraction(1, 50),
    )


def test_one_for_an_event_leaves_the_others_the_default() -> None:
    found = tolerances("--tolerance", "A=0%", NAMES)
    assert (found.of("A"), found.of("LLC_MISSES")) == (0, DEFAULT)


@pytest.mark.slow
@given(HUNDREDTHS, st.dictionaries(st.sampled_from(NAMES), HUNDREDTHS))
def test_what_is_written_is_what_holds(general: int, own: dict[str, int]) -> None:
    text = ",".join([percentage(general), *(f"{name}={percentage(value)}" for name, value in own.items())])
    found = tolerances("--tolerance", text, NAMES)
    assert [found.of(name) for name in NAMES] == [Fraction(own.get(name, general), 10_000) for name in NAMES]


@each(
    "text",
    ["1", "0.01", "-1%", "1%%", "%", "A=", "A=1", "=1%", "1e3%", "nan%", "inf%", "1%,", "1_0%", "A=B=1%", "٣%", ".5%"],
)
def test_anything_but_a_percentage_is_refused(text: str) -> None:
    with pytest.raises(BadValueError, match=r"is wanted|not counted"):
        tolerances("--tolerance", text, NAMES)


def test_two_for_the_same_are_refused() -> None:
    for text in ("1%,2%", "A=1%,a=1%"):
        with pytest.raises(BadValueError, match="two percentages"):
            tolerances("--tolerance", text, NAMES)


def test_one_for_an_event_that_is_not_counted_is_refused() -> None:
    with pytest.raises(BadValueError, match="B is not counted"):
        tolerances("--tolerance", "B=1%", NAMES)


@pytest.mark.slow
@given(st.text())
def test_any_text_is_a_tolerance_or_one_line(text: str) -> None:
    try:
        assert tolerances("--tolerance", text, NAMES).general >= 0
    except BadValueError as error:
        assert "\n" not in str(error) or "\n" in text
