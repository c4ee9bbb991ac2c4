"""Sets in the order of use, against lists."""

import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st

from pfmon.machine._machine import LruSets, RecencySets

STEPS = st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=300)


@pytest.mark.slow
@examples(200)
@given(st.sampled_from([LruSets, RecencySets]), st.sampled_from([1, 2, 3, 4, 6]), st.integers(1, 9), STEPS)
def test_what_was_used_longest_ago_makes_room(
    kind: type[LruSets] | type[RecencySets], sets: int, ways: int, steps: list[tuple[bool, int]]
) -> None:
    made, model = kind(sets, ways, 6), [list[int]() for _ in range(sets)]
    for uses, number in steps:
        held = model[number % sets]
        if not uses:
            made.drop(number)
            held[:] = [one for one in held if one != number]
            continue
        assert made.use(number) == (number in held)
        held[:] = [number, *(one for one in held if one != number)][:ways]
        assert made.contents() == model
    assert made.contents() == model
