"""The registers decide what is counted, whoever wrote them, in whatever order."""

import random
from functools import cache
from typing import Any

import pytest
from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from machine_runs import machine_and_guest

from pfmon.counting.totals.counting_unit import CountingUnit, MachineRecords
from pfmon.errors import PfmonError, RuleError
from pfmon.machine._machine import Cause, Machine
from pfmon.machine.config.machine_config import load
from pfmon.pmu import IA64, get
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.request import EventRequest, OpcodeMatch, RangeRequest, Request
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.session.run.programmed_pmu import ProgrammedPmu, RunData
from pfmon.stream._stream import BlockTable, Pipe, Recorder

DATA = RangeRequest(((0x6000000000010000, 0x6000000000018000),))


@cache
def run() -> tuple[Recorder, BlockTable, list[int]]:
    """A traced stream, its blocks, and the bundles of its code."""
    _, guest = machine_and_guest("epic", "itanium2", arguments=[])
    recorder = Recorder()
    guest.run(recorder)
    guest.close()
    table = guest.table
    return recorder, table, sorted({one.address & ~15 for n in table.numbers() for one in table.block(n).instructions})


@cache
def records(pmu: str, ranges: tuple[tuple[int, int], ...]) -> MachineRecords:
    recorder, table, _ = run()
    figures = load(pmu)
    machine = Machine(figures, table, ranges)
    recorder.replay(Pipe(machine, threaded=False))
    machine.finish()
    return MachineRecords(machine, figures)


def seen_by(unit: CountingUnit, pmu: str) -> RunData:
    recorder, table, _ = run()
    tally = unit.tally(table, traced=True)
    recorder.replay(tally)
    return RunData(table, tally, records(pmu, tuple(unit.data_ranges or ())) if unit.wants_machine else None)


def counted(unit: CountingUnit, pmu: str) -> dict[int, int]:
    """What a unit counts, by PMD."""
    totals = unit.count(*seen_by(unit, pmu)).totals()
    return {monitor.pmd: total for monitor, total in zip(unit.monitors, totals, strict=True)}


def written(model: PmuModel, writes: dict[str, int], pick: random.Random) -> RegisterFile:
    """A register file after these writes, in some order, some of them made twice, the program running."""
    file = model.register_file()
    names = [*writes, *pick.sample(list(writes), k=len(writes) // 2)]
    pick.shuffle(names)
    for name in names[: len(names) // 3]:  # what was there before does not matter
        file.write(name, pick.getrandbits(64) if pick.random() < 0.5 else 0)
    for name in names:
        file.write(name, writes[name])
    file.run_program()
    return file


@st.composite
def requests(draw: st.DrawFn, pmu: str) -> Request:
    """A few events under a qualification."""
    model = get(pmu)
    group = draw(st.sampled_from(sorted({event.set for event in model.events})))
    names = st.sampled_from(
        [event.name for event in model.events if event.set in (group, "-", "")] or ["IA64_INST_RETIRED"]
    )
    events = []
    for name in draw(st.lists(names, min_size=1, max_size=4)):
        event = model.events[name]
        events.append(
            EventRequest(
                name,
                threshold=draw(st.sampled_from((0, 0, 0, 1, 2))) if event.max_increment > 2 else 0,
                mesi=draw(st.sampled_from(("M", "ES", "MESI"))) if event.mesi else "",
            )
        )
    _, _, bundles = run()
    options: dict[str, Any] = {"check_qualifiers": False}
    if draw(st.booleans()):
        low = draw(st.sampled_from(bundles))
        high = low + 16 * draw(st.sampled_from((1, 8, 100, 1000)))
        fine = draw(st.booleans())
        options["irange"] = RangeRequest(((low, high),), inverse=draw(st.booleans()), fine=fine)
    if draw(st.booleans()):
        options["drange"] = DATA
    if draw(st.booleans()):
        options["opcodes"] = (OpcodeMatch(draw(st.sampled_from(("m", "mi", "b", "mifb"))), 0, 0x7FFFFFF), None)
    return Request(tuple(events), plm=draw(st.sampled_from((8, 9, 15))), **options)


@pytest.mark.slow
@pytest.mark.parametrize("pmu", IA64)
def test_registers_that_anyone_wrote_count_as_a_session_that_programmed_them(pmu: str) -> None:
    model = get(pmu)
    done: list[int] = []

    @examples(120)
    @given(requests(pmu), st.integers(0, 2**32))
    def check(request: Request, seed: int) -> None:
        try:
            counting = ProgrammedPmu(model, request)
        except PfmonError:
            return
        file = written(model, dict(counting.programming.writes), random.Random(seed))
        unit = CountingUnit(model, file)
        found = counted(unit, pmu)
        totals = counting.totals(seen_by(counting.unit, pmu))
        assert found == dict(zip(counting.programming.counters, totals, strict=True))
        assert unit.data_ranges == counting.unit.data_ranges
        done.append(sum(total > 0 for total in totals))

    check()
    assert len(done) > 40 and sum(done) > 20


# Montecito: es 15:8, pm 6, plm 3:0, ism 25:24, threshold 22:20 (table 3-6). Codes: pmu/targets/montecito/events.csv.
IA64_INST_RETIRED, CPU_OP_CYCLES = 0x08, 0x12
IA64_ONLY = 2 << 24
USER = 8
WRITES_BY_HAND = {
    "pmc4": IA64_ONLY | IA64_INST_RETIRED << 8 | USER,
    "pmc5": IA64_ONLY | CPU_OP_CYCLES << 8 | USER,
    "pmc6": IA64_ONLY | 3 << 20 | IA64_INST_RETIRED << 8 | USER,  # cycles that retire more than three
}


def by_hand(**changes: int) -> CountingUnit:
    file = get("montecito").register_file()
    for name, value in WRITES_BY_HAND.items():
        file.write(name, value)
    file.run_program()
    for name, value in changes.items():
        register, _, field = name.partition("_")
        file.set_field(register, field, value)
    return CountingUnit(get("montecito"), file)


def test_values_from_the_manual_count_instructions_and_cycles() -> None:
    found = counted(by_hand(), "montecito")
    recorder, table, _ = run()
    words = iter(recorder.words())
    instructions = 0
    for word in words:
        if not word >> 63:
            block = table.block(word & 0xFFFFFFFF)
            instructions += len(block.instructions)
            for one in block.instructions:
                if one.access and (one.condition is None or word >> 32 + one.condition & 1):
                    next(words)
    machine = records("montecito", ()).machine
    cycles = sum(count for parts, count in machine.groups() if issued(parts) > 3)
    kernel = sum(count for *_, cause, count in machine.bubbles() if cause == Cause.KERNEL)
    assert found == {4: instructions, 5: machine.cycles - kernel, 6: cycles}
    assert 0 < cycles < machine.cycles < instructions * 10


def issued(parts: tuple[Any, ...]) -> int:
    return sum(last - first + 1 for block, first, last, _, _ in parts if block is not None and last >= first)


@each(
    ("changes", "on"),
    [
        ({}, [4, 5, 6]),
        ({"psr_up": 0}, []),
        ({"pmc4_pm": 1}, [4, 5, 6]),
        ({"pmc4_pm": 1, "psr_pp": 0}, [5, 6]),
        ({"pmc5_plm": 7}, [4, 5, 6]),  # cycles, of which the operating system's are known
        ({"pmc5_plm": 6}, [4, 6]),
        ({"pmc5_plm": 0}, [4, 6]),
        ({"psr_cpl": 0}, []),
        ({"psr_cpl": 0, "pmc6_plm": 1}, [6]),
        ({"pmc0_fr": 1}, []),
        ({"pmc6_ism": 0}, [4, 5, 6]),
    ],
)
def test_a_counter_that_does_not_count_now_is_no_monitor(changes: dict[str, int], on: list[int]) -> None:
    """Montecito manual section 3.3.1: PSR.up or PSR.pp by PMC.pm, PSR.cpl within PMC.plm, not frozen."""
    unit = by_hand(**changes)
    assert [monitor.pmd for monitor in unit.monitors] == on
    assert unit.wants_machine == (5 in on or 6 in on) and unit.wants_tally == (4 in on)
    assert sorted(counted(unit, "montecito")) == on


def test_what_no_one_can_count_is_refused() -> None:
    model = get("montecito")
    file = model.register_file()
    free = next(code for code in range(256) if code not in {event.code for event in model.events})
    file.write("pmc4", IA64_ONLY | free << 8 | USER)
    file.run_program()
    with pytest.raises(RuleError, match="counters_count_known_events"):
        CountingUnit(model, file)
    event = next(event for event in model.events if event.fidelity == "unmodelled" and 10 in event.counters)
    file.write("pmc4", 0)
    file.write("pmc10", IA64_ONLY | event.umask << 16 | event.code << 8 | USER)
    with pytest.raises(PfmonError, match="not modelled"):
        CountingUnit(model, file)
