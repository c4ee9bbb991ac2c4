"""Times that a seed draws, and fields that a snapshot keeps."""

from collections.abc import Mapping
from typing import ClassVar

import pytest

from pfmon.engine.ia64.system.drawn_times import DrawnTimes
from pfmon.engine.ia64.system.snapshots.kept_fields import BIT, BYTE, Range, kept, put_back


def test_nothing_is_drawn_without_a_seed() -> None:
    times = DrawnTimes(0, 70)
    assert not times.delays
    assert {times.turn() for _ in range(20)} == {70}


def test_seed_draws_the_same_again_and_another_one_others() -> None:
    drawn = []
    for seed in (1, 1, 2):
        times = DrawnTimes(seed, 70)
        assert times.delays
        drawn.append([(times.turn(), times.delay()) for _ in range(50)])
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(1 <= turn <= 140 and 0 <= delay < 1 << 20 for turn, delay in drawn[0])
    assert len(set(drawn[0])) > 40


class Device:
    """Fields of each kind."""

    KEPT: ClassVar[Mapping[str, Range]] = {"number": BYTE, "is_on": BIT, "lines": (-1, 5)}

    def __init__(self) -> None:
        self.number, self.is_on, self.lines, self.other = 3, False, [0, 1], "x"


def test_fields_come_back_with_their_types() -> None:
    one, other = Device(), Device()
    one.number, one.is_on, one.lines = 255, True, [-1, 5]
    put_back(other, kept(one))
    assert (other.number, other.is_on, other.lines) == (255, True, [-1, 5])


@pytest.mark.parametrize(
    "values",
    [
        None,
        {},
        {"number": 3, "is_on": 0},
        {"number": 256, "is_on": 0, "lines": [0, 0]},
        {"number": 3.0, "is_on": 0, "lines": [0, 0]},
        {"number": 3, "is_on": True, "lines": [0, 0]},
        {"number": 3, "is_on": 0, "lines": [0]},
        {"number": 3, "is_on": 0, "lines": [0, 6]},
        {"number": 3, "is_on": 0, "lines": {"0": 0}},
        {"number": 3, "is_on": 0, "lines": [0, 0], "other": "y"},
    ],
)
def test_other_fields_are_refused(values: object) -> None:
    with pytest.raises(ValueError, match=r"fields are missing|a number is out|is no list"):
        put_back(Device(), values)
