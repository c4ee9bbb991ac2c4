"""Counts of a whole processor's code by privilege level, PSR.up and PSR.pp, against a log of its instructions."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from example_counts import examples
from grids import diagonal, each
from hypothesis import given
from hypothesis import strategies as st
from instruction_log import SIGNALS
from played_system import Played, PlayedSystem, changing, level_marks, played

from pfmon.counting.live.live_unit import LiveUnit, Overflow
from pfmon.counting.totals.counting_unit import CountingUnit, MachineRecords
from pfmon.errors import PfmonError
from pfmon.machine._machine import Machine
from pfmon.machine.config.machine_config import load
from pfmon.pmu import IA64, get
from pfmon.pmu.model.request import EventRequest, RangeRequest, Request
from pfmon.pmu.qualify.filters import privileges
from pfmon.pmu.registers.ia64_file import Ia64File
from pfmon.session.run.programmed_pmu import ProgrammedPmu, RunData
from pfmon.stream._stream import Recorder

PROGRAM = ("strings", "30")
UP, PP = 2, 3
PROGRAMS = 0b1001
"""A program's levels, with the operating system's time."""
EVENTS = {
    "IA64_INST_RETIRED": "inst_retired", "NOPS_RETIRED": "nops_retired", "LOADS_RETIRED": "loads_retired",
    "STORES_RETIRED": "stores_retired", "BRANCH_EVENT": "branches.all",
}  # fmt: skip


def logged(code: Played, at: Sequence[int], signal: str, mask: int) -> int:
    """What the log says that the code at some privileges, a bit each, adds to a signal."""
    add = SIGNALS[signal]
    return sum(add(step, lambda _: True) for step, now in zip(code.steps, at, strict=True) if mask >> now & 1)


def totals(
    pmu: str, system: PlayedSystem, events: Sequence[EventRequest], plm: int = 8, wide: bool = False
) -> list[int]:
    """The totals of some events of pfmon's own PMU over a run."""
    counting = ProgrammedPmu(get(pmu), Request(tuple(events), plm, system_wide=wide, whole_system=True))
    tally = counting.unit.tally(system.table, traced=True)
    system.play(tally)
    return counting.totals(RunData(system.table, tally))


@pytest.mark.slow
@examples(12)
@given(st.integers(0, 2**32), st.sampled_from(sorted({"IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED"})))
def test_each_level_counts_what_the_log_says(seed: int, event: str) -> None:
    code = played(*PROGRAM)
    system = PlayedSystem(code, changing(code, seed))
    at = list(system.step_privileges())
    masks = (0b0001, 0b0010, 0b0100, 0b1000, 0b1001, 0b1111)
    found = totals("montecito", system, [EventRequest(event, plm=mask) for mask in masks])
    assert found == [logged(code, at, EVENTS[event], privileges(mask, None)) for mask in masks]
    assert sum(found[:4]) == found[5] and min(found) > 0


@pytest.mark.parametrize("pmu", IA64)
def test_kernel_and_user_count_beside_each_other(pmu: str) -> None:
    code = played(*PROGRAM)
    system = PlayedSystem(code, changing(code, pmu))
    at = list(system.step_privileges())
    found = totals(pmu, system, [EventRequest("IA64_INST_RETIRED", plm=mask) for mask in (1, 8)])
    assert found == [sum(now & 3 == level for now in at) for level in (0, 3)]


def test_user_level_is_the_default() -> None:
    code = played(*PROGRAM)
    system = PlayedSystem(code, changing(code, "default"))
    at = list(system.step_privileges())
    assert totals("itanium2", system, [EventRequest("IA64_INST_RETIRED")]) == [sum(now & 3 == 3 for now in at)]


def test_privileged_monitors_count_the_same_levels() -> None:
    """The code's PSR.pp is not for pfmon's own monitors."""
    code = played(*PROGRAM)
    for system_wide in (False, True):
        system = PlayedSystem(code, changing(code, "wide"))
        found = totals("itanium2", system, [EventRequest("IA64_INST_RETIRED")], 0b1001, system_wide)
        assert found == [sum(now & 3 in (0, 3) for now in system.step_privileges())]


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("pmu", IA64)
@pytest.mark.parametrize("memo", [True, False])
def test_levels_share_the_machines_events(pmu: str, memo: bool) -> None:
    """What the machine decides does not depend on privileges, and each event has one."""
    code, figures = played(*PROGRAM), load(pmu)
    wanted = ["CPU_CYCLES", "L2_REFERENCES" if pmu == "itanium" else "L2_INST_DEMAND_READS", "BE_EXE_BUBBLE_ALL"]
    wanted = [name for name in wanted if name in get(pmu).events]
    made: dict[int, list[int]] = {}
    system = PlayedSystem(code, changing(code, pmu))
    machine = Machine(figures, system.table, (), memo)
    system.play(machine)
    machine.finish()
    for plm in (1, 2, 4, 8, 15):
        events = [EventRequest(name, plm=plm) for name in wanted]
        found = []
        for event in events:
            counting = ProgrammedPmu(get(pmu), Request((event,), whole_system=True))
            found += counting.totals(RunData(system.table, None, MachineRecords(machine, figures)))
        made[plm] = found
    plain = PlayedSystem(code, [3] * len(code.runs))
    other = Machine(figures, plain.table, (), memo)
    plain.play(other)
    other.finish()
    for place, name in enumerate(wanted):
        counting = ProgrammedPmu(get(pmu), Request((EventRequest(name, plm=PROGRAMS),)))
        whole = counting.totals(RunData(plain.table, None, MachineRecords(other, figures)))
        assert [made[15][place]] == whole
        assert sum(made[level][place] for level in (1, 2, 4, 8)) == whole[0] > 0


@pytest.mark.slow
@examples(20)
@given(st.integers(0, 2**32), st.integers(1, 15), st.booleans())
def test_a_systems_monitor_obeys_plm_pm_up_and_pp(seed: int, plm: int, pm: bool) -> None:
    code = played(*PROGRAM)
    system = PlayedSystem(code, changing(code, seed))
    at = list(system.step_privileges())
    registers = get("montecito").register_file()
    assert isinstance(registers, Ia64File)
    registers.run_system()
    registers.write("pmc4", get("montecito").program(["IA64_INST_RETIRED"]).writes["pmc4"])
    registers.set_field("pmc4", "plm", plm)
    registers.set_field("pmc4", "pm", int(pm))
    unit = CountingUnit(get("montecito"), registers)
    tally = unit.tally(system.table, traced=True)
    system.play(tally)
    expected = sum(bool(plm >> (now & 3) & 1 and now >> (PP if pm else UP) & 1) for now in at)
    assert unit.count(system.table, tally).totals() == [expected]


def test_ranges_hold_at_the_levels_of_their_registers() -> None:
    """A breakpoint pair matches at the levels of its own mask (volume 2, table 7-1)."""
    code = played(*PROGRAM)
    system = PlayedSystem(code, changing(code, "ranges"))
    at = list(system.step_privileges())
    model = get("itanium2")
    first = min(step.bundle for step in code.steps) & ~0xFFF
    made = model.program(["IA64_INST_RETIRED"], plm="uk", irange=RangeRequest(((first, first + 0x1000),)))
    registers = model.register_file()
    assert isinstance(registers, Ia64File)
    registers.run_system(levels_alone=True)
    for name, value in made.writes.items():
        registers.write(name, value)
    for plm in (0b1001, 0b0001, 0b1000):
        for name in made.writes:
            if name.startswith("ibr") and int(name[3:]) % 2:
                registers.set_field(name, "plm", plm)
        again = PlayedSystem(code, system.privileges)
        unit = CountingUnit(model, registers)
        tally = unit.tally(again.table, traced=True)
        again.play(tally)
        inside = [first <= step.bundle < first + 0x1000 for step in code.steps]
        expected = sum(one and bool(plm >> (now & 3) & 1) for one, now in zip(inside, at, strict=True))
        assert unit.count(again.table, tally).totals() == [expected], plm


def test_occupancies_are_not_divided_by_level() -> None:
    event = next(one for one in get("montecito").events if one.name.startswith("ER_BRQ_LIVE_REQ_HI"))
    with pytest.raises(PfmonError, match="all privilege levels together"):
        ProgrammedPmu(get("montecito"), Request((EventRequest(event.name, plm=8),), whole_system=True))
    ProgrammedPmu(get("montecito"), Request((EventRequest(event.name, plm=15),), whole_system=True))


@pytest.mark.parametrize("plm", [1, 8, 9])
def test_samples_are_of_the_monitored_levels(plm: int) -> None:
    """pfmon samples with its own PMU: every 100th instruction at these levels."""
    code = played(*PROGRAM)
    system = PlayedSystem(code, changing(code, "samples"))
    at = list(system.step_privileges())
    counting = ProgrammedPmu(get("itanium2"), Request((EventRequest("IA64_INST_RETIRED", plm=plm),), whole_system=True))
    registers, (pmd,) = counting.counters.registers, counting.programming.counters
    found: list[int] = []

    def on_overflow(overflow: Overflow) -> None:
        found.append(overflow.retired)
        assert overflow.address & ~15 == code.steps[overflow.retired - 1].bundle
        registers.take_overflows()
        registers.write(f"pmd{pmd}", (1 << 47) - 100)

    registers.write(f"pmd{pmd}", (1 << 47) - 100)
    unit = LiveUnit(get("itanium2"), registers, system.table, True, on_overflow)
    system.play(unit.consumer)
    unit.finish()
    counted = [number for number, now in enumerate(at, 1) if plm >> (now & 3) & 1]
    assert found == counted[99::100] and found


@pytest.mark.parametrize("plm", [0b1111, 0b0001, 0b1010])
def test_changes_of_level_count_at_the_level_that_is_left(plm: int) -> None:
    code = played(*PROGRAM)
    system = PlayedSystem(code, changing(code, "changes"))
    pairs = [(one & 3, other & 3) for one, other in pairwise(system.privileges) if (one ^ other) & 3]
    pairs = [pair for pair in pairs if plm >> pair[0] & 1]
    names = ["CPU_CPL_CHANGES_ALL", *(f"CPU_CPL_CHANGES_LVL{level}" for level in range(4))]
    found = totals("montecito", system, [EventRequest(name, plm=plm) for name in names])
    assert found == [len(pairs), *(sum(level in pair for pair in pairs) for level in range(4))]
    assert min(found) > 0


@each("pm", [False, True])
def test_a_level_left_without_an_instruction_counts_at_its_own(pm: bool) -> None:
    """As where rfi returns to what faults: the change back is one from the privilege that was entered."""
    code = played(*PROGRAM)
    system = PlayedSystem(code, [0] * len(code.runs))
    way = [0b0000, 0b1011, 0b0100, 0b1110, 0b0111, 0b0000]
    recorder = Recorder()
    recorder.load([word for pair in pairwise(way) for word in level_marks(*pair)])
    for plm in range(1, 16):
        registers = get("montecito").register_file()
        assert isinstance(registers, Ia64File)
        registers.run_system()
        registers.write("pmc4", get("montecito").program(["CPU_CPL_CHANGES_ALL"]).writes["pmc4"])
        registers.set_field("pmc4", "plm", plm)
        registers.set_field("pmc4", "pm", int(pm))
        unit = CountingUnit(get("montecito"), registers)
        tally = unit.tally(system.table, traced=True)
        recorder.replay(tally)
        counted = [one for one in way[:-1] if plm >> (one & 3) & 1 and one >> (PP if pm else UP) & 1]
        assert unit.count(system.table, tally).totals() == [len(counted)], plm


@pytest.mark.parametrize("name", ["BE_EXE_BUBBLE_BANK_SWITCH", "BE_RSE_BUBBLE_BANK_SWITCH", "L2I_UC_READS_ALL_ALL"])
def test_what_only_a_kernel_does_is_refused(name: str) -> None:
    """Of programs it is 0, of a whole processor's code unknown."""
    ProgrammedPmu(get("montecito"), Request((EventRequest(name),)))
    with pytest.raises(PfmonError, match="not modelled in system mode"):
        ProgrammedPmu(get("montecito"), Request((EventRequest(name),), whole_system=True))
