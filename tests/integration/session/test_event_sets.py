"""Any number of events in one run: the same counts as one by one, each replica within the hardware's rules."""

import random
from typing import Any

import pytest
from guests import guest, quiet

from pfmon.errors import PfmonError, RuleError
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, RangeRequest, Request
from pfmon.session.run.event_patterns import check_counters, expand
from pfmon.session.run.event_sets import EventSets, replicas
from pfmon.session.run.programmed_pmu import RunData

PMUS = ("itanium", "itanium2", "montecito")


def everything(pmu: str) -> list[str]:
    return [event.name for event in get(pmu).events if event.fidelity == "exact"]


def request_of(names: list[str], **given: Any) -> Request:
    return Request(tuple(EventRequest(name) for name in names), **given)


def values(sets: EventSets) -> dict[str, int | float | None]:
    program = guest("epic", trace=sets.wants_addresses)
    tally = sets.tally(program.table)
    with quiet():
        program.run(tally)
    program.close()
    sets.take(RunData(program.table, tally))
    return {count.name: count.value for count in sets.counts()}


@pytest.mark.parametrize("pmu", PMUS)
def test_all_at_once_counts_as_one_by_one_and_in_the_order_asked_for(pmu: str) -> None:
    names = everything(pmu)
    at_once = values(EventSets(get(pmu), request_of(names), unlimited=True))
    assert list(at_once) == names
    for name in names[::5]:
        assert values(EventSets(get(pmu), request_of([name])))[name] == at_once[name]


@pytest.mark.parametrize("pmu", PMUS)
def test_every_replica_has_a_counter_for_each_of_its_events(pmu: str) -> None:
    sets = EventSets(get(pmu), request_of(everything(pmu)), unlimited=True)
    assert len(sets.sets) >= len(everything(pmu)) / len(get(pmu).bank.numbers)
    for one in sets.sets:
        counters = one.programming.counters
        assert len(set(counters)) == len(counters)
        assert set(counters) <= set(get(pmu).bank.numbers)
        for monitor in one.programming.monitors:
            assert monitor.pmd in monitor.event.counters


def test_events_of_different_sets_go_to_different_replicas() -> None:
    request = request_of(["LOADS_RETIRED", "STORES_RETIRED"])
    with pytest.raises(RuleError):
        EventSets(get("itanium2"), request)
    assert len(EventSets(get("itanium2"), request, unlimited=True).sets) == 2


def one_by_one(pmu: str, names: list[str]) -> list[list[int]]:
    """The places of the events on each PMU, when each event goes to the first one that takes it."""
    sets: list[list[int]] = []
    for place in range(len(names)):
        for one in sets:
            try:
                EventSets(get(pmu), request_of([names[other] for other in [*one, place]]))
            except PfmonError:
                continue
            one.append(place)
            break
        else:
            EventSets(get(pmu), request_of([names[place]]))
            sets.append([place])
    return sets


@pytest.mark.parametrize("pmu", ["itanium", "itanium2", "montecito", "intel_v2", "ppc604e"])
def test_each_event_goes_to_the_first_replica_that_takes_it(pmu: str) -> None:
    draw = random.Random(pmu)
    countable = [name for name in expand(get(pmu), ["all"]) if ":" not in name]
    for _ in range(8):
        names = draw.choices(countable, k=draw.randint(2, 9))
        assert [places for _, places in replicas(get(pmu), request_of(names))] == one_by_one(pmu, names)


def test_a_range_holds_in_every_replica() -> None:
    irange = RangeRequest(((0x4000000000000000, 0x4000000000000010),))
    names = ["NOPS_RETIRED", "LOADS_RETIRED", "STORES_RETIRED", "PREDICATE_SQUASHED_RETIRED"]
    sets = EventSets(get("itanium2"), request_of(names, irange=irange), unlimited=True)
    assert set(values(sets).values()) == {0}  # the first page holds headers, no code


def test_patterns_mean_the_countable_events_of_that_name() -> None:
    model = get("itanium2")
    assert expand(model, ["^loads_", "nops_retired"]) == ["LOADS_RETIRED", "nops_retired"]
    once = {name for name in everything("itanium2") if model.events[name].alias_of == "-"}
    assert once < set(expand(model, ["all"]))
    assert "INST_RETIRED.ANY" in expand(get("intel_v2"), ["all"]) and "LLC_MISSES" in expand(get("intel_v2"), ["all"])
    assert not {event.name for event in model.events if event.fidelity == "unmodelled"} & set(expand(model, ["all"]))
    assert expand(model, ["no_such_event"]) == ["no_such_event"]
    assert "L3_INSERTS:MESI" in expand(get("montecito"), ["^l3_ins"])
    for pattern in ("l2_synth.*", "nothing.*like.it", "["):
        with pytest.raises(PfmonError):
            expand(model, [pattern])


def test_more_events_than_counters_ask_for_unlimited() -> None:
    model = get("itanium2")
    with pytest.raises(PfmonError, match="--unlimited"):
        check_counters(model, ["all"], expand(model, ["all"]))
    check_counters(model, ["^loads"], ["LOADS_RETIRED"])
