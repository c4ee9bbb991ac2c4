"""The value of --timeline: a place and iterations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon.errors import BadValueError
from pfmon.library.options.timeline_place import MAX_ITERATIONS, TimelinePlace, python_timeline, timeline_place


def parsed(text: str | None) -> TimelinePlace:
    return timeline_place("timeline", text)


def test_nothing_is_the_block_with_most_cycles() -> None:
    assert parsed(None) == parsed("") == ("", "", None, 4)
    assert parsed(",9") == ("", "", None, 9)


def test_a_name_may_have_iterations_behind_a_comma() -> None:
    assert parsed("work") == ("work", "work", None, 4)
    assert parsed("work,12") == ("work", "work", None, 12)
    assert parsed("work, 12 ") == ("work", "work", None, 12)


@pytest.mark.parametrize(
    "name", ["std::pair<int, 3>", "f(int, long)", "libm.so.6:sin+0x20", "slow.c:12", "slow.c:12-14"]
)
def test_names_and_lines_are_no_iterations(name: str) -> None:
    assert parsed(name) == (name, name, None, 4)
    assert parsed(f"{name},2") == (name, name, None, 2)


def test_a_number_is_an_address() -> None:
    assert parsed("0x401136") == ("0x401136", "", 0x401136, 4)
    assert parsed("4096,1") == ("4096", "", 4096, 1)


@pytest.mark.parametrize(
    "text", ["work,0", "work,-3", "work,65", "work,1x", "work,99999999999999999999", "0x10000000000000000", "-1"]
)
def test_other_numbers_are_refused(text: str) -> None:
    with pytest.raises(BadValueError, match="--timeline"):
        parsed(text)


@given(st.text())
def test_any_text_is_a_place_or_refused(text: str) -> None:
    """Whatever is accepted has a number of iterations within limits, and an address or a name that the text has."""
    try:
        found = parsed(text)
    except BadValueError:
        return
    assert 1 <= found.iterations <= MAX_ITERATIONS
    assert found.text in text
    assert found.address is None or (0 <= found.address < 1 << 64 and not found.name)
    assert found.name in ("", found.text)


@given(st.text(alphabet="abc:<>()+.,_ "), st.integers(1, MAX_ITERATIONS))
def test_a_place_is_read_as_written(name: str, iterations: int) -> None:
    assert parsed(f"{name},{iterations}")[1::2] == (name.strip(), iterations)


def test_python_gives_a_name_an_address_or_true() -> None:
    assert python_timeline("timeline", True) == parsed(None)
    assert python_timeline("timeline", False) is None
    assert python_timeline("timeline", 0x401136) == parsed("0x401136")
    assert python_timeline("timeline", "work,3") == parsed("work,3")
    for wrong in (-1, 1 << 64, 1.5, None, [], ""):
        with pytest.raises(BadValueError):
            python_timeline("timeline", wrong)
