"""Perf's event names on every PMU: its tables against the kernel's names, and what the names do."""

import pytest
from grids import each

from pfmon.engine.linux.perf.perf_sources import CACHES, GENERIC, OPERATIONS
from pfmon.errors import BadValueError, PfmonError, RuleError
from pfmon.pmu import EventRequest, get, names
from pfmon.pmu.model.describe import event_info, event_list
from pfmon.pmu.model.generic_events import generic_event, generic_events, perf_names, spelled
from pfmon.pmu.model.options import event_options
from pfmon.pmu.model.request import is_precise, name_parts
from pfmon.signals.signal_names import signals

KERNELS = {*GENERIC, *(f"{cache}-{what}{end}" for cache in CACHES for what in OPERATIONS for end in ("s", "-misses"))}
USUAL = {name.name for name in perf_names().values() if name.stands_for == "-"}

# Linux 6.1, arch/x86/events/intel/core.c, intel_perfmon_event_map: event code and unit mask.
OF_INTEL = {
    "cycles": (0x3C, 0x00),
    "instructions": (0xC0, 0x00),
    "cache-references": (0x2E, 0x4F),
    "cache-misses": (0x2E, 0x41),
    "branches": (0xC4, 0x00),
    "branch-misses": (0xC5, 0x00),
    "bus-cycles": (0x3C, 0x01),
}


def test_names_are_those_of_the_kernel_and_every_pmu_has_a_row_for_each() -> None:
    assert USUAL <= KERNELS
    assert {*GENERIC} <= USUAL
    for pmu in names():
        assert set(generic_events(pmu)) == USUAL, pmu


def test_other_spellings_stand_for_usual_ones() -> None:
    others = {one.name: one.stands_for for one in perf_names().values() if one.stands_for != "-"}
    assert set(others.values()) <= USUAL and not set(others) & USUAL


@pytest.mark.parametrize("pmu", names())
def test_a_row_has_an_event_that_is_counted_or_says_why_not(pmu: str) -> None:
    events = get(pmu).events
    for generic in generic_events(pmu).values():
        assert generic.source != "-"
        if not generic.is_counted:
            assert len(generic.reason) > 20
            with pytest.raises(PfmonError, match="this PMU cannot count it: "):
                events[generic.name]
            continue
        own = events[generic.own_name]
        assert generic.reason == "-" and own.name == generic.own_name
        assert own.signal in signals() and own.ear == "-" and own.mesi == bool(generic.states)


@pytest.mark.parametrize("pmu", names())
def test_no_name_of_perf_is_one_of_the_pmus_own(pmu: str) -> None:
    assert not {event.name.lower() for event in get(pmu).events} & set(perf_names())


@pytest.mark.parametrize("pmu", names())
def test_perfs_names_program_what_the_pmus_own_event_programs(pmu: str) -> None:
    model = get(pmu)
    for generic in generic_events(pmu).values():
        if generic.is_counted:
            made, own = model.program([generic.name]), model.program([generic.event])
            assert (made.writes, made.counters) == (own.writes, own.counters)
            assert made.monitors[0].event.name == generic.name
            assert made.monitors[0].signal == own.monitors[0].signal


@each("pmu", [name for name in names() if "ia32_perfevtsel0" in get(name).registers])
def test_intels_names_have_the_encodings_of_the_kernel(pmu: str) -> None:
    events = get(pmu).events
    counted = {name for name, generic in generic_events(pmu).items() if generic.is_counted}
    for name, (code, umask) in ((name, of) for name, of in OF_INTEL.items() if name in counted):
        # A name may be that of a fixed-function counter: then it is an alias of the event with this encoding.
        alike = {(one.code, one.umask) for one in events if one.signal == events[name].signal}
        assert (code, umask) in alike, name


def test_case_and_spelling_do_not_matter_and_the_name_is_that_which_was_asked_for() -> None:
    events = get("intel_v2").events
    assert events["CPU-Cycles"].name == "cpu-cycles" and events["cycles"].signal == events["cpu-cycles"].signal
    assert "branch-instructions" in events and "no-such-event" not in events
    assert [spelled(name) for name in ("l1-DCACHE-loads:u", "llc_misses", "x:y")] == [
        "L1-dcache-loads:u", "LLC_MISSES", "X:Y",
    ]  # fmt: skip


def test_lists_begin_with_what_the_pmu_can_count_of_perfs_names() -> None:
    listed = event_list(get("ppc604e")).split("\n")
    events = {one.name: generic_event("ppc604e", one.name) for one in perf_names().values()}
    counted = [name for name, event in events.items() if event and event.is_counted]
    assert listed[: len(counted)] == counted and "L1-dcache-stores" not in listed
    assert event_list(get("ppc604e"), "^branch-m") == "branch-misses"


def test_information_on_a_name_says_the_pmus_event_or_why_there_is_none() -> None:
    assert "Event  : L3_READS_ALL_ALL:MESI\n" in event_info(get("montecito"), "LLC-loads")
    assert "Name   : L3_READS_ALL_ALL\n" in event_info(get("montecito"), "LLC-loads")
    refused = event_info(get("intel_v1"), "dTLB-loads")
    assert "Event  : None (the seven events" in refused and refused.count("Name   :") == 1


def test_unknown_names_suggest_names_of_both_lists() -> None:
    with pytest.raises(PfmonError, match="nearest: branch-misses"):
        get("intel_v2").events["branchmisses"]
    with pytest.raises(PfmonError, match="nearest: LLC_MISSES"):
        get("intel_v2").events["LLC_MISS"]


@each(
    ("text", "parts"),
    [
        ("cycles", ("cycles", None, "")),
        ("cycles:u", ("cycles:u", 8, "")),
        ("cycles:k", ("cycles:k", 1, "")),
        ("cycles:ukp", ("cycles:ukp", 9, "")),
        ("cycles:ppp", ("cycles:ppp", None, "")),
        ("cycles:H", ("cycles:H", None, "")),
        ("l3_reads_all_hit:m:e", ("l3_reads_all_hit", None, "ME")),
        ("l3_reads_all_hit:MESI:u", ("l3_reads_all_hit:u", 8, "MESI")),
    ],
)
def test_modifiers_are_told_from_line_states(text: str, parts: tuple[str, int | None, str]) -> None:
    assert tuple(name_parts(text)) == parts


@each(
    ("text", "why"), [("cycles:h", "hypervisor"), ("cycles:G", "virtual machine"), ("cycles:pppp", "3 times at most")]
)
def test_modifiers_that_would_count_nothing_are_refused(text: str, why: str) -> None:
    with pytest.raises(BadValueError, match=rf"{why}.*modifiers_can_be_had"):
        name_parts(text)


def test_p_makes_an_event_precise() -> None:
    assert [is_precise(name) for name in ("cycles", "cycles:pp", "cpu-cycles", "cycles:u")] == [
        False,
        True,
        False,
        False,
    ]


def test_levels_of_modifiers_are_those_of_the_counter() -> None:
    made = get("intel_v2").program(["cycles:k", "instructions:u", EventRequest("cycles:uk", 9)])
    assert [(one.event.name, one.plm) for one in made.monitors] == [
        ("cycles:k", 1), ("instructions:u", 8), ("cycles:uk", 9),
    ]  # fmt: skip
    with pytest.raises(BadValueError, match="levels_are_chosen_once"):
        event_options(["cycles:u"], levels="k")


def test_two_names_that_need_one_set_are_refused_like_the_pmus_own() -> None:
    model = get("itanium2")
    assert model.program(["L1-dcache-loads", "L1-dcache-load-misses"]).counters
    with pytest.raises(RuleError, match=r"L1-dcache-loads.*dTLB-load-misses"):
        model.program(["L1-dcache-loads", "dTLB-load-misses"])
    with pytest.raises(RuleError, match="events_need_free_counters"):
        get("intel_v1").program(["cache-misses", "cache-references", "branch-misses"])
