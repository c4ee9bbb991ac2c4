"""What registers make the event address registers and the branch buffer capture, as the events' names say it."""

import re

import pytest
from grids import each, first_quick

from pfmon.pmu import IA64, get
from pfmon.pmu.capture.capture_setting import NEVER, CaptureSetting, EarSetting
from pfmon.pmu.model.request import BranchBufferRequest, EarRequest, EventRequest, IpEarRequest, Request
from pfmon.session.run.programmed_pmu import ProgrammedPmu

EARS = [(name, event.name) for name in IA64 for event in get(name).events if event.ear != "-"]
LEVELS = {"L2": 1, "L2DTLB": 1, "L2TLB": 1, "VHPT": 2, "SW": 3, "FAULT": 3}


def setting(pmu: str, *events: str, **request: object) -> CaptureSetting:
    """What a PMU captures when it is programmed as a run programs it."""
    wanted = Request(tuple(map(EventRequest, events)), **request)  # type: ignore[arg-type]  # by name
    return ProgrammedPmu(get(pmu), wanted).unit.capturing


def named(event: str) -> EarSetting:
    """What a name says: a threshold, that all misses are captured or those in the RAB, levels, or the ALAT."""
    if event.endswith("_ALAT"):
        return EarSetting("alat", 0)
    mode, _, rest = event.partition("_EAR_")[2].partition("_")
    if mode == "TLB":
        words = ["L2", "VHPT", "SW"] if rest == "ALL" else rest.split("_OR_")
        return EarSetting("tlb", levels=sum(1 << LEVELS[word] for word in words))
    if rest == "RAB":
        return EarSetting("cache", 0, under_way=True)
    if rest == "LAT_NONE":
        return EarSetting("cache")
    threshold = re.fullmatch(r"LAT(\d+)", rest)
    assert threshold
    return EarSetting("cache", max(1, int(threshold[1])))  # >0 (Montecito manual table 3-16)


@each(("pmu", "event"), EARS)
def test_an_event_captures_what_its_name_says(pmu: str, event: str) -> None:
    found = setting(pmu, event)
    data = event.startswith("DATA")
    assert (found.data if data else found.fetch) == named(event)
    assert (found.fetch if data else found.data) is found.branches is found.ip_ear is None


def test_there_are_as_many_of_these_events_as_the_tables_have() -> None:
    captures = [(name, e.name) for name in IA64 for e in get(name).events if get(name).events.ear_kind(e.code)]
    assert len(captures) - len(EARS) == 6  # DATA_EAR_EVENTS and the like


@pytest.mark.parametrize("pmu", IA64)
def test_captures_in_general_are_every_miss(pmu: str) -> None:
    instructions = "INSTRUCTION_EAR_EVENTS" if pmu == "itanium" else "L1I_EAR_EVENTS"
    found = setting(pmu, "DATA_EAR_EVENTS", instructions)
    assert found.data == EarSetting("cache", 4)
    assert found.fetch == EarSetting("cache", 4 if pmu == "itanium" else 1)


@pytest.mark.parametrize("pmu", IA64)
def test_nothing_is_captured_where_nobody_asks(pmu: str) -> None:
    assert not setting(pmu, "IA64_INST_RETIRED").captures


@pytest.mark.parametrize("pmu", IA64)
def test_only_what_privilege_level_3_may_be_captured_of_counts(pmu: str) -> None:
    """plm of the register: a program runs at level 3 (Montecito manual table 3-5)."""
    for plm, wanted in ((8, True), (9, True), (1, False), (6, False)):
        assert setting(pmu, "IA64_INST_RETIRED", dear=EarRequest("cache", 0, plm)).captures == wanted
        assert setting(pmu, "IA64_INST_RETIRED", branch_buffer=BranchBufferRequest({"tm": 3}, plm)).captures == wanted


@pytest.mark.parametrize("pmu", first_quick(IA64[1:]))
def test_an_undefined_threshold_captures_nothing(pmu: str) -> None:
    """Tables 3-16 and 3-21; of 01xxxxxx all are the same."""
    for umask in range(11, 16):
        found = setting(pmu, "IA64_INST_RETIRED", dear=EarRequest("cache", umask, 8)).data
        assert found is not None and found.least == NEVER
    for umask in range(256):
        found = setting(pmu, "IA64_INST_RETIRED", iear=EarRequest("cache", umask, 8), check_ears=False).fetch
        assert found is not None
        leading = 8 - (~umask & 0xFF).bit_length()  # 11111111 >= 4, 11111110 >= 8, ... 10000000 >= 4096
        thresholds = {8: 4, 7: 8, 6: 16, 5: 32, 4: 128, 3: 256, 2: 1024, 1: 4096}
        if umask >> 6 == 1:
            wanted = EarSetting("cache", 1)
        elif umask == 0:
            wanted = EarSetting("cache", 0, under_way=True)
        elif umask == (0xFF00 >> leading) & 0xFF:
            wanted = EarSetting("cache", thresholds[leading])
        else:
            wanted = EarSetting("cache")
        assert found == wanted, bin(umask)


def test_the_ip_ear_takes_the_buffer() -> None:
    found = setting("montecito", "IA64_INST_RETIRED", ip_ear=IpEarRequest(77, 8))
    assert found.ip_ear == 77 and found.branches is None and found.entries == 16
