"""Counts of a machine's records against a plain recount of them: every event, thresholds, random qualifications."""

import random
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import NamedTuple

import pytest
from grids import diagonal, few
from machine_runs import PROGRAMS, machine_and_guest
from plain_counts import OfMachine, Place, PlainCounts, coded

from pfmon.counting.totals.counting_unit import CountingUnit, MachineRecords
from pfmon.counting.totals.cycle_records import requires_timing_model
from pfmon.errors import PfmonError
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, OpcodeMatch, RangeRequest, Request
from pfmon.session.run.programmed_pmu import ProgrammedPmu
from pfmon.stream._stream import BlockTable, Pipe, Recorder
from pfmon.stream.recording.block_records import BlockRecord, InstructionRecord

SMALL = {"fib": ["9"], "sort": ["60"], "epic": [], "nbody": ["2"], "lz": ["150"]}
MACHINES = ("itanium", "itanium2", "montecito")
RANGES = {name: RangeRequest(((0x6000000000010000, 0x6000000000012000),)) for name in SMALL}


class Run(NamedTuple):
    """A program's stream with its blocks."""

    recorder: Recorder
    table: BlockTable
    block: Callable[[int], BlockRecord]


@cache
def run(name: str) -> Run:
    _, guest = machine_and_guest(name, "itanium2", arguments=SMALL.get(name, PROGRAMS[name]))
    recorder = Recorder()
    guest.run(recorder)
    guest.close()
    return Run(recorder, guest.table, cache(guest.table.block))


@cache
def records(name: str, pmu: str, ranges: tuple[tuple[int, int], ...] = ()) -> MachineRecords:
    """What a machine records of it; ``ranges``: the data ranges in force."""
    from pfmon.machine._machine import Machine

    figures = load(pmu)
    machine = Machine(figures, run(name).table, ranges)
    words = run(name).recorder.words()
    stream = Recorder()
    stream.load(words)
    stream.replay(Pipe(machine, threaded=False))
    machine.finish()
    return MachineRecords(machine, figures)


@cache
def recorded(name: str, pmu: str, ranges: tuple[tuple[int, int], ...]) -> OfMachine:
    """The same, as it is counted again."""
    return OfMachine(records(name, pmu, ranges))


def both(name: str, pmu: str, counting: ProgrammedPmu) -> list[tuple[int, int]]:
    """What each monitor that needs the machine comes to: counted, and recounted; place by place."""
    unit = counting.unit
    ranges = tuple(unit.data_ranges or ())
    found = records(name, pmu, ranges)
    _, table, block = run(name)
    tally = unit.tally(table, True)
    if unit.wants_tally:
        run(name).recorder.replay(tally)
    sink = unit.count(table, tally, found, by_place=True)
    contents = counting.counters.registers.contents()
    plain = PlainCounts(recorded(name, pmu, ranges), block, get(pmu), contents, int(found.figures["rse.rate"]))
    pairs = []
    for number, monitor in enumerate(unit.monitors):
        if requires_timing_model(monitor.signal, monitor.threshold):
            places = plain.by_place(monitor)
            again = by_address(places, block)
            counted = {at: counts[number] for at, counts in sink.by_address().items() if counts[number]}
            assert counted == {at: count for at, count in again.items() if at is not None}, monitor
            assert sink.outside_blocks()[number] + sum(counted.values()) == sink.totals()[number]
            pairs.append((sink.totals()[number], sum(places.values())))
    return pairs


def by_address(places: dict[Place, int], blocks: Callable[[int], BlockRecord]) -> dict[int | None, int]:
    """Counts by address; what no instruction did is where the block before it ended (docs/dev/stream.md)."""
    found: dict[int | None, int] = {}
    for (block, number), count in places.items():
        at = None
        if block is not None:
            instructions = blocks(block).instructions
            at = instructions[min(number, len(instructions) - 1)].address
        found[at] = found.get(at, 0) + count
    return {at: count for at, count in found.items() if count}


def programmed(pmu: str, request: Request) -> ProgrammedPmu | None:
    try:
        return ProgrammedPmu(get(pmu), request)
    except PfmonError:
        return None


def check_all(name: str, pmu: str, share: int) -> None:
    """One event in so many, with every threshold that it takes, and with data ranges where it is qualified by them."""
    nonzero = 0
    for place, event in enumerate(get(pmu).events):
        if place % share:
            continue
        for threshold in range(max(1, min(event.max_increment, 4))):
            drange = RANGES[name] if event.dar and threshold % 2 == 0 else None
            request = Request((EventRequest(event.name, threshold=threshold),), drange=drange)
            counting = programmed(pmu, request)
            for counted, again in both(name, pmu, counting) if counting else ():
                assert counted == again, (event.name, threshold)
                nonzero += counted > 0
    assert nonzero > 60 // share


ONE_QUICK = ["itanium2", *(pytest.param(one, marks=pytest.mark.slow) for one in ("itanium", "montecito"))]


@pytest.mark.slow
@pytest.mark.parametrize("pmu", ONE_QUICK)
def test_every_event_of_the_machine_counts_as_the_plain_recount(pmu: str) -> None:
    check_all("fib", pmu, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pmu"), few(product(sorted(set(SMALL) - {"fib"}), MACHINES), 4))
def test_every_event_does_on_other_programs(name: str, pmu: str) -> None:
    check_all(name, pmu, 1)


def some_request(name: str, pmu: str, pick: random.Random) -> Request:
    """An event with a random qualification."""
    table = run(name).table
    somewhere: list[InstructionRecord] = [one for n in table.numbers() for one in table.block(n).instructions]
    event = pick.choice(list(get(pmu).events))
    irange = drange = None
    matcher: OpcodeMatch | None = None
    if pick.random() < 0.6:
        low = pick.choice(somewhere).address & ~15
        irange = RangeRequest(
            ((low, low + 16 * pick.choice((1, 4, 30, 300))),), inverse=pick.random() < 0.4, fine=pick.random() < 0.5
        )
    if pick.random() < 0.5:
        slot, encoding = coded(pick.choice(somewhere))
        mask = pick.getrandbits(41) & pick.getrandbits(41)
        if pmu == "montecito":
            matcher = OpcodeMatch(slot + pick.choice(("", "i")) if slot != "i" else "mi", encoding, mask)
        else:
            narrow = (encoding >> 27) << 13 | encoding & 0x1FFF
            matcher = OpcodeMatch("mifb", narrow, mask & (1 << 27) - 1)
    if pick.random() < 0.4:
        drange = RANGES[name]
    threshold = pick.randrange(max(1, event.max_increment)) if pick.random() < 0.5 else 0
    mesi = "".join(letter for letter in "MESI" if pick.random() < 0.6) if event.mesi else ""
    return Request(
        (EventRequest(event.name, threshold=threshold, mesi=mesi),),
        irange=irange,
        drange=drange,
        opcodes=(matcher, None),
        check_qualifiers=False,
    )


def compare(name: str, pmu: str, cases: int) -> None:
    pick = random.Random(f"{name} {pmu} {cases}")
    done = counted = 0
    while done < cases:
        request = some_request(name, pmu, pick)
        counting = programmed(pmu, request)
        pairs = both(name, pmu, counting) if counting else []
        for value, again in pairs:
            assert value == again, request
            counted += value > 0
        done += bool(pairs)
    assert counted > cases // 10


@pytest.mark.slow
@pytest.mark.parametrize("pmu", MACHINES)
@pytest.mark.parametrize("name", ["fib", "epic"])
def test_random_qualifications_count_as_the_plain_recount(name: str, pmu: str) -> None:
    compare(name, pmu, 40)


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("pmu", few(MACHINES, 4))
@pytest.mark.parametrize("name", few(sorted(SMALL), 3))
def test_many_qualifications_do(name: str, pmu: str) -> None:
    compare(name, pmu, 120)


def test_counting_units_are_told_what_they_lack() -> None:
    unit = CountingUnit(
        get("itanium2"), ProgrammedPmu(get("itanium2"), Request((EventRequest("CPU_CYCLES"),))).counters.registers
    )
    assert unit.wants_machine and unit.wants_addresses and not unit.wants_tally
    with pytest.raises(RuntimeError, match="machine"):
        unit.count(run("fib").table, None)
