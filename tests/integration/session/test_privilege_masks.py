"""PMC.plm of every event (Montecito manual sections 3.2.3.2 and 3.3.1): the operating system's time is of level 0."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from grids import first_quick
from guests import quiet
from ia64_program import EXIT, write_program
from machine_code import loop

import pfmon
from pfmon.counting._counting import Tally
from pfmon.counting.totals.counting_unit import MachineRecords
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.errors import PfmonError
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import ITANIUMS
from pfmon.pmu import get
from pfmon.pmu.model.request import PLM_KERNEL, PLM_USER, EventRequest, Request
from pfmon.program import image
from pfmon.session.run.machine_run import MachineRun
from pfmon.session.run.programmed_pmu import ProgrammedPmu, RunData

CALLS, FRAME, COST = 500, 7, 500
GETPPID = [
    f"alloc r32=ar.pfs,{FRAME},{FRAME},0",
    *loop(["addl r15=1042,r0", "break.i 0x100000"], CALLS),
    *EXIT,
]


@cache
def run(pmu: str, cost: int) -> RunData:
    """500 system calls, each of which takes so many cycles at level 0."""
    figures = load(pmu, [f"kernel.system_call={cost}"])
    with TemporaryDirectory() as folder:
        path = str(write_program(Path(folder, "getppid"), GETPPID, bytes(64)))
        guest = Ia64Guest(image.load(path), [b"getppid"], [], GuestSettings(), memory_limit=1 << 30, trace=True)
    tally = Tally(guest.table, traced=True)
    on = MachineRun(figures, guest.table, threaded=False)
    consumer = on.feed(beside=tally)
    with quiet(), on:
        guest.run(consumer)
    guest.close()
    return RunData(guest.table, tally, MachineRecords(on.machine, figures))


def count(pmu: str, event: str, plm: int, cost: int = COST) -> int | None:
    """What an event counts at these levels; None: it is refused."""
    try:
        (total,) = ProgrammedPmu(get(pmu), Request((EventRequest(event),), plm=plm)).totals(run(pmu, cost))
    except PfmonError:
        return None
    return total


@pytest.mark.parametrize("pmu", first_quick(ITANIUMS))
def test_counts_of_both_levels_are_the_sum(pmu: str) -> None:
    """An event that is refused at level 0 counts the same with it as without it."""
    seen = 0
    for event in get(pmu).events:
        user, kernel, both = (count(pmu, event.name, plm) for plm in (PLM_USER, PLM_KERNEL, PLM_USER | PLM_KERNEL))
        if user is not None:
            seen += 1
            assert both == user + (kernel or 0), event.name
    assert seen > 150
    clocks = {event.name for event in get(pmu).events if (count(pmu, event.name, PLM_KERNEL) or 0) > 0}
    cycles = {"itanium": {"CPU_CYCLES"}, "itanium2": {"CPU_CYCLES"}}
    assert clocks == cycles.get(pmu, {"CPU_OP_CYCLES_ALL", "SI_CYCLES"})


@pytest.mark.parametrize("pmu", first_quick(ITANIUMS))
def test_no_event_of_user_level_counts_the_operating_systems_cycles(pmu: str) -> None:
    """What 500 calls of 500 cycles add is nothing; an access may find in them what it else would wait for."""
    seen = 0
    for event in get(pmu).events:
        without, cost = count(pmu, event.name, PLM_USER, 0), count(pmu, event.name, PLM_USER)
        if without is not None and cost is not None:
            seen += 1
            assert abs(cost - without) <= 20, (event.name, without, cost)
    assert seen > 150


def test_the_clock_of_the_bus_runs_at_level_0_as_long_as_the_core_is_there() -> None:
    """An eighth of the core's clock, rounded down: 200 MHz beside 1.6 GHz."""
    ratio = 8
    for plm in (PLM_USER, PLM_KERNEL, PLM_USER | PLM_KERNEL):
        cycles, clocks = (count("montecito", event, plm) for event in ("CPU_OP_CYCLES_ALL", "SI_CYCLES"))
        assert cycles and clocks and abs(cycles / ratio - clocks) <= 1


def test_the_mean_of_the_frames_registers_is_its_size(tmp_path: Path) -> None:
    """Table 4-40: registers of a cycle, of a program whose frame has 7 nearly always, 0 before and 8 behind."""
    path = write_program(tmp_path / "getppid", GETPPID, bytes(64))
    for event, least, most in (("RSE_AVG_CURRENT_REGS", 6, FRAME), ("RSE_AVG_DIRTY_REGS", 0, 0)):
        (found,) = pfmon.run([str(path)], pmu="montecito", events=[event], capture=True).counts
        assert found.value is not None and least <= found.value <= most
