"""Published figures of processors, measured end to end: assembled programs, counted cycles."""

import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from grids import each
from published_figures import (
    CYCLES,
    KINDS,
    MACHINES,
    OLDEST,
    YES,
    Figure,
    Kept,
    assemble,
    assembly,
    build,
    by_kind,
    cited_by_configuration,
    figures,
    is_within,
    measure,
    prelude,
    sources,
)
from qemu_guests import ASSEMBLER
from x86_64_host import measured

import pfmon
from pfmon.machine.config.machine_config import names

LEAST = {"nehalem": 150, "skylake": 100, "icelake": 100, "zen3": 100, "zen4": 100}
PAGE = (Path(__file__).resolve().parents[3] / "docs" / "fidelity.md").read_text(encoding="utf-8")
A_KIND = 8
"""At least so many figures of each kind."""

ALL = (OLDEST, *MACHINES)
ROWS = {(machine, figure.kind, figure.name): figure for machine in ALL for figure in figures(machine)}
HELD = [
    *(("nehalem", "memory latency", "chase in 64 KB"), ("nehalem", "latency", "imul r64")),
    *(("nehalem", "store forwarding", "push and pop"), ("skylake", "latency", "add r64")),
    ("core2", "latency", "haddps"),
    *(("skylake", "misprediction", "a coin decides"), ("skylake", "idioms", "xor of a register with itself")),
    *(("zen3", "store forwarding", "push and pop"), ("zen3", "throughput", "loads of 16 bytes on two ports")),
]


@each("machine", ALL)
def test_every_row_is_complete(machine: str) -> None:
    known = sources()
    for figure in figures(machine):
        assert figure.kind in KINDS and figure.name and figure.body and figure.place and figure.holds, figure
        assert figure.source in known, figure
        assert 0 < float(figure.low) < float(figure.high), figure
        assert int(figure.repeat) > 0 and int(figure.iterations) > 0, figure
    assert len({figure[:2] for figure in figures(machine)}) == len(figures(machine))


def test_every_source_is_complete_and_cited() -> None:
    assert all(all(one) for one in sources().values())
    assert {figure.source for figure in ROWS.values()} == set(sources())


@each("machine", MACHINES)
def test_there_are_enough_figures_of_each_kind(machine: str) -> None:
    assert len(figures(machine)) >= LEAST[machine]
    assert min(Counter(figure.kind for figure in figures(machine)).values()) >= A_KIND
    assert {figure.kind for figure in figures(machine)} == set(KINDS)


@pytest.mark.slow
@each("machine", MACHINES)
def test_half_of_the_figures_are_of_sources_that_no_configuration_cites(machine: str) -> None:
    cited = {key for key, source in sources().items() if cited_by_configuration(source)}
    assert "intel-optimization" in cited
    own = [figure for figure in figures(machine) if figure.source not in cited]
    assert len(own) * 2 >= len(figures(machine))


def test_the_page_has_the_numbers_that_hold() -> None:
    modelled = [machine for machine in MACHINES if machine in names()]
    kept = {machine: by_kind((one, one.holds == YES) for one in figures(machine)) for machine in modelled}
    for row in zip(*kept.values(), strict=True):
        assert f"| {KINDS[row[0].kind]} | {cells(row)} |" in PAGE
    totals = [
        Kept("all", sum(one.figures for one in of_machine), sum(one.hold for one in of_machine))
        for of_machine in kept.values()
    ]
    assert f"| all | {cells(totals)} |" in PAGE
    assert all(total.hold >= 0.95 * total.figures for total in totals)


def cells(row: Iterable[Kept]) -> str:
    return " | ".join(f"{one.figures} | {one.hold}" for one in row)


@ASSEMBLER
@each("machine", ALL)
def test_every_row_is_assembled(machine: str, tmp_path: Path) -> None:
    programs = [assembly(figure, number) for number, figure in enumerate(figures(machine))]
    assemble(prelude() + "".join(programs), tmp_path / "all.o")


@measured
@pytest.mark.parametrize(("machine", "kind", "name"), HELD)
def test_a_figure_that_holds_is_measured(machine: str, kind: str, name: str, tmp_path: Path) -> None:
    figure = ROWS[machine, kind, name]
    assert figure.holds == YES and is_within(figure, measure(figure, machine, tmp_path))


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
    # Each turn has a counter and a branch.
    assert twice.value - once.value == 500 * (30 + 2)


@measured
@pytest.mark.exhaustive
@pytest.mark.parametrize("machine", ALL)
def test_every_program_ends_natively(machine: str, tmp_path: Path) -> None:
    for figure in figures(machine):
        program = build(figure, tmp_path)
        for words in ([program], [program, "twice"]):
            assert not subprocess.run(words, timeout=60, check=False).returncode, figure.name


@measured
@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("machine", ALL)
def test_figures_that_held_hold(machine: str, kind: str, tmp_path: Path) -> None:
    """The table is printed where a figure is lost; `published_figures.py` prints all of them."""
    if machine not in names():
        pytest.skip(f"there is no machine {machine}")
    found = {figure: measure(figure, machine, tmp_path) for figure in figures(machine) if figure.kind == kind}
    results = [(figure, is_within(figure, cycles)) for figure, cycles in found.items()]
    (kept,) = [one for one in by_kind(results) if one.kind == kind]
    print(f"{machine}, {kind}: {kept.hold} of {kept.figures} hold")
    for figure, holds in results:
        print(f"{figure.name}: {figure.low} to {figure.high}, {found[figure]:.2f}", "holds" if holds else "")
    lost = [f"{one.name}: {found[one]:.2f}" for one, holds in results if not holds and one.holds == YES]
    assert not lost
