"""Figures 6-6 to 6-8 of the Itanium manual (3-6 to 3-8 of the Montecito manual): which code of three processes, of
their kernel and of its interrupt handlers a monitor counts, by PMC.pm, PMC.plm, each process's PSR and DCR.pp."""

import random
from typing import NamedTuple

import pytest
from instruction_log import SIGNALS
from played_system import PlayedSystem, played

from pfmon.pmu import get
from pfmon.session.run.system_pmu import SystemPmu

PROGRAM = ("strings", "30")
USER, KERNEL, HANDLER = "application", "kernel", "handler"
UP, PP = 4, 8


class Panel(NamedTuple):
    """``enables``: the bit set in the PSR of the monitored processes (others 0)."""

    processes: str
    enables: int
    pm: int
    plm: int
    dcr_pp: int
    counted: str
    """Processes whose kernel-level code counts, behind ``/`` those whose handlers do: those that run while one of these
    processes does. Applications count in all panels, for the monitored processes."""


# A handler begins with DCR.pp in PSR.pp, and PSR.up as it was (volume 2, table 3-2).
PANELS = {
    "6-6 applications": Panel("A", UP, 0, 0b1000, 0, "/"),
    "6-6 kernel": Panel("A", UP, 0, 0b1001, 0, "A/A"),
    "3-6 kernel": Panel("A", PP, 1, 0b1001, 0, "A/"),
    "6-6 handlers": Panel("A", PP, 1, 0b1001, 1, "A/ABC"),
    "6-7 applications": Panel("AB", UP, 0, 0b1000, 0, "/"),
    "6-7 kernel": Panel("AB", UP, 0, 0b1001, 0, "AB/AB"),
    "3-7 kernel": Panel("AB", PP, 1, 0b1001, 0, "AB/"),
    "6-7 handlers": Panel("AB", PP, 1, 0b1001, 1, "AB/ABC"),
    "6-8 applications": Panel("ABC", UP, 0, 0b1000, 0, "/"),
    "6-8 privileged": Panel("ABC", PP, 1, 0b1000, 0, "/"),
    "6-8 kernel": Panel("ABC", UP, 0, 0b1001, 0, "ABC/ABC"),
    "6-8 handlers": Panel("ABC", PP, 1, 0b1001, 1, "ABC/ABC"),
}


def schedule(runs: int) -> list[tuple[str, str]]:
    """The process that runs, and where, for each run of a block. The kernel is entered by epc, which keeps the PSR."""
    pick, found = random.Random(0), []
    process, place = "A", USER
    for _ in range(runs):
        if pick.random() < 0.1:
            process, place = pick.choice("ABC"), pick.choice((USER, KERNEL, HANDLER))
        found.append((process, place))
    return found


def privilege(panel: Panel, process: str, place: str) -> int:
    """The level, PSR.up and PSR.pp of code."""
    psr = panel.enables if process in panel.processes else 0
    if place == HANDLER:
        psr = psr & UP | PP * panel.dcr_pp
    return psr | 3 * (place == USER)


def is_counted(panel: Panel, process: str, place: str) -> bool:
    """What the figure shows."""
    kernel, handlers = panel.counted.split("/")
    return process in {USER: panel.processes, KERNEL: kernel, HANDLER: handlers}[place]


@pytest.mark.parametrize("name", PANELS)
@pytest.mark.parametrize("pmu", ["itanium", "itanium2", "montecito"])
def test_a_monitor_counts_what_the_figure_shows(name: str, pmu: str) -> None:
    panel, code = PANELS[name], played(*PROGRAM)
    turns = schedule(len(code.runs))
    engine = PlayedSystem(code, [privilege(panel, *turn) for turn in turns])
    monitored = SystemPmu(get(pmu), engine, None)
    for event in ("IA64_INST_RETIRED", "NOPS_RETIRED"):
        made = get(pmu).program([event], plm=panel.plm, system_wide=bool(panel.pm))
        number = 4 if event == "IA64_INST_RETIRED" else 5
        monitored.access("write_pmc", number, made.writes[f"pmc{made.counters[0]}"])
    monitored.next_stop()  # no counter comes so far
    engine.play(monitored.consumer)
    steps = iter(code.steps)
    expected = [0, 0]
    for run, turn in zip(code.runs, turns, strict=True):
        for _ in code.blocks[run.block].instructions:
            step = next(steps)
            expected[0] += is_counted(panel, *turn)
            expected[1] += is_counted(panel, *turn) and SIGNALS["nops_retired"](step, lambda _: True)
    assert [monitored.access("read_pmd", number) for number in (4, 5)] == expected
    assert min(expected) > 0
