"""Skylake's PMU: architectural performance monitoring version 4 as the SDM has it (volume 3, sections 18.2.4, 18.2.5,
17.4.7), and the events of Intel's list against libpfm's."""

import csv
from pathlib import Path

import pytest
from grids import each
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.errors import BadValueError, PfmonError, RuleError
from pfmon.pmu import EventRequest
from pfmon.pmu.model.describe import event_info
from pfmon.pmu.model.event_selects import NO_CONDITION
from pfmon.pmu.model.generic_events import generic_events
from pfmon.pmu.model.monitors import read_counters
from pfmon.pmu.registers.decode import decode_text
from pfmon.pmu.registers.msr_file import MSR_ADDRESSES, cpuid_0a
from pfmon.pmu.registers.msr_v4_file import MsrV4File
from pfmon.signals.signal_names import is_produced

SKYLAKE = pmu.get("skylake")
LIBPFM = Path(__file__).parents[2] / "data" / "pmu" / "skylake-libpfm.csv"
WRAP = 1 << 48
STATUS, CONTROL = "ia32_perf_global_status", "ia32_perf_global_ctrl"
RESET, SET, IN_USE = (f"ia32_perf_global_{what}" for what in ("status_reset", "status_set", "inuse"))
CTR_FRZ, LBR_FRZ = 1 << 59, 1 << 58
INST_USER = 0xC0 | 1 << 16 | 1 << 20 | 1 << 22  # USR, INT, EN
DEFINED = 0xF | 7 << 32 | 1 << 55 | 0x1F << 58  # status bits: PMC, fixed, ToPA, LBR_Frz to OvfBuf


def fresh() -> MsrV4File:
    file = SKYLAKE.register_file()
    assert isinstance(file, MsrV4File)
    return file


def running(debug: int = 0) -> MsrV4File:
    """All counters count instructions, or what their fixed function is, at user level, and interrupt."""
    file = fresh()
    for number in range(4):
        file.write(f"ia32_perfevtsel{number}", INST_USER)
    file.write("ia32_debugctl", debug)
    file.write("ia32_fixed_ctr_ctrl", 0xAAA)
    file.write(CONTROL, 0xF | 7 << 32)
    file.run_program()
    return file


def test_cpuid_leaf_says_version_4_with_four_counters_and_three_fixed_ones_of_48_bits() -> None:
    eax, ebx, _, edx = cpuid_0a(SKYLAKE.bank, fresh().version)
    assert (eax & 255, eax >> 8 & 255, eax >> 16 & 255, eax >> 24) == (4, 4, 48, 7)
    assert ebx == 0 and (edx & 31, edx >> 5 & 255) == (3, 48)


def test_without_hyper_threading_there_are_eight_general_counters() -> None:
    """Section 18.13, table 18-53; a few events stay on the first four (Intel's list, CounterHTOff)."""
    model = pmu.get("skylake_8")
    eax, *_, edx = cpuid_0a(model.bank, 4)
    assert (eax >> 8 & 255, eax >> 16 & 255, edx & 31) == (8, 48, 3)
    assert model.program(["LONGEST_LAT_CACHE.MISS"] * 8).counters == tuple(range(8))
    assert model.events["MEM_LOAD_RETIRED.L1_MISS"].counters == (0, 1, 2, 3)
    assert model.registers[CONTROL].reset == 0xFF and SKYLAKE.registers[CONTROL].reset == 0xF
    with pytest.raises(RuleError, match="events_need_free_counters"):
        SKYLAKE.program(["LONGEST_LAT_CACHE.MISS"] * 5)
    assert [event.name for event in model.events] == [event.name for event in SKYLAKE.events]
    assert all({*event.counters} <= {*model.events[event.name].counters} for event in SKYLAKE.events)


def test_registers_are_at_the_addresses_of_the_sdm() -> None:
    wanted = {
        0xC1: "ia32_pmc0",
        0x189: "ia32_perfevtsel3",
        0x390: RESET,
        0x391: SET,
        0x392: IN_USE,
        0x4C4: "ia32_a_pmc3",
    }
    wanted |= {0x1A6: "msr_offcore_rsp_0", 0x1A7: "msr_offcore_rsp_1", 0x30B: "ia32_fixed_ctr2", 0x1D9: "ia32_debugctl"}
    assert {number: fresh().address(number) for number in wanted} == wanted
    addresses = [MSR_ADDRESSES[name] for name in SKYLAKE.registers]
    assert len({*addresses}) == len(addresses)


# Table 35-2 and the figures of section 18.2: the bits that exist.
BITS = {
    "ia32_perfevtsel2": 0xFFF7FFFF,  # without PC, bit 19
    "ia32_fixed_ctr_ctrl": 0xFFF,
    CONTROL: 0xF | 7 << 32,
    RESET: DEFINED | 1 << 63,
    SET: DEFINED,
    "ia32_fixed_ctr1": WRAP - 1,
    "ia32_a_pmc1": WRAP - 1,
    "ia32_debugctl": 0x7FC3,
    "msr_offcore_rsp_1": (1 << 38) - 1,
}


@pytest.mark.slow
@each("name", BITS)
@given(value=st.one_of(st.integers(0, (1 << 64) - 1), st.integers(0, 63).map(lambda bit: 1 << bit)))
def test_reserved_bits_fault(name: str, value: int) -> None:
    file = fresh()
    if value & ~BITS[name]:
        with pytest.raises(BadValueError, match="general protection"):
            file.write(name, value)
    else:
        file.write(name, value)
        assert file.read(name) == (0 if name in (RESET, SET) else value)


@given(st.integers(0, (1 << 64) - 1), st.integers(0, WRAP - 1))
def test_general_counters_take_32_bits_or_their_whole_width(low: int, whole: int) -> None:
    file = fresh()
    file.write("ia32_pmc2", low)
    extended = low & 0xFFFFFFFF | (0xFFFF00000000 if low >> 31 & 1 else 0)
    assert file.read("ia32_a_pmc2") == file.rdpmc(2) == extended
    file.write("ia32_a_pmc2", whole)
    assert file.read("ia32_pmc2") == file.count(2) == whole


@given(
    st.integers(0, DEFINED).map(lambda bits: bits & DEFINED), st.integers(0, DEFINED).map(lambda bits: bits & DEFINED)
)
def test_status_bits_are_set_and_cleared_by_their_registers(first: int, second: int) -> None:
    file = fresh()
    file.write(SET, first)
    assert file.read(STATUS) == first
    file.write(RESET, second)
    assert file.read(STATUS) == first & ~second
    for name in (STATUS, IN_USE):
        with pytest.raises(BadValueError, match="read only"):
            file.write(name, 0)


def test_an_interrupt_freezes_counters_and_branches_by_status_bits() -> None:
    file = running(debug=1 << 12 | 1 << 11)
    file.store({1: WRAP - 1})
    assert file.add(1, 1) and file.interrupt and file.frozen
    assert file.read(STATUS) == 1 << 1 | CTR_FRZ | LBR_FRZ
    assert file.read(CONTROL) == 0xF | 7 << 32, "version 4 leaves the enables as they are"
    assert not file.enabled(0) and not file.add(0, 5) and not file.enabled(33)
    file.write(RESET, CTR_FRZ)
    assert file.enabled(0) and not file.frozen and file.read(STATUS) == 1 << 1 | LBR_FRZ
    file.write(SET, CTR_FRZ)
    assert file.frozen and file.take_overflows() == [1] and not file.frozen


def test_without_freeze_or_interrupt_the_counters_go_on() -> None:
    for file in (running(), running(debug=1 << 12)):
        if file.field("ia32_debugctl", "freeze_perfmon_on_pmi"):
            file.set_field("ia32_perfevtsel1", "int", 0)
        file.store({1: WRAP - 1})
        assert file.add(1, 2) and not file.frozen and file.count(1) == 1 and file.read(STATUS) == 1 << 1


def test_what_is_in_use_follows_from_the_selects() -> None:
    file = fresh()
    assert file.read(IN_USE) == 0
    file.write("ia32_perfevtsel3", 0xC0)  # an event is enough, enabled or not
    file.write("ia32_fixed_ctr_ctrl", 2 << 4)
    assert file.read(IN_USE) == 1 << 3 | 1 << 33
    file.write("ia32_fixed_ctr_ctrl", 2 << 4 | 8)  # the interrupt of a counter that is off
    assert file.read(IN_USE) == 1 << 3 | 1 << 33 | 1 << 63


@each(
    ("number", "anybody", "name"),
    [
        (0, 0, "INST_RETIRED.ANY"),
        (0, 1, "INST_RETIRED.ANY"),
        (1, 0, "CPU_CLK_UNHALTED.THREAD"),
        (1, 1, "CPU_CLK_UNHALTED.THREAD_ANY"),
        (2, 1, "CPU_CLK_UNHALTED.REF_TSC"),
    ],
)
def test_fixed_counters_have_their_event_for_all_threads_too(number: int, anybody: int, name: str) -> None:
    values = {"ia32_fixed_ctr_ctrl": (2 | anybody << 2) << 4 * number, CONTROL: 7 << 32}
    assert [one.event.name for one in read_counters(SKYLAKE, values).monitors] == [name]


def test_pin_control_is_gone() -> None:
    assert not SKYLAKE.program(["LONGEST_LAT_CACHE.MISS"]).writes["ia32_perfevtsel0"] >> 19 & 1
    with pytest.raises(RuleError, match="controls_are_fields"):
        SKYLAKE.program(["LONGEST_LAT_CACHE.MISS"], controls={"pc": 1})
    assert SKYLAKE.program(["cycles"], controls={"freeze_while_smm": 1}).writes["ia32_debugctl"] == 1 << 14


def test_every_event_is_read_from_the_registers_that_select_it() -> None:
    """Its own name, or an alias of it; fixed-function counters have one event, with and without AnyThread."""
    for event in SKYLAKE.events:
        made = SKYLAKE.program([event.name])
        (number,) = made.counters
        (found,) = read_counters(SKYLAKE, made.writes).monitors
        assert (found.pmd, found.plm, found.event.any_thread) == (number, 14, event.any_thread), event.name
        if number < 32:
            assert (found.event.code, found.event.umask, found.event.extra) == (event.code, event.umask, event.extra)
        # What nothing produces is counted, if it can be, as the event without the condition, in the condition's cycles.
        ways = {found.event.condition, (found.threshold, found.invert, found.edge)}
        assert ways == {event.condition, NO_CONDITION}
        assert is_produced(event.signal) <= (found.event.signal == event.signal)
        dump = " ".join(f"{name}={value}" for name, value in made.writes.items())
        assert found.event.name.partition(".")[0] in decode_text(SKYLAKE, dump)


# libpfm's table is older than Intel's list there: RFO_HIT was 0x42, and UOPS_RETIRED.ALL, umask 1, is gone.
OLDER = {"L2_RQSTS.RFO_HIT", "UOPS_RETIRED.STALL_CYCLES", "UOPS_RETIRED.TOTAL_CYCLES"}


def test_encodings_are_those_of_libpfm() -> None:
    """Event code, unit mask, E, AnyThread, INV and CMASK as bits of the event select register (libpfm4,
    lib/events/intel_skl_events.h, commit 91970fe6)."""
    with LIBPFM.open(newline="") as table:
        rows = {row["event"]: int(row["select"], 16) for row in csv.DictReader(table)}
    assert len(rows) > 230
    different = set()
    for name, select in rows.items():
        event = SKYLAKE.events[name]
        fields = {"event": event.code, "umask": event.umask, "e": event.edge, "any": event.any_thread}
        fields |= {"inv": event.invert, "cmask": event.cmask}
        if SKYLAKE.registers["ia32_perfevtsel0"].encode(**{key: int(value) for key, value in fields.items()}) != select:
            different.add(name)
    assert different == OLDER


# Linux 6.1, arch/x86/events/intel/core.c: skl_hw_cache_event_ids, and intel_perfmon_event_map, code and unit mask.
OF_LINUX = {
    "cycles": 0x003C,
    "instructions": 0x00C0,
    "cache-references": 0x4F2E,
    "cache-misses": 0x412E,
    "branches": 0x00C4,
    "branch-misses": 0x00C5,
    "ref-cycles": 0x0300,
    "L1-dcache-loads": 0x81D0,
    "L1-dcache-load-misses": 0x0151,
    "L1-dcache-stores": 0x82D0,
    "L1-icache-load-misses": 0x0283,
    "LLC-loads": 0x01B7,
    "LLC-load-misses": 0x01B7,
    "LLC-stores": 0x01B7,
    "LLC-store-misses": 0x01B7,
    "dTLB-loads": 0x81D0,
    "dTLB-load-misses": 0x0E08,
    "dTLB-stores": 0x82D0,
    "dTLB-store-misses": 0x0E49,
    "iTLB-loads": 0x2085,
    "iTLB-load-misses": 0x0E85,
    "branch-loads": 0x00C4,
    "branch-load-misses": 0x00C5,
}
# Linux has the bus's cycles, which are no figure of the machine, and the memory of nodes, of which there is one.
NOT_HERE = {"bus-cycles", "node-loads", "node-load-misses", "node-stores", "node-store-misses"}
NOT_IN_LINUX = {"stalled-cycles-frontend", "L1-dcache-store-misses", "L1-icache-loads"}


def test_perfs_names_stand_for_the_events_that_linux_chooses() -> None:
    generic = generic_events("skylake")
    found = {name: SKYLAKE.events[name] for name, one in generic.items() if one.is_counted}
    # Linux has none. perf_event_open(2), PERF_COUNT_HW_STALLED_CYCLES_BACKEND: "stalled cycles during retirement".
    assert found.pop("stalled-cycles-backend").signal == "uops_retired.stall_cycles"
    assert {name: event.code | event.umask << 8 for name, event in found.items()} == OF_LINUX
    assert set(generic) - set(found) - {"stalled-cycles-backend"} == NOT_HERE | NOT_IN_LINUX
    # SKL_DEMAND_READ is bit 0 of the requests, SKL_DEMAND_WRITE bit 1; of the answers SKL_ANY_RESPONSE bit 16, and
    # SKL_L3_MISS bits 26 to 29.
    extras = {name: int(found[name].extra.partition("=")[2], 16) for name in found if name.startswith("LLC")}
    assert {name: bits & 3 for name, bits in extras.items()} == {
        "LLC-loads": 1, "LLC-load-misses": 1, "LLC-stores": 2, "LLC-store-misses": 2,
    }  # fmt: skip
    assert {name for name, bits in extras.items() if bits >> 16 & 1} == {"LLC-loads", "LLC-stores"}
    assert all(extras[f"LLC-{what}-misses"] >> 26 & 15 == 15 for what in ("load", "store"))


def test_offcore_responses_have_two_registers_and_a_code_for_each() -> None:
    """Section 18.9.5: codes 0xB7 and 0xBB with MSR_OFFCORE_RSP_0 and 1. DEMAND_DATA_RD is bit 0, DEMAND_RFO bit 1,
    ANY_RESPONSE bit 16."""
    reads, writes, misses = (
        f"OFFCORE_RESPONSE.DEMAND_{what}"
        for what in ("DATA_RD.ANY_RESPONSE", "RFO.ANY_RESPONSE", "RFO.L3_MISS.ANY_SNOOP")
    )
    made = SKYLAKE.program([reads, writes, reads])
    assert made.writes["msr_offcore_rsp_0"] == 1 | 1 << 16 and made.writes["msr_offcore_rsp_1"] == 2 | 1 << 16
    assert [made.writes[f"ia32_perfevtsel{number}"] & 0xFFFF for number in range(3)] == [0x1B7, 0x1BB, 0x1B7]
    assert [one.event.name for one in read_counters(SKYLAKE, made.writes).monitors] == [reads, writes, reads]
    with pytest.raises(RuleError, match=r"MSR_OFFCORE_RSP_0 or MSR_OFFCORE_RSP_1 .*events_need_a_further_register"):
        SKYLAKE.program([reads, writes, misses])


def test_events_defined_by_a_condition_leave_none_to_choose() -> None:
    with pytest.raises(RuleError, match=r"CMASK, INV.*an_events_own_condition_stands"):
        SKYLAKE.program([EventRequest("UOPS_ISSUED.STALL_CYCLES", threshold=2)])
    made = SKYLAKE.program([EventRequest("UOPS_ISSUED.ANY", threshold=1, invert=True), "UOPS_ISSUED.STALL_CYCLES"])
    first, second = (made.writes[f"ia32_perfevtsel{number}"] for number in range(2))
    assert first == second == 0x1D1010E
    assert "Fields : CMASK 1, INV\n" in event_info(SKYLAKE, "UOPS_ISSUED.STALL_CYCLES")


def test_an_event_says_why_it_is_not_counted() -> None:
    assert "Zero   : always; the processor that a program sees has no tr" in event_info(SKYLAKE, "RTM_RETIRED.START")
    assert "(the crystal's clock is no figure" in event_info(SKYLAKE, "CPU_CLK_UNHALTED.REF_XCLK")
    with pytest.raises(PfmonError, match="nearest: ref-cycles"):
        SKYLAKE.program(["bus-cycles"])
