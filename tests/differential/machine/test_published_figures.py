"""Published figures of Nehalem and Skylake, measured end to end: assembled programs, counted cycles."""

from collections.abc import Callable
from pathlib import Path

import pytest
from published_figures import CYCLES, Figure, measure
from x86_64_host import MARKS

import pfmon


def measured(test: Callable[..., None]) -> Callable[..., None]:
    """A test that runs programs."""
    for mark in MARKS:
        test = mark(test)
    return test


@measured
def test_set_up_and_start_do_not_count(tmp_path: Path) -> None:
    """A loop of nops has their instructions, whatever came before it."""
    figure = Figure("", "", "chain 1024, 64", "nop", "30", "500", "", "", "", "", "")
    without = figure._replace(setup="")
    assert measure(figure, "nehalem", tmp_path) == pytest.approx(measure(without, "nehalem", tmp_path), abs=0.02)
    (once, twice) = (
        pfmon.run(words, events=["INSTRUCTIONS_RETIRED", CYCLES], machine="nehalem", stdout=pfmon.DEVNULL).counts[0]
        for words in ([str(tmp_path / "figure")], [str(tmp_path / "figure"), "twice"])
    )
    # Each turn has a counter and a branch; one addition doubles their number.
    assert twice.value - once.value == 500 * (30 + 2) + 1
