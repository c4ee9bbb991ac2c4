"""What a model leaves out: shares, their weights, and the line that reports have."""

from collections.abc import Sequence

import pytest

from pfmon.session.profile.omissions import LEAST_SHARE, Omission, mentioned, omissions_line, omissions_of, together

ROWLESS = "of the instructions have no row"
CALLS = "of the time would pass in the kernel"


class Telling:
    """A machine that tells."""

    def omissions(self) -> Sequence[tuple[str, float]]:
        return [(CALLS, 0.01), (ROWLESS, 0.042)]


def test_a_machine_tells_or_leaves_nothing_out() -> None:
    assert omissions_of(Telling()) == [Omission(CALLS, 0.01), Omission(ROWLESS, 0.042)]
    assert omissions_of(object()) == []


def test_only_what_is_more_than_a_few_percent_is_mentioned_the_largest_first() -> None:
    some = [Omission(CALLS, LEAST_SHARE), Omission("of nothing", 0.0), Omission(ROWLESS, 0.5)]
    assert [one.text for one in mentioned(some)] == [ROWLESS, CALLS]
    assert omissions_line(some) == f"not modelled: 50.0% {ROWLESS}; 2.0% {CALLS}\n"
    assert omissions_line([Omission(CALLS, 0.019)]) == omissions_line([]) == ""


def test_programs_together_have_their_instructions_as_weights() -> None:
    found = together([(300, [Omission(ROWLESS, 0.2)]), (100, [Omission(ROWLESS, 0.4), Omission(CALLS, 0.4)])])
    assert dict(found) == {ROWLESS: pytest.approx(0.25), CALLS: pytest.approx(0.1)}
    assert together([]) == together([(0, [])]) == []
