"""What counters count, read from register contents: the inverse of programming, and values written by hand."""

import random
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from example_counts import examples
from grids import first_quick
from hypothesis import given
from hypothesis import strategies as st
from pmu_assignments import legal
from pmu_cases import cases, program

from pfmon import pmu
from pfmon.errors import PfmonError, RuleError
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.monitors import monitors, read_counters
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Monitor, Programming
from pfmon.pmu.model.request import EventRequest, OpcodeMatch, RangeRequest

from .test_reference_cases import known_differences

EAR_CODES = {"itanium": (0x23, 0x67), "itanium2": (0x43, 0xC8), "montecito": (0x43, 0xC8)}
ISM = {"itanium": st.integers(0, 3), "itanium2": st.integers(0, 3), "montecito": st.sampled_from((0, 2))}


def canonical(model: PmuModel, event: Event) -> Event:
    """The event that the table gives the encoding of an alias."""
    return event if event.alias_of == "-" else model.events[event.alias_of]


def expected(name: str, asked: EventRequest, event: Event, number: int, options: Mapping[str, Any]) -> Monitor:
    """What a request asks a counter for: its own levels and instruction set or those of all, the rest as they are."""
    return Monitor(
        event,
        number,
        number,
        asked.plm or options.get("plm", 8),
        options.get("system_wide", False),
        2 if name == "montecito" else (asked.ism or 0),
        asked.threshold,
        name != "montecito",  # libpfm sets oi on Itanium and Itanium 2
        asked.all_threads,
        sum(1 << "ISEM".index(state) for state in set(asked.mesi)),
        False,
    )


def same(
    model: PmuModel,
    asked: list[EventRequest],
    made: Programming,
    values: Mapping[str, int],
    options: Mapping[str, Any] = MappingProxyType({}),
) -> bool:
    """Whether register values decode to what was asked for, on the counters of the programming; a counter of an event
    address register's captures only has to have their code."""
    found = {monitor.pmd: monitor for monitor in monitors(model, values)}
    for one, number in zip(asked, made.counters, strict=True):
        event, other = canonical(model, model.events[one.name]), found.pop(number)
        assert (event.code == other.event.code) if event.code in EAR_CODES[model.name] else (event == other.event)
        assert other == expected(model.name, one, other.event, number, options)
    return not found


def written(model: PmuModel, made: Programming, seed: int) -> dict[str, int]:
    """What a register file holds after the writes, made in some order."""
    names = list(made.writes)
    random.Random(seed).shuffle(names)
    file = model.register_file()
    for name in names:
        file.write(name, made.writes[name])
    return file.contents()


def events_of(name: str) -> list[str]:
    return [event.name for event in pmu.get(name).events]


@pytest.mark.parametrize("name", first_quick(pmu.IA64))
def test_every_event_is_found_in_the_registers_that_count_it(name: str) -> None:
    model = pmu.get(name)
    for event in model.events:
        asked = EventRequest(event.name, mesi="ME" if event.mesi else "")
        made = model.program([asked])
        assert same(model, [asked], made, made.writes), event.name


@pytest.mark.parametrize("name", pmu.IA64)
def test_every_mode_of_an_address_register_is_its_own_event(name: str) -> None:
    model = pmu.get(name)
    for event in model.events:
        if event.ear == "-":
            continue
        (found,) = monitors(model, model.program([event.name]).writes)
        assert (found.event.ear, found.event.umask, found.event.code) == (event.ear, event.umask, event.code)


@st.composite
def requests(draw: st.DrawFn, name: str) -> tuple[list[EventRequest], dict[str, Any]]:
    model = pmu.get(name)
    group = draw(st.sampled_from(sorted({event.set for event in model.events})))
    of_group = [event.name for event in model.events if event.set == group]
    some = st.one_of(st.sampled_from(of_group), st.sampled_from(events_of(name)))
    chosen = draw(st.lists(some, min_size=1, max_size=len(model.bank.numbers)))
    made = []
    for event in map(model.events.__getitem__, chosen):
        made.append(
            EventRequest(
                event.name,
                draw(st.one_of(st.none(), st.integers(1, 15))),
                draw(ISM[name]),
                draw(st.integers(0, max(event.max_increment - 1, 0))),
                all_threads=event.all and draw(st.booleans()),
                mesi=draw(st.text("MESI", min_size=1, max_size=3)) if event.mesi else "",
            )
        )
    options: dict[str, Any] = {
        "plm": draw(st.integers(1, 15)),
        "system_wide": draw(st.booleans()),
        "check_qualifiers": False,
        "check_ears": False,
    }
    if draw(st.booleans()):
        made = [one._replace(plm=None) for one in made]
        code = RangeRequest(((0x4000, 0x4400),), demand_fetch=name == "montecito")
        options["irange"] = draw(st.sampled_from((None, code)))
        options["drange"] = draw(st.sampled_from((None, RangeRequest(((0x123400, 0x245600),)))))
    if draw(st.booleans()):
        options["opcodes"] = (OpcodeMatch("mi", 0x1234, 0x7F0F), None)
    return made, options


ONE_QUICK = ["itanium2", *(pytest.param(one, marks=pytest.mark.slow) for one in ("itanium", "montecito"))]


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_QUICK)
def test_registers_written_in_any_order_decode_to_the_programming(name: str) -> None:
    model = pmu.get(name)
    seen = Counter[bool]()

    @examples(150)
    @given(requests(name), st.integers(0, 1 << 20))
    def check(asked: tuple[list[EventRequest], dict[str, Any]], seed: int) -> None:
        events, options = asked
        try:
            made = model.program(events, **options)
        except PfmonError:
            seen[False] += 1
            return
        seen[True] += 1
        assert same(model, events, made, written(model, made, seed), options)

    check()
    assert seen[True] > 50


def asked_for(model: PmuModel, case: dict) -> Counter[str]:
    """The events of a case by their canonical names; event address register events by their code."""
    events = [canonical(model, model.events[given["name"]]) for given in case["in"]["events"]]
    return Counter(hex(event.code) if event.code in EAR_CODES[model.name] else event.name for event in events)


def found_in(model: PmuModel, found: tuple[Monitor, ...]) -> Counter[str]:
    return Counter(hex(one.event.code) if one.event.code in EAR_CODES[model.name] else one.event.name for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", pmu.IA64)
def test_registers_of_the_worked_programmings_count_what_was_asked(name: str) -> None:
    """The values are libpfm's. Its known contradictions to a manual are left out; where it chose counters against the
    rules (PMD5 and PMD8 of Montecito take PMC4's unit mask), they are in the registers that are chosen here."""
    model = pmu.get(name)
    known = known_differences()
    done = 0
    for case in cases(name):
        if case["out"]["ret"] != "SUCCESS" or (name, case["id"]) in known:
            continue
        values = {f"pmc{number}": int(value, 16) for number, value in case["out"]["pmcs"]}
        events = [model.events[given["name"]] for given in case["in"]["events"]]
        if not legal(name, events, tuple(number for number, _ in case["out"]["pmcs"])[: len(events)]):
            values = program(name, case["in"]).writes
        reading = read_counters(model, values)
        assert not reading.unknown, (case["id"], reading.unknown)
        assert found_in(model, reading.monitors) == asked_for(model, case), case["id"]
        done += 1
    assert done > 2000


def test_fields_of_a_configuration_are_those_of_the_manual() -> None:
    """Montecito manual table 3-6: MESI 30:27, all 26, ism 25:24, threshold 22:20, umask 19:16, es 15:8, pm, oi, ev."""
    value = 0b1010 << 27 | 1 << 26 | 2 << 24 | 1 << 20 | 0xF << 16 | 0xDD << 8 | 1 << 6 | 1 << 5 | 1 << 4 | 0b1001
    (found,) = monitors(pmu.get("montecito"), {"pmc4": value})
    assert found.event.name == "L3_READS_ALL_ALL"
    assert found._replace(event=None) == (  # type: ignore[arg-type]  # only the other fields are compared
        (None, 4, 4, 0b1001, True, 2, 1, True, True, 0b1010, True, False, False, False)
    )


@pytest.mark.parametrize("name", pmu.IA64)
def test_no_register_written_means_no_monitor(name: str) -> None:
    assert read_counters(pmu.get(name), {}) == ((), ())
    assert read_counters(pmu.get(name), pmu.get(name).register_file()) == ((), ())


@pytest.mark.parametrize("name", pmu.IA64)
def test_a_counter_without_levels_is_off_whatever_its_event(name: str) -> None:
    assert read_counters(pmu.get(name), {"pmc4": 0x7F << 8}) == ((), ())


@pytest.mark.parametrize("name", pmu.IA64)
def test_a_code_that_no_event_has_is_said(name: str) -> None:
    model = pmu.get(name)
    codes = {event.code for event in model.events}
    free = next(code for code in range(0x7F, 0, -1) if code not in codes)
    reading = read_counters(model, {"pmc5": free << 8 | 8})
    assert reading.monitors == ()
    assert [(one.pmd, one.code, one.umask) for one in reading.unknown] == [(5, free, 0)]
    with pytest.raises(RuleError, match=f"PMC5: event code {free:#x}.*counters_count_known_events"):
        monitors(model, {"pmc5": free << 8 | 8})


def test_an_l1_event_whose_set_pmc5_does_not_select_is_said() -> None:
    """Itanium 2: LOADS_RETIRED (0xcd) is of set L1D:3, which needs PMC5; CPU_CYCLES (0x12) is of none."""
    reading = read_counters(pmu.get("itanium2"), {"pmc4": 0xCD08, "pmc5": 0x1208})
    assert [one.event.name for one in reading.monitors] == ["CPU_CYCLES"]
    assert [one.reason for one in reading.unknown] == ["LOADS_RETIRED is of set L1D:3, which PMC5 does not select"]


def test_unit_mask_of_pmc4_holds_for_all_l2_events_of_its_set() -> None:
    """Itanium 2 manual, L2 events: with 0xb8 at unit mask 0xb in PMC4, 0xb8 at 9 in PMC6 counts unit mask 0xb too."""
    found = monitors(pmu.get("itanium2"), {"pmc4": 0xBB808, "pmc6": 0x9B808})
    assert [one.event.name for one in found] == ["L2_OPS_ISSUED_STORE"] * 2


def test_pmd5_shares_the_unit_mask_of_pmc4_and_pmd7_not_that_of_pmc6() -> None:
    """Montecito manual section 4.8.4."""
    model = pmu.get("montecito")
    kinds = [e for e in model.events if e.name.startswith("L2D_REFERENCES_")]
    first, other = (event.code << 8 | event.umask << 16 | 2 << 24 | 8 for event in kinds[:2])
    found = monitors(model, {"pmc4": first, "pmc5": other, "pmc6": first, "pmc7": other})
    assert [one.event for one in found] == [kinds[0], kinds[0], kinds[0], kinds[1]]


def test_address_register_that_is_off_leaves_the_event_of_its_code() -> None:
    """Itanium 2: code 0xc8; PMC11 with plm 0 captures nothing, with mode 1 and unit mask 8 TLB faults."""
    model = pmu.get("itanium2")
    assert [one.event.name for one in monitors(model, {"pmc4": 0xC808})] == ["DATA_EAR_EVENTS"]
    assert [one.event.name for one in monitors(model, {"pmc4": 0xC808, "pmc11": 0x80088})] == ["DATA_EAR_TLB_FAULT"]


@pytest.mark.parametrize("name", ["ppc604e", "ibm1994"])
def test_every_powerpc_event_is_found_in_the_registers_that_count_it(name: str) -> None:
    model = pmu.get(name)
    for event in model.events:
        for plm, mask in (("u", 8), ("k", 1), ("uk", 9)):
            made = model.program([event.name], plm=plm)
            (found,) = monitors(model, written(model, made, 1))
            assert (found.event, found.pmd, found.plm) == (event, made.counters[0], mask)


def test_powerpc_counters_are_read_at_the_manuals_bits() -> None:
    """PowerPC 604 manual tables 9-1 to 9-3: PMC1SELECT is MMCR0[19-25], PMC2SELECT MMCR0[26-31], PMC3SELECT MMCR1[0-4],
    PMC4SELECT MMCR1[5-9], DIS MMCR0[0]; 0b000_0010 are instructions, 0b00_1000 of PMC2 branches."""
    model = pmu.get("ppc604e")
    values = {"mmcr0": 2 << 6 | 8, "mmcr1": 2 << 27 | 1 << 22}
    found = [(one.pmd, one.event.name) for one in monitors(model, values)]
    instructions, branches = "INSTRUCTIONS_COMPLETED", "BRANCHES_COMPLETED"
    assert found == [(1, instructions), (2, branches), (3, instructions), (4, "PROCESSOR_CYCLES")]
    assert read_counters(model, {**values, "mmcr0": 1 << 31 | values["mmcr0"]}) == ((), ())
    assert read_counters(model, {}) == ((), ())


def test_a_code_that_the_powerpc_counter_does_not_have_is_said() -> None:
    """0b000_1111 of PMC1 are floating-point instructions, of PMC2 results of an integer unit; 0b111_1111 is nothing."""
    reading = read_counters(pmu.get("ppc604e"), {"mmcr0": 0x7F << 6 | 0xF})
    assert [one.event.name for one in reading.monitors] == ["MCIU_RESULTS"]
    assert [(one.pmd, one.code, one.register) for one in reading.unknown] == [(1, 0x7F, "MMCR0")]


def test_both_threads_are_counted_as_the_head_of_the_bank_says() -> None:
    """Montecito manual section 4.8.4: .all of PMC4 holds on PMD5 and PMD8; table 3-6: PMD10 to PMD15 ignore it."""
    model = pmu.get("montecito")
    l2d = model.events["L2D_OZQ_ACQUIRE"].code << 8 | 2 << 24 | 8
    plain = model.events["L2D_MISSES"].code << 8 | 2 << 24 | 8
    both = 1 << 26
    found = monitors(model, {"pmc4": l2d | both, "pmc5": l2d, "pmc6": l2d, "pmc7": l2d | both, "pmc10": plain | both})
    assert {one.pmd: one.all_threads for one in found} == {4: True, 5: True, 6: False, 7: False, 10: False}


def test_events_of_both_threads_are_put_where_that_is_counted() -> None:
    model = pmu.get("montecito")
    events = [EventRequest("L2D_OZQ_ACQUIRE", all_threads=every) for every in (True, False, True)]
    made = model.program(events)
    assert [one.all_threads for one in made.monitors] == [True, False, True]
    crowd = [EventRequest("L2D_MISSES", all_threads=True)] * 7
    assert set(model.program(crowd[:6]).counters) == set(range(4, 10))
    with pytest.raises(PfmonError, match="events_need_free_counters"):
        model.program(crowd)
