"""What Intel's counters count, read from register contents: the bits of the manual's sections 30.2.1.1 and 30.2.2."""

import pytest
from grids import each
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.errors import PfmonError, RuleError
from pfmon.pmu.model.monitors import monitors, read_counters
from pfmon.pmu.model.request import EventRequest
from pfmon.pmu.qualify.qualifier import Qualifier
from pfmon.pmu.registers.msr_file import MsrFile

V1, V2 = pmu.get("intel_v1"), pmu.get("intel_v2")

# IA32_PERFEVTSELx, section 30.2.1.1.
USR, OS, E, INT, EN, INV = 1 << 16, 1 << 17, 1 << 18, 1 << 20, 1 << 22, 1 << 23
CMASK = 24
USER_LEVELS, KERNEL = 0b1110, 0b0001
# Event select and unit mask of the seven events, section 30.2.1.2.
ENCODINGS = {
    0x003C: "CPU_CLK_UNHALTED.CORE",
    0x00C0: "INST_RETIRED.ANY",
    0x013C: "CPU_CLK_UNHALTED.REF",
    0x4F2E: "LLC_REFERENCES",
    0x412E: "LLC_MISSES",
    0x00C4: "BR_INST_RETIRED.ALL_BRANCHES",
    0x00C5: "BR_MISP_RETIRED.ALL_BRANCHES",
}
ALIASES = {
    "INSTRUCTIONS_RETIRED": 0x00C0,
    "INSTRUCTION_RETIRED": 0x00C0,
    "BRANCH_INSTRUCTIONS_RETIRED": 0x00C4,
    "BRANCH_MISSES_RETIRED": 0x00C5,
    "MISPREDICTED_BRANCH_RETIRED": 0x00C5,
    "UNHALTED_CORE_CYCLES": 0x003C,
    "UNHALTED_REFERENCE_CYCLES": 0x013C,
    "LLC_MISSES": 0x412E,
    "LLC_REFERENCES": 0x4F2E,
}


@each("model", [V1, V2], ids=lambda model: model.name)
@each("encoding", ENCODINGS)
def test_event_select_and_unit_mask_select_the_seven_events(model: pmu.PmuModel, encoding: int) -> None:
    (found,) = monitors(model, {"ia32_perfevtsel1": encoding | USR | EN})
    assert (found.event.name, found.pmd, found.plm) == (ENCODINGS[encoding], 1, USER_LEVELS)


@each("name", ALIASES)
def test_generic_names_stand_for_the_architectural_events(name: str) -> None:
    for model in (V1, V2):
        (monitor,) = model.program([EventRequest(name, threshold=1)]).monitors  # so that a general counter has it
        select = model.program([EventRequest(name, threshold=1)]).writes[f"ia32_perfevtsel{monitor.pmd}"]
        assert select & 0xFFFF == ALIASES[name]


def test_flags_of_an_event_select_register_are_those_of_the_manual() -> None:
    (found,) = monitors(V1, {"ia32_perfevtsel0": 0xC4 | USR | OS | E | INT | EN | INV | 7 << CMASK})
    assert (found.plm, found.threshold, found.edge, found.invert, found.overflow_interrupt) == (15, 7, True, True, True)
    (found,) = monitors(V1, {"ia32_perfevtsel0": 0xC4 | OS | EN})
    assert (found.plm, found.threshold, found.edge, found.invert, found.overflow_interrupt) == (
        1,
        0,
        False,
        False,
        False,
    )


@pytest.mark.parametrize("flags", [USR, OS | USR, EN], ids=["without EN", "both levels without EN", "without levels"])
def test_a_counter_needs_its_enable_and_a_level(flags: int) -> None:
    assert read_counters(V1, {"ia32_perfevtsel0": 0xC0 | flags}) == ((), ())


def test_fixed_function_counters_have_an_event_each_and_two_enables() -> None:
    """Section 30.2.2: enables at bits 1:0, 5:4 and 9:8 (1 OS, 2 USR), PMI at bits 3, 7 and 11."""
    every = 0b111 << 32
    control = 2 | 3 << 4 | 1 << 7 | 1 << 8
    found = monitors(V2, {"ia32_fixed_ctr_ctrl": control, "ia32_perf_global_ctrl": every})
    assert [(one.event.name, one.pmd, one.plm, one.overflow_interrupt) for one in found] == [
        ("INST_RETIRED.ANY", 32, USER_LEVELS, False),
        ("CPU_CLK_UNHALTED.CORE", 33, USER_LEVELS | KERNEL, True),
        ("CPU_CLK_UNHALTED.REF", 34, KERNEL, False),
    ]


@given(st.integers(0, 31))
def test_the_global_control_switches_each_counter(enables: int) -> None:
    bits = enables & 3 | enables >> 2 << 32
    values = {
        "ia32_perfevtsel0": 0xC0 | USR | EN,
        "ia32_perfevtsel1": 0xC4 | USR | EN,
        "ia32_fixed_ctr_ctrl": 0x222,
        "ia32_perf_global_ctrl": bits,
    }
    assert [one.pmd for one in monitors(V2, values)] == [n for n in (0, 1, 32, 33, 34) if bits >> n & 1]


def test_reserved_encodings_are_unknown_and_named() -> None:
    values = {"ia32_perfevtsel0": 0x1C0 | USR | EN, "ia32_perfevtsel1": 0xC0 | USR | EN}
    reading = read_counters(V1, values)
    assert [(one.pmd, one.code, one.umask) for one in reading.unknown] == [(0, 0xC0, 1)]
    assert [one.pmd for one in reading.monitors] == [1]
    with pytest.raises(RuleError, match="IA32_PERFEVTSEL0: event code 0xc0 with unit mask 0x1: no event"):
        monitors(V1, values)


@pytest.mark.slow
@pytest.mark.parametrize("model", [V1, V2], ids=lambda model: model.name)
@given(data=st.data())
def test_what_is_programmed_is_read_back(model: pmu.PmuModel, data: st.DataObject) -> None:
    names = st.sampled_from(sorted(event.name for event in model.events))
    events = [
        EventRequest(
            data.draw(names),
            plm=data.draw(st.sampled_from((None, 1, 8, 9, 15))),
            threshold=(cmask := data.draw(st.sampled_from((0, 0, 1, 255)))),
            edge=data.draw(st.booleans()),
            invert=bool(cmask) and data.draw(st.booleans()),
        )
        for _ in range(data.draw(st.integers(1, 5)))
    ]
    interrupt = data.draw(st.integers(0, 1))
    try:
        made = model.program(events, plm=8, controls={"int": interrupt})
    except PfmonError as error:
        assert "events_need_free_counters" in str(error)
        return
    file = model.register_file()
    for name in data.draw(st.permutations(list(made.writes))):
        file.write(name, made.writes[name])
    found = {one.pmd: one for one in monitors(model, file)}
    assert sorted(found) == sorted(made.counters)
    for asked, number in zip(events, made.counters, strict=True):
        one, event = found[number], model.events[asked.name]
        wanted = event if event.alias_of == "-" else model.events[event.alias_of]
        assert one.event == wanted
        assert one.plm == {8: USER_LEVELS, 1: KERNEL, 9: 15, 15: 15}[asked.plm or 8]
        assert (one.threshold, one.edge, one.invert) == (asked.threshold, asked.edge, asked.invert)
        assert one.overflow_interrupt == bool(interrupt)


@given(st.integers(0, (1 << 22) - 1), st.integers(0, 15), st.integers(0, 3))
def test_monitors_that_count_are_those_that_the_file_enables(select: int, levels: int, cpl: int) -> None:
    file = V2.register_file()
    assert isinstance(file, MsrFile)
    file.write("ia32_perfevtsel0", select & ~(1 << 21) & ~0xFFFF | 0xC0 | EN)
    file.write("ia32_fixed_ctr_ctrl", levels & 3)
    file.write("ia32_perf_global_ctrl", levels >> 2 | 1 << 32)
    file.cpl = cpl
    counting = {one.pmd for one in monitors(V2, file) if one.plm >> cpl & 1}
    assert counting == {number for number in (0, 1, 32, 33, 34) if file.enabled(number)}


def test_nothing_qualifies_intels_counters() -> None:
    for model in (V1, V2):
        wanted = Qualifier(model, {})
        for event in model.events:
            assert wanted.counts_instruction(event, 0x401001, "m", 0) and wanted.counts_data(event, 7)
