"""The page's table of out-of-order machines: published and configured as they are, measured as the machines have it."""

import re
from pathlib import Path

import pytest
from compared_figures import MACHINES, Compared, compared, line, measure_row
from published_figures import KINDS, YES, is_within, sources
from x86_64_host import measured
from x86_code import ASSEMBLES

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "fidelity.md").read_text(encoding="utf-8")
ROWS = compared()
FEW = ("multiplication of 64 bits", "a load from L2", "a coin decides")


def noted(row: Compared) -> dict[str, str]:
    """The cycles that the page has of a row, by machine; its line is the one with these cycles."""
    pattern = re.escape(f"| {row.kind} | {row.mechanism} | ") + ".*"
    (found,) = re.findall(pattern, PAGE)
    cells = found.rstrip(" |").split(" | ")[-len(MACHINES) :]
    cycles = {machine: one.rpartition(" / ")[2] for machine, one in zip(MACHINES, cells, strict=True)}
    assert line(row, cycles) == found
    return cycles


@pytest.mark.slow
@ASSEMBLES
def test_the_page_has_what_is_published_and_configured() -> None:
    for row in ROWS:
        cycles = noted(row)
        for machine in MACHINES:
            figure = row.figure(machine)
            if figure is not None:
                assert is_within(figure, float(cycles[machine])) == (figure.holds == YES), (machine, figure.name)


def test_all_kinds_are_compared_and_all_sources_are_named() -> None:
    assert {row.kind for row in ROWS} == set(KINDS)
    known = sources()
    used = {figure.source for row in ROWS for machine in MACHINES if (figure := row.figure(machine)) is not None}
    for key in used:
        assert f"- {key}: {known[key].author}, {known[key].title}" in PAGE


PARAMETERS = [
    pytest.param(row, marks=[] if row.mechanism in FEW else [pytest.mark.exhaustive], id=row.mechanism) for row in ROWS
]


@measured
@pytest.mark.parametrize("row", PARAMETERS)
def test_the_page_has_the_cycles_that_are_measured(row: Compared) -> None:
    noted_cycles = noted(row)
    for machine, cycles in measure_row(row).items():
        assert float(cycles) == pytest.approx(float(noted_cycles[machine]), rel=0.005, abs=0.011), machine
