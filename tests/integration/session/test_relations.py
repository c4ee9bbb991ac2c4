"""Relations that hold exactly between qualified counts of the examples (pfmon on Itanium 2, sections 8.4 to 8.6)."""

from typing import Any

import pytest
from grids import diagonal, each, first_quick, sampled
from guests import SMALL, guest, quiet

from pfmon.counting.totals.countable import check_countable
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, RangeRequest, Request
from pfmon.pmu.qualify.breakpoint_ranges import checkpoint_range
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.session.profile.code_profile import Profile
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.programmed_pmu import RunData
from pfmon.session.run.symbolic_ranges import resolver

FUNCTIONS = {
    "noploop": "noploop",
    "fib": "fib",
    "queens": "main",
    "sort": "search",
    "lz": "unpack",
    "strings": "strlen",
}


def ran(name: str, arguments: list[str], request: Request, pmu: str = "itanium2") -> tuple[EventSets, Profile]:
    """Counters after a run, and where their counts come from."""
    counting = EventSets(get(pmu), request)
    program = guest(name, arguments, trace=counting.wants_addresses)
    tally = counting.tally(program.table)
    with quiet():
        program.run(tally)
    program.close()
    seen = RunData(program.table, tally)
    counting.take(seen)
    return counting, Profile(counting, LoadedObjects(program.process.program), seen)


def count(name: str, arguments: list[str], event: str, pmu: str = "itanium2", **given: Any) -> int:
    counting, _ = ran(name, arguments, Request((EventRequest(event),), **given), pmu)
    value = counting.counts()[0].value
    assert isinstance(value, int)
    return value


def limits_of(name: str, symbol: str, kind: str = "code") -> tuple[int, int]:
    program = guest(name)
    program.close()
    return resolver(LoadedObjects(program.process.program).own, kind)(symbol)


@sampled(10)
@each("pmu", ["itanium2", "montecito"])
@each("fine", [False, True])
@each(("name", "function"), FUNCTIONS.items())
def test_inside_and_outside_a_function_make_the_total(name: str, function: str, fine: bool, pmu: str) -> None:
    limits = limits_of(name, function)
    events = ["NOPS_RETIRED", "LOADS_RETIRED"]
    if fine and pmu == "montecito":  # coarse ranges of several pairs are for tagged instructions
        events.append("IA64_INST_RETIRED")
    for event in events:
        inside, outside = (
            count(name, SMALL[name], event, pmu, irange=RangeRequest((limits,), inverse=inverse, fine=fine))
            for inverse in (False, True)
        )
        assert inside + outside == count(name, SMALL[name], event, pmu)
        assert event == "LOADS_RETIRED" or (inside and (outside or not fine))


def test_noploop_retires_six_instructions_an_iteration_inside() -> None:
    inside = RangeRequest((limits_of("noploop", "noploop"),))
    # The loop is two bundles: five nops and br.cloop.
    for event, times in {"IA64_INST_RETIRED": 6, "NOPS_RETIRED": 5}.items():
        small, large = (count("noploop", [str(n)], event, irange=inside) for n in (1000, 4000))
        assert large - small == times * 3000
        assert 0 < small - times * 1000 < 40
    # What is outside only prints the number: as much for numbers of as many digits.
    outside = RangeRequest((limits_of("noploop", "noploop"),), inverse=True)
    assert len({count("noploop", [str(n)], "NOPS_RETIRED", irange=outside) for n in (1000, 4000)}) == 1


@pytest.mark.parametrize("n", [5, 11, 15])
def test_checkpoint_counts_three_instructions_a_call(n: int) -> None:
    # fib(n - 1) is called, fib(n - 2) is the next round of a loop: calls(n) = 1 + calls(n - 1) + calls(n - 3) + ...
    calls = [1, 1]
    for level in range(2, n + 1):
        calls.append(1 + sum(calls[level - 1 : 0 : -2]))
    entry = checkpoint_range(limits_of("fib", "fib")[0])
    assert count("fib", [str(n)], "IA64_INST_RETIRED", irange=entry) == 3 * calls[n]


@diagonal
@pytest.mark.parametrize("pmu", first_quick(["itanium", "itanium2", "montecito"]))
@pytest.mark.parametrize("name", first_quick(["epic", "fib", "strings"]))
def test_functions_and_blocks_sum_to_the_total_of_every_exact_event(name: str, pmu: str) -> None:
    for event in get(pmu).events:
        if event.fidelity != "exact":
            continue
        check_countable(get(pmu), event)
        counting, profile = ran(name, SMALL[name], Request((EventRequest(event.name),)), pmu)
        total = counting.counts()[0].value
        for rows in (profile.by_function(), profile.by_block()):
            assert sum(row.values[0] or 0 for row in rows) == total, event.name


def test_loads_from_an_array_are_split_by_the_functions_that_make_them() -> None:
    data = RangeRequest((limits_of("arrays", "B", "data"),))
    elements, rounds = 4096, 10
    doit = RangeRequest((limits_of("arrays", "doit"),))
    elsewhere = RangeRequest((limits_of("arrays", "elsewhere"),))
    assert count("arrays", [str(rounds)], "LOADS_RETIRED", drange=data, irange=doit) == rounds * elements
    # It reads C too, and the breakpoint pairs for B reach a little into C.
    assert elements <= count("arrays", [str(rounds)], "LOADS_RETIRED", drange=data, irange=elsewhere) < 2 * elements
