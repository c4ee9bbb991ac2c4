"""The sampler against the plain one, which does the same by reading and writing registers."""

import random
from functools import cache, partial
from typing import NamedTuple

import pytest
from grids import few
from guests import EXAMPLES, guest, quiet
from plain_sampler import PlainSampler

from pfmon.counting._counting import SampleBuffer, Sampler
from pfmon.counting.live.live_unit import LiveUnit
from pfmon.counting.totals.counting_unit import MachineRecords
from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.machine._machine import Machine
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.session.run.programmed_pmu import ProgrammedPmu
from pfmon.session.sampling.sampling_period import Period, Sample
from pfmon.stream._stream import Recorder

ARGUMENTS = {"hashmap": ["40"], "queens": ["4"], "sort": ["50"], "epic": [], "nbody": ["1"]}
COMMON = ["IA64_INST_RETIRED", "LOADS_RETIRED", "NOPS_RETIRED"]
EVENTS = {
    "itanium": [*COMMON, "CPU_CYCLES", "DATA_EAR_CACHE_LAT4", "BRANCH_EVENT"],
    "itanium2": [*COMMON, "CPU_CYCLES", "DATA_EAR_CACHE_LAT4", "L1I_EAR_CACHE_LAT0", "BRANCH_EVENT"],
    "montecito": [*COMMON, "CPU_OP_CYCLES_ALL", "DATA_EAR_CACHE_LAT4", "L1I_EAR_TLB_ALL", "ETB_EVENT"],
}


class Case(NamedTuple):
    """What is sampled, and how."""

    program: str
    pmu: str
    events: list[str]
    periods: list[Period | None]
    entries: int
    saturate: bool
    reset: bool


@cache
def recorded(name: str) -> tuple[Ia64Guest, Recorder]:
    program, recorder = guest(name, ARGUMENTS[name], trace=True), Recorder()
    with quiet():
        program.run(recorder)
    program.close()
    return program, recorder


def a_case(pick: random.Random) -> Case:
    pmu = pick.choice(list(EVENTS))
    events = pick.sample(EVENTS[pmu], pick.randint(1, 3))
    periods: list[Period | None] = [
        Period(pick.randint(1, 400), pick.randint(1, 400), pick.choice([0, 0, 7, 255]), pick.randint(1, 1 << 30))
        if pick.random() < 0.7
        else None
        for _ in events
    ]
    periods[0] = periods[0] or Period(50, 20)
    name = pick.choice(list(ARGUMENTS))
    return Case(name, pmu, events, periods, pick.choice([1, 3, 2048]), pick.random() < 0.2, pick.random() < 0.3)


def run(case: Case, plain: bool) -> tuple[list[Sample], int, dict[int, int]]:
    """The samples, how many were lost, and what the counters came to."""
    program, recorder = recorded(case.program)
    model, figures = get(case.pmu), load(case.pmu)
    counting = ProgrammedPmu(model, Request(tuple(map(EventRequest, case.events))))
    registers, programming = counting.counters.registers, counting.programming
    periods = dict(zip(programming.counters, case.periods, strict=True))
    held = sorted(set(programming.pmds) - set(periods))
    machine = Machine(figures, program.table) if counting.unit.wants_machine else None
    records = MachineRecords(machine, figures) if machine else None
    make = partial(LiveUnit, model, registers, program.table, True)
    samples: list[Sample] = []
    options = {"saturate": case.saturate, "entries": case.entries}
    if plain:
        listener = PlainSampler(registers, periods, held=held, reset=case.reset, **options)
        unit = make(listener, records)
        listener.clear = unit.clear_captures
        listener.stamp = lambda: unit.consumer.stamp
    else:
        buffer = SampleBuffer(lambda fields, retired: Sample(*fields, retired=retired), samples.extend, **options)
        counters = [(monitor.pmd, periods[monitor.pmd]) for monitor in counting.unit.monitors]
        reset = [pmd for pmd, period in counters if period is None] if case.reset else []
        unit = make(Sampler(buffer, counters, model.bank.width, reset), records, held=held)
    recorder.replay(machine or unit.consumer)
    if machine:
        machine.finish()
    unit.finish()
    if plain:
        return listener.samples, listener.lost, {pmd: listener.value(pmd) for pmd in periods}
    buffer.flush()
    return samples, buffer.lost, unit.totals()


def compare(pick: random.Random) -> int:
    """Check a random case; how many samples it has."""
    case = a_case(pick)
    found = run(case, plain=False)
    assert found == run(case, plain=True), case
    return len(found[0])


@pytest.mark.slow
def test_samples_are_those_of_the_plain_sampler() -> None:
    pick = random.Random(1)
    assert sum(compare(pick) for _ in range(12)) > 100


@pytest.mark.slow
@pytest.mark.parametrize("seed", few(range(2, 8), 2))
def test_many_samples_are_those_of_the_plain_sampler(seed: int) -> None:
    pick = random.Random(seed)
    assert sum(compare(pick) for _ in range(40)) > 1000


def test_programs_are_examples() -> None:
    assert all((EXAMPLES / "ia64" / name).exists() for name in ARGUMENTS)
