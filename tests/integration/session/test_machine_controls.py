"""Triggers, event sets, intervals and PSR.up on events that the machine decides: the parts of a run are the whole."""

import json
from functools import cache
from pathlib import Path

import pytest
from command import pfmon
from grids import first_quick
from guests import SMALL, guest, quiet
from ia64_program import EXIT, write_program
from monitored import monitored
from planned_sets import event_sets

from pfmon.errors import PfmonError
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.program.symbols import SymbolTable
from pfmon.session.run.controls import Controls, Trigger
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.monitoring import Interval
from pfmon.session.run.programmed_pmu import ProgrammedPmu, Value
from pfmon.stream._stream import Consumer

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "ia64"
SOME = 3
"""One event in so many, for a run that is not exhaustive."""
SAMPLE = [("queens", "itanium"), ("fib", "montecito"), ("sort", "itanium2")]
CASES = [
    *(pytest.param(*one, SOME, marks=pytest.mark.slow) for one in SAMPLE),
    *(pytest.param(*one, 1, marks=pytest.mark.exhaustive) for one in [*SAMPLE, ("hashmap", "montecito")]),
]
CYCLES = ("CPU_CYCLES", "CPU_OP_CYCLES_ALL")


@cache
def requests(pmu: str, share: int) -> tuple[EventRequest, ...]:
    """One in so many of the events that can be counted, some of them with a threshold; cycles always."""
    found = []
    for number, event in enumerate(get(pmu).events):
        if number % share and event.name not in CYCLES:
            continue
        for threshold in (0, 1) if event.max_increment > 1 else (0,):
            request = EventRequest(event.name, threshold=threshold)
            try:
                ProgrammedPmu(get(pmu), Request((request,)))
            except PfmonError:
                continue
            found.append(request)
    return tuple(found)


def groups(pmu: str, share: int, count: int = 1) -> list[EventSets]:
    return [event_sets(pmu, requests(pmu, share)) for _ in range(count)]


def run(
    name: str, pmu: str, share: int, controls: Controls, sets: int = 1, cuts: tuple[int, ...] = ()
) -> tuple[list[list[Value]], list[Interval]]:
    """What each set counted itself, and the intervals; ``cuts``: code addresses where parts of the stream end in any
    case, as triggers there start what has begun with the first instruction."""
    program = guest(name, SMALL[name], trace=True)
    intervals: list[Interval] = []
    if cuts:
        starts = [Trigger("c", "c", address, True) for address in (program.ip, *cuts)]
        controls = controls._replace(triggers=(*starts, *controls.triggers))
    monitoring = monitored(program, groups(pmu, share, sets), controls, on_interval=intervals.append, machine=load(pmu))
    counts = monitoring.counts()
    if sets == 1:
        return [[count.value for count in counts]], intervals
    size = len(counts) // sets
    estimates = [count.estimate for count in counts]
    raws = [[e.raw for e in estimates[i * size : (i + 1) * size] if e] for i in range(sets)]
    trues = [e.true for e in estimates[:size] if e]
    return [*raws, trues], intervals


@cache
def retired(name: str) -> int:
    program = guest(name, SMALL[name])
    with quiet():
        program.run(Consumer())
    program.close()
    return program.processor.retired


def added(rows: list[list[Value]]) -> list[Value]:
    return [sum(value or 0 for value in column) for column in zip(*rows, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pmu", "share"), CASES)
def test_intervals_and_sets_that_take_turns_add_up_to_the_whole(name: str, pmu: str, share: int) -> None:
    size = retired(name) // 8 + 1
    (whole,), intervals = run(name, pmu, share, Controls(interval=size))
    assert len(intervals) == 8 and sum(value != 0 for value in whole) > 60 // share
    assert added([values for _, values in intervals]) == whole
    assert all(value is not None and value >= 0 for _, values in intervals for value in values)
    (*raws, trues), _ = run(name, pmu, share, Controls(switch=size, true_values=True), sets=3)
    assert trues == whole == added(raws)
    turns = [added([values for _, values in intervals[turn::3]]) for turn in range(3)]
    assert raws == turns
    assert len({tuple(raw) for raw in raws}) == 3


TRIGGERS = {"fib": ("fib", 0x50), "sort": ("quicksort", 0x40), "queens": ("place", 0x40), "hashmap": ("main", 0x80)}
"""Example -> function, and how far behind its start the other trigger is."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pmu", "share"), CASES)
def test_what_triggers_let_count_and_what_they_do_not_are_the_whole(name: str, pmu: str, share: int) -> None:
    function, offset = TRIGGERS[name]
    symbols = {one.name: one.address for one in SymbolTable((EXAMPLES / name).read_bytes()).symbols()}
    first = symbols[function]
    second = first + offset

    def between(start: int, stop: int) -> list[Value]:
        triggers = (Trigger("a", "a", start, True, repeats=True), Trigger("b", "b", stop, False, repeats=True))
        return run(name, pmu, share, Controls(triggers=triggers))[0][0]

    before = run(name, pmu, share, Controls(triggers=tuple(Trigger("c", "c", at, False) for at in (first, second))))[0][
        0
    ]
    inside, outside = between(first, second), between(second, first)
    (whole,), _ = run(name, pmu, share, Controls(), cuts=(first, second))
    assert added([before, inside, outside]) == whole
    names = [event.name for event in requests(pmu, share)]
    cycles = names.index(CYCLES[pmu == "montecito"])
    assert all(part[cycles] for part in (before, inside, outside))


# A bundle has three instructions here, two of them nops: at most two bundles a cycle, and a cycle for each addition.
WORK = ["adds r8=1,r8"]
COUNTED = "cpu_cycles,inst_dispersed"


def planted(path: Path, inside: int, outside: int) -> Path:
    """A program that counts ``inside`` of its additions, in two pieces."""
    pieces = [*WORK * outside, "sum 4", *WORK * (inside // 2), "rum 4", *WORK * outside]
    pieces += ["sum 4", *WORK * (inside - inside // 2), "rum 4", *WORK * outside]
    return write_program(path, [*pieces, *EXIT])


def counts(path: Path, *options: str) -> dict[str, int]:
    done = pfmon("--json", "--no-cmd-output", "-e", COUNTED, *options, str(path))
    assert done.returncode == 0, done.stderr
    return {event["name"]: event["count"] for event in json.loads(done.stdout)["events"]}


@pytest.mark.slow
def test_only_cycles_between_sum_and_rum_count(tmp_path: Path) -> None:
    """An addition takes a cycle and its bundle three syllables; those outside take nothing."""
    options = ("--insecure", "--dont-start")
    few, more = (planted(tmp_path / f"inside{n}", n, 20) for n in (2000, 6000))
    for path, additions in ((few, 2000), (more, 6000)):
        found = counts(path, *options)
        # The nops behind sum, the pieces, and rum with the nop before it; a border's cycle is that of its end.
        assert abs(found["INST_DISPERSED"] - 3 * additions) <= 2 * 12
        assert found["CPU_CYCLES"] >= additions
    far = planted(tmp_path / "outside", 2000, 3000)
    assert abs(counts(far, *options)["INST_DISPERSED"] - 3 * 2000) <= 2 * 12
    assert counts(far)["INST_DISPERSED"] > 3 * 11000
    assert counts(far, "--insecure", "--dont-start")["CPU_CYCLES"] < counts(far)["CPU_CYCLES"] / 3


def reader(path: Path, between: int) -> Path:
    """A program whose exit status is the difference of two reads of the first counter, with warm caches."""
    read = ["adds r9=4,r0", "mov {}=pmd[r9]"]
    lines = ["alloc r36=ar.pfs,8,0,0", "adds r9=1,r0", "mov.i ar.lc=r9", "again:"]
    lines += [read[0], read[1].format("r34"), *WORK * between, read[1].format("r35"), "sub r32=r35,r34"]
    return write_program(path, [*lines, "br.cloop.sptk.few again", "adds r15=1025,r0", "break.m 0x100000"])


@pytest.mark.parametrize("event", first_quick(["cpu_cycles", "inst_dispersed"]))
def test_programs_read_the_live_counter_of_the_machine(tmp_path: Path, event: str) -> None:
    """Eight more additions in a row take eight more cycles, and are 24 instructions more."""
    few, more = (pfmon("--insecure", "-e", event, str(reader(tmp_path / str(n), n))) for n in (8, 16))
    assert few.stderr == more.stderr == ""
    assert more.returncode - few.returncode == {"cpu_cycles": 8, "inst_dispersed": 24}[event]
    assert few.returncode >= 8
