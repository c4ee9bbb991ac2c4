"""The ratios of a summary, as perf stat(1) defines them: a share of the events that could have been misses, the number
of instructions in a cycle, the time that the cycles take."""

import csv
from io import StringIO

import pytest

from pfmon.report.count_ratios import count_ratios
from pfmon.report.csv_counts import COLUMNS, csv_counts
from pfmon.report.repeated_counts import mean_counts, repeats_line, spreads
from pfmon.session.run.programmed_pmu import Count


def counts(**values: int | float | None) -> list[Count]:
    return [Count(name.replace("_", "-"), None, 8, value) for name, value in values.items()]


def texts(found: list[Count], usual: bool = False, megahertz: int = 0) -> list[str]:
    return [" ".join(str(one).split()) if one else "" for one in count_ratios(found, usual, megahertz)]


def test_misses_are_a_share_of_what_they_could_have_been() -> None:
    found = counts(branches=200, branch_misses=3, cache_references=8, cache_misses=1)
    assert texts(found) == ["", "1.50% of all branches", "", "12.50% of all cache refs"]


def test_instructions_are_beside_cycles_and_cycles_beside_the_clock() -> None:
    assert texts(counts(cycles=4_000_000, instructions=2_000_000), megahertz=2000) == [
        "2.00 ms at 2.00 GHz",
        "0.50 insn per cycle",
    ]
    assert texts(counts(cycles=500), megahertz=2500) == ["0.20 us at 2.50 GHz"]


def test_the_first_two_are_cycles_and_instructions_by_any_name() -> None:
    assert texts(counts(CPU_CYCLES=10, IA64_INST_RETIRED=30), usual=True) == ["", "3.00 insn per cycle"]
    assert texts(counts(CPU_CYCLES=10, IA64_INST_RETIRED=30)) == ["", ""]


def test_misses_without_references_are_of_1000_instructions() -> None:
    assert texts(counts(instructions=2000, cache_misses=3)) == ["", "1.50 per 1000 instructions"]


def test_nothing_is_divided_by_zero_or_by_what_is_not_known() -> None:
    assert texts(counts(cycles=0, instructions=0, branches=0, branch_misses=0)) == ["", "", "", ""]
    assert texts(counts(cycles=None, instructions=5)) == ["", ""]


def test_repeated_runs_have_a_mean_and_its_standard_error() -> None:
    runs = [counts(cycles=value, instructions=7) for value in (90, 100, 110)]
    assert [one.value for one in mean_counts(runs)] == [100, 7]
    assert spreads(runs) == [pytest.approx(10 / 3**0.5 / 100), 0.0]  # the standard deviation of 90, 100, 110 is 10
    assert repeats_line(runs) == "3 runs: means; cycles differs between them"
    assert repeats_line([runs[0], runs[0]]) == "2 runs: all counts are equal"


def test_csv_has_a_row_for_each_event() -> None:
    runs = [counts(branches=200, branch_misses=3)]
    rows = list(csv.reader(StringIO(csv_counts(runs, usual=False))))
    assert rows == [
        list(COLUMNS),
        ["200", "branches", "", "", ""],
        ["3", "branch-misses", "", "1.5", "% of all branches"],
    ]
