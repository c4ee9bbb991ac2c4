"""Textbook cases of performance, which differ as on hardware."""

import subprocess

import pytest
from guests import EXAMPLES
from textbook_cases import BOUNDS, CASES, CYCLES, Bound, Case, measure, program, ratio
from x86_64_host import measured

import pfmon

QUICK = {"popcnt_chain", "popcnt_broken", "convert_chain", "unsorted", "sorted", "nbody"}
"""Loops of less than a second."""


def marked(one: Case | Bound, name: str) -> object:
    """A parameter, slow if its loop is long, and exhaustive if there is the same of another machine or less memory."""
    marks = [] if name in QUICK else [pytest.mark.slow]
    smallest = min((case.size for case in CASES if case.slow == name), default=one.size)
    if name not in QUICK and (one.machine != "skylake" or (isinstance(one, Case) and one.size > smallest)):
        marks = [pytest.mark.exhaustive]
    return pytest.param(one, marks=marks, id=f"{name}-{one.size}-{one.machine}")


@measured
@pytest.mark.parametrize("case", [marked(one, one.slow) for one in CASES])
def test_the_slow_loop_is_slower_by_as_much_as_on_hardware(case: Case) -> None:
    found = ratio(case)
    assert case.least <= found <= case.most, f"{found:.2f}; {case.source}"


@measured
@pytest.mark.parametrize("bound", [marked(one, one.name) for one in BOUNDS])
def test_an_element_takes_the_cycles_that_latencies_and_units_allow(bound: Bound) -> None:
    found = measure(bound.name, bound.size, bound.machine) / bound.size
    assert bound.least <= found <= bound.most, f"{found:.2f}; {bound.source}"


ITERATIONS, DIVIDE, ADD, MULTIPLY = 24, 14, 4, 4
"""Of nbody's square root, and latencies of Skylake (uops.info: DIVSD 13 to 15, ADDSD 4, MULSD 4)."""
AROUND = 70
"""Latencies of a pair's other operations: differences, squares, a division, forces, velocities."""


@measured
def test_two_pairs_of_the_example_nbody_are_under_way_at_once() -> None:
    """A pair is about 165 µops: a window of 224 has the next chain as soon as one is the oldest, and no third."""
    program = str(EXAMPLES / "x86_64" / "nbody")
    once, twice = (
        pfmon.run([program, steps], events=[CYCLES], machine="skylake", stdout=pfmon.DEVNULL).counts[0].value
        for steps in ("100", "200")
    )
    pair = ITERATIONS * (DIVIDE + ADD + MULTIPLY) + AROUND
    assert (twice - once) / 100 == pytest.approx(10 / 2 * pair, rel=0.1)


@measured
def test_an_unknown_case_is_told() -> None:
    assert subprocess.run([program(), "none", "1", "1"], check=False).returncode == 1
