"""Intel architectural performance monitoring against the manual's sentences (sections 30.2.1 and 30.2.2)."""

import pytest
from grids import each
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.errors import BadValueError, PfmonError, RuleError
from pfmon.pmu.model.request import EventRequest, RangeRequest
from pfmon.pmu.registers.msr_file import MSR_ADDRESSES, MsrFile, cpuid_0a

V1, V2 = pmu.get("intel_v1"), pmu.get("intel_v2")


def fresh(name: str = "intel_v2") -> MsrFile:
    file = pmu.get(name).register_file()
    assert isinstance(file, MsrFile)
    return file


def test_the_seven_architectural_events_have_their_encodings() -> None:
    wanted = {(0x3C, 0), (0xC0, 0), (0x3C, 1), (0x2E, 0x4F), (0x2E, 0x41), (0xC4, 0), (0xC5, 0)}
    for model in (V1, V2):
        assert {(e.code, e.umask) for e in model.events} == wanted


def test_cpuid_leaf_says_version_counters_and_width() -> None:
    eax, ebx, _, edx = cpuid_0a(V2.bank, 2)
    assert (eax & 255, eax >> 8 & 255, eax >> 16 & 255, eax >> 24) == (2, 2, 40, 7)
    assert ebx == 0 and (edx & 31, edx >> 5 & 255) == (3, 40)
    assert cpuid_0a(V1.bank, 1)[3] == 0


def test_registers_are_at_their_addresses() -> None:
    assert MSR_ADDRESSES["ia32_pmc0"] == 0xC1 and MSR_ADDRESSES["ia32_perfevtsel1"] == 0x187
    assert fresh().address(0x38F) == "ia32_perf_global_ctrl"
    with pytest.raises(BadValueError, match="general protection"):
        fresh("intel_v1").address(0x38F)


@given(st.integers(0, (1 << 64) - 1))
def test_reserved_bits_of_event_select_fault(value: int) -> None:
    file = fresh()
    reserved = value & (1 << 21 | 0xFFFFFFFF << 32)
    if reserved:
        with pytest.raises(BadValueError, match="general protection"):
            file.write("ia32_perfevtsel0", value)
    else:
        file.write("ia32_perfevtsel0", value)
        assert file.read("ia32_perfevtsel0") == value


@given(st.integers(0, (1 << 64) - 1))
def test_writes_of_general_counters_extend_bit_31(value: int) -> None:
    file = fresh()
    file.write("ia32_pmc1", value)
    low = value & 0xFFFFFFFF
    assert file.rdpmc(1) == (low | 0xFF00000000 if low >> 31 else low)


def test_status_is_read_only_and_cleared_through_ovf_ctrl() -> None:
    file = fresh()
    file.write("ia32_pmc0", 0xFFFFFFFF)
    file.write("ia32_fixed_ctr1", (1 << 40) - 1)
    assert file.add(0, 1) and file.add(33, 1)
    assert file.read("ia32_perf_global_status") == 1 | 1 << 33
    with pytest.raises(BadValueError, match="read only"):
        file.write("ia32_perf_global_status", 0)
    file.write("ia32_perf_global_ovf_ctrl", 1)
    assert file.read("ia32_perf_global_status") == 1 << 33
    assert file.read("ia32_perf_global_ovf_ctrl") == 0


def test_freeze_on_pmi_clears_the_global_enables() -> None:
    file = fresh()
    made = V2.program(["INST_RETIRED.ANY"], controls={"freeze_perfmon_on_pmi": 1})
    for name, value in made.writes.items():
        file.write(name, value)
    assert list(made.writes)[-1] == "ia32_perf_global_ctrl"
    file.cpl = 3
    assert file.enabled(32)
    file.write("ia32_fixed_ctr0", (1 << 40) - 2)
    assert not file.add(32, 1) and file.add(32, 1)
    assert file.interrupt and file.frozen and not file.enabled(32)


@pytest.mark.parametrize(("levels", "user", "kernel"), [("u", True, False), ("k", False, True), ("uk", True, True)])
def test_levels_select_usr_and_os(levels: str, user: bool, kernel: bool) -> None:
    for model, counter in ((V1, 0), (V2, 32)):
        file = model.register_file()
        assert isinstance(file, MsrFile)
        for name, value in model.program(["INST_RETIRED.ANY"], plm=levels).writes.items():
            file.write(name, value)
        for cpl, wanted in ((0, kernel), (1, user), (3, user)):
            file.cpl = cpl
            assert file.enabled(counter) == wanted


@pytest.mark.slow
@given(st.integers(0, 4), st.booleans(), st.booleans(), st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_cmask_inv_and_edge_count_cycles_as_the_manual_says(
    cmask: int, invert: bool, edge: bool, cycles: list[int]
) -> None:
    file = fresh("intel_v1")
    request = EventRequest("BR_INST_RETIRED.ALL_BRANCHES", threshold=cmask, invert=invert, edge=edge)
    try:
        made = V1.program([request], plm="uk")
    except RuleError:
        assert invert and not cmask
        return
    for name, value in made.writes.items():
        file.write(name, value)
    for occurrences in cycles:
        file.clock(0, occurrences)
    steps = cycles
    if cmask:
        steps = [int(n < cmask if invert else n >= cmask) for n in cycles]
    if edge:
        steps = [int(now > 0 and before == 0) for before, now in zip([0, *steps], steps, strict=False)]
    assert file.count(0) == sum(steps)


def test_fixed_counters_are_used_first_and_conditions_need_general_ones() -> None:
    names = ["INST_RETIRED.ANY", "LLC_MISSES", "LLC_REFERENCES", "CPU_CLK_UNHALTED.CORE"]
    assert V2.program(names).counters == (32, 0, 1, 33)
    assert V2.program([EventRequest("INST_RETIRED.ANY", threshold=2)]).counters == (0,)
    assert V2.program(["INST_RETIRED.ANY"] * 3).counters == (32, 0, 1)
    with pytest.raises(RuleError, match="events_need_free_counters"):
        V1.program(["LLC_MISSES"] * 3)


@each(
    ("events", "options", "text"),
    [
        (["NOPE"], {}, "unknown intel_v2 event"),
        (["LLC_MISSES"], {"irange": RangeRequest(((0, 16),))}, r"intel_v2 has no code ranges \(--irange"),
        (["LLC_MISSES"], {"plm": 4}, "levels 1 and 2"),
        ([EventRequest("LLC_MISSES", threshold=256)], {}, "too wide"),
        (["LLC_MISSES:M"], {}, "no line states"),
        (["LLC_MISSES"], {"controls": {"nope": 1}}, "pc, int, .*freeze_perfmon_on_pmi.*controls_are_fields"),
        (["LLC_MISSES"], {"controls": {"pc": 2}}, "too wide"),
        (["INST_RETIRED.ANY"], {"controls": {"int": 2}}, "too wide"),
    ],
)
def test_bad_requests_are_refused(events: list, options: dict, text: str) -> None:
    with pytest.raises(PfmonError, match=text):
        V2.program(events, **options)


def test_pin_control_and_interrupt_are_controls_of_all_counters() -> None:
    # EVENTSEL.PC is bit 19, INT bit 20 (section 30.2.1.1); fixed-function counter 0 has PMI at bit 3 and no PC.
    plain = V1.program(["LLC_MISSES"]).writes["ia32_perfevtsel0"]
    made = V1.program(["LLC_MISSES", "LLC_REFERENCES"], controls={"pc": 1, "int": 0})
    assert made.writes["ia32_perfevtsel0"] == plain & ~(1 << 20) | 1 << 19
    assert made.writes["ia32_perfevtsel1"] >> 19 & 3 == 1
    assert not any(monitor.overflow_interrupt for monitor in made.monitors)
    assert V2.program(["INST_RETIRED.ANY"], controls={"int": 0}).writes["ia32_fixed_ctr_ctrl"] == 0b10
    assert V2.program(["INST_RETIRED.ANY"], controls={"pc": 1}).counters == (0,)
    with pytest.raises(RuleError, match="controls_are_fields"):
        V1.program(["LLC_MISSES"], controls={"freeze_perfmon_on_pmi": 1})


def test_msrs_are_for_level_zero() -> None:
    with pytest.raises(BadValueError, match="level 0"):
        fresh().read("ia32_pmc0", cpl=3)
    with pytest.raises(BadValueError, match="general protection"):
        fresh().rdpmc(2)
    assert fresh().rdpmc(1 << 30 | 2) == 0
