"""Qualified counts against an independent recount from the log of a run, instruction by instruction.

The recount goes by the registers as the manuals describe them (Montecito manual sections 3.3.5 to 3.3.7, Itanium
manual section 6.2): it reads addresses from the traced log, opcodes from the code, slot types from the templates in
memory, and the events by mnemonic. It shares nothing with the counting path but the register values.
"""

import random
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import pytest
from grids import few
from guests import guest, quiet
from instruction_log import SIGNALS, Step, logged_steps
from register_rules import bits, code_passes, data_constrained, data_passes, opcode_passes

from pfmon.counting.totals.countable import event_needs_machine
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.pmu.model.programming import Programming
from pfmon.pmu.model.request import EventRequest, OpcodeMatch, RangeRequest, Request
from pfmon.session.run.programmed_pmu import ProgrammedPmu, RunData
from pfmon.stream._stream import BlockTable, Recorder

PROGRAMS = {"epic": [], "fib": ["8", "60"], "queens": ["4"], "nbody": ["2"], "strings": ["20"], "lz": ["300"]}


class Log(NamedTuple):
    """The distinct steps of a run, by instruction, with how often each happened; code and data addresses used."""

    steps: dict[tuple[int, str, int], list[tuple[Step, int]]]
    bundles: list[int]
    data: list[int]


@cache
def log(name: str) -> Log:
    """What the slow path says of a run."""
    program = guest(name, PROGRAMS[name], slow=True, trace=True)
    recorder = Recorder()
    with quiet():
        program.run(recorder)
    steps: dict[tuple[int, str, int], list[tuple[Step, int]]] = {}
    used: set[int] = set()
    for step, times in Counter(logged_steps(iter(recorder.words()), program)).items():
        steps.setdefault((step.bundle, step.slot, step.opcode), []).append((step, times))
        used.update((*step.spilled, *step.filled, *([] if step.address is None else [step.address])))
    program.close()
    return Log(steps, sorted({bundle for bundle, _, _ in steps}), sorted(used))


@cache
def recorded(name: str, trace: bool) -> tuple[Recorder, BlockTable]:
    """The stream of the fast path."""
    program = guest(name, PROGRAMS[name], trace=trace)
    recorder = Recorder()
    with quiet():
        program.run(recorder)
    program.close()
    return recorder, program.table


def recount(made: Programming, name: str) -> list[int]:
    """What each monitor counts, step by step."""
    totals = []
    for monitor in made.monitors:
        event = monitor.event
        channel = event.umask & 3 if event.code == 8 else 0
        if made.pmu == "itanium":
            channel = int(event.name.endswith("PMC9"))
        signal = SIGNALS[event.signal]
        passing = cache(partial(data_passes, made.pmu, made.writes))

        def inside(address: int | None, ranged: bool = event.dar, passing: Callable[[int], bool] = passing) -> bool:
            constrained = ranged and data_constrained(made.pmu, made.writes)
            return not constrained or (address is not None and passing(address))

        total = 0
        for (bundle, slot, opcode), steps in log(name).steps.items():
            if event.iar and not code_passes(made.pmu, made.writes, channel, bundle):
                continue
            if event.opc and not opcode_passes(made.pmu, made.writes, channel, slot, opcode):
                continue
            total += sum(times * signal(step, inside) for step, times in steps)
        totals.append(total if made.writes[f"pmc{monitor.pmc}"] >> 3 & 1 else 0)
    return totals


def some_request(pmu: str, name: str, pick: random.Random) -> Request:
    """A random combination of code range, opcode matcher, data range, privilege levels and event."""
    _, bundles, data = log(name)
    counted = (event for event in get(pmu).events if event.signal in SIGNALS)
    known = [event for event in counted if not event_needs_machine(event, 0)]
    irange = drange = None
    first: OpcodeMatch | None = None
    second: OpcodeMatch | None = None
    if pick.random() < 0.6:
        low, high = sorted((pick.choice(bundles), pick.choice(bundles)))
        high = min(high, low + 16 * pick.choice((1, 5, 40, 200, 5000)))
        irange = RangeRequest(((low, max(high, low) + 16),), inverse=pick.random() < 0.4, fine=pick.random() < 0.7)
    if pick.random() < 0.5:
        start = pick.choice(data)
        drange = RangeRequest(((start, start + pick.choice((1, 8, 100, 4096, 1 << 16))),))
    if pick.random() < 0.5:
        width = 41 if pmu == "montecito" else 27
        _, _, opcode = pick.choice(list(log(name).steps))
        match = opcode if width == 41 else bits(opcode, 27, 14) << 13 | bits(opcode, 0, 13)
        mask = (1 << width) - 1
        for _ in range(pick.choice((0, 1, 3, 6))):
            mask &= ~(1 << pick.randrange(width))
        slots = "".join(letter for letter in "mifb" if pick.random() < 0.7) or "m"
        matcher = OpcodeMatch(slots, match, mask)
        if pick.random() < 0.3:
            second = matcher
        else:
            first = matcher
    return Request(
        (EventRequest(pick.choice(known).name),),
        plm=pick.choice((8, 8, 9, 15)),
        check_qualifiers=pick.random() < 0.3,
        irange=irange,
        drange=drange,
        opcodes=(first, second),
    )


def compare(name: str, cases: int, seed: int) -> int:
    """Count a run under so many random programmings; how many of the counts were not zero."""
    pick = random.Random(seed)
    done = counted = 0
    while done < cases:
        request = some_request(pmu := pick.choice(("itanium", "itanium2", "montecito")), name, pick)
        try:
            counting = ProgrammedPmu(get(pmu), request)
        except PfmonError:
            continue
        recorder, table = recorded(name, counting.unit.wants_addresses)
        tally = counting.unit.tally(table)
        recorder.replay(tally)
        counting.take(RunData(table, tally))
        values = [count.value for count in counting.counts()]
        assert values == recount(counting.programming, name), (pmu, request)
        counted += any(values)
        done += 1
    return counted


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_random_qualifications_count_as_the_recount(name: str) -> None:
    assert compare(name, 25, seed=1) > 4


@pytest.mark.slow
@pytest.mark.parametrize("name", few(PROGRAMS, 1))
def test_hundreds_of_qualifications_count_as_the_recount(name: str) -> None:
    assert compare(name, 300, seed=2) > 60
