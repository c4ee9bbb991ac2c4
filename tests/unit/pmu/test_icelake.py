"""Ice Lake's PMU: architectural performance monitoring version 5 as the SDM has it (volume 3, sections
18.2.5 and 18.3.9), and the events of Intel's list against libpfm's."""

import csv
from pathlib import Path

import pytest
from grids import each

from pfmon import pmu
from pfmon.errors import BadValueError, PfmonError, RuleError
from pfmon.pmu.model.describe import event_info
from pfmon.pmu.model.event_selects import NO_CONDITION
from pfmon.pmu.model.generic_events import generic_events
from pfmon.pmu.model.monitors import read_counters
from pfmon.pmu.registers.decode import decode_text
from pfmon.pmu.registers.msr_file import MSR_ADDRESSES, cpuid_0a
from pfmon.pmu.registers.msr_v4_file import MsrV5File
from pfmon.signals.signal_names import is_produced

ICELAKE = pmu.get("icelake")
LIBPFM = Path(__file__).parents[2] / "data" / "pmu" / "icelake-libpfm.csv"
STATUS, CONTROL = "ia32_perf_global_status", "ia32_perf_global_ctrl"
RESET, SET = "ia32_perf_global_status_reset", "ia32_perf_global_status_set"
CTR_FRZ = 1 << 59
METRICS = 1 << 48


def fresh() -> MsrV5File:
    file = ICELAKE.register_file()
    assert isinstance(file, MsrV5File)
    return file


def test_cpuid_leaf_is_that_of_a_core_i7_1065g7() -> None:
    """InstLatx64, GenuineIntel00706E5_IceLakeY_CPUID.txt: leaf 0AH."""
    assert cpuid_0a(ICELAKE.bank, fresh().version) == (0x08300805, 0, 0xF, 0x8604)


def test_registers_are_at_the_addresses_of_the_sdm() -> None:
    wanted = {0xC8: "ia32_pmc7", 0x18D: "ia32_perfevtsel7", 0x30C: "ia32_fixed_ctr3", 0x329: "ia32_perf_metrics"}
    assert {number: fresh().address(number) for number in wanted} == wanted
    addresses = [MSR_ADDRESSES[name] for name in ICELAKE.registers]
    assert len({*addresses}) == len(addresses)


@each(
    ("name", "bits"),
    [
        ("ia32_perfevtsel5", 0xFFD7FFFF),  # neither PC, bit 19, nor AnyThread, bit 21
        ("ia32_fixed_ctr_ctrl", 0xBBBB),
        (CONTROL, 0xFF | 0xF << 32 | METRICS),
        (SET, 0xFF | 0xF << 32 | METRICS | 1 << 55 | 0x1F << 58),
        ("ia32_perf_metrics", 0xFFFFFFFF),
    ],
)
def test_reserved_bits_fault(name: str, bits: int) -> None:
    fresh().write(name, bits)
    for bit in range(64):
        if not bits >> bit & 1:
            with pytest.raises(BadValueError, match="general protection"):
                fresh().write(name, 1 << bit)


def test_any_of_twelve_counters_overflows_freezes_and_is_cleared() -> None:
    file = fresh()
    for number in range(8):
        file.write(f"ia32_perfevtsel{number}", 0xC0 | 1 << 16 | 1 << 20 | 1 << 22)
    file.write("ia32_debugctl", 1 << 12)
    file.write("ia32_fixed_ctr_ctrl", 0xAAAA)
    file.write(CONTROL, 0xFF | 0xF << 32)
    file.run_program()
    for counter in (*range(8), *range(32, 36)):
        file.store({counter: (1 << 48) - 1})
        assert file.enabled(counter) and file.add(counter, 1) and file.frozen
        assert file.read(STATUS) == 1 << counter | CTR_FRZ
        file.write(RESET, 1 << counter | CTR_FRZ)
        assert file.read(STATUS) == 0 and not file.frozen


def test_eight_events_are_counted_at_once_and_the_ninth_is_refused() -> None:
    assert ICELAKE.program(["LONGEST_LAT_CACHE.MISS"] * 8).counters == tuple(range(8))
    with pytest.raises(RuleError, match="events_need_free_counters"):
        ICELAKE.program(["LONGEST_LAT_CACHE.MISS"] * 9)
    assert ICELAKE.program(["TOPDOWN.SLOTS", "TOPDOWN.SLOTS_P"]).counters == (35, 0)


def test_nobody_counts_for_all_threads() -> None:
    assert not any(event.any_thread for event in ICELAKE.events)
    values = {"ia32_fixed_ctr_ctrl": 0x2222, CONTROL: 0xF << 32}
    names = [one.event.name for one in read_counters(ICELAKE, values).monitors]
    assert names == ["INST_RETIRED.ANY", "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.REF_TSC", "TOPDOWN.SLOTS"]


def test_every_event_is_read_from_the_registers_that_select_it() -> None:
    for event in ICELAKE.events:
        made = ICELAKE.program([event.name])
        (number,) = made.counters
        (found,) = read_counters(ICELAKE, made.writes).monitors
        assert (found.pmd, found.plm) == (number, 14), event.name
        if number < 32:
            assert (found.event.code, found.event.umask, found.event.extra) == (event.code, event.umask, event.extra)
        ways = {found.event.condition, (found.threshold, found.invert, found.edge)}
        assert ways == {event.condition, NO_CONDITION}, event.name
        assert is_produced(event.signal) <= (found.event.signal == event.signal)
        dump = " ".join(f"{name}={value}" for name, value in made.writes.items())
        assert found.event.name.partition(".")[0] in decode_text(ICELAKE, dump)


def test_each_event_is_counted_or_says_why_not() -> None:
    listed = [event for event in ICELAKE.events if "event list" in event.source]
    assert len(listed) == 343 and all(is_produced(event.signal) == (event.reason == "-") for event in listed)
    assert sum(is_produced(event.signal) for event in listed) == 184


# libpfm has both with the code of another event.
OTHERWISE = {"MEM_LOAD_MISC_RETIRED.UC", "TOPDOWN.BACKEND_BOUND_SLOTS"}


def test_encodings_are_those_of_libpfm() -> None:
    """Event code, unit mask, E, INV and CMASK (libpfm4, lib/events/intel_icl_events.h, commit 91970fe6)."""
    with LIBPFM.open(newline="") as table:
        rows = {row["event"]: int(row["select"], 16) for row in csv.DictReader(table)}
    assert len(rows) > 230
    different = set()
    for name, select in rows.items():
        event = ICELAKE.events[name]
        fields = {"event": event.code, "umask": event.umask, "e": event.edge, "inv": event.invert, "cmask": event.cmask}
        if ICELAKE.registers["ia32_perfevtsel0"].encode(**{key: int(value) for key, value in fields.items()}) != select:
            different.add(name)
    assert different == OTHERWISE


def test_perfs_names_stand_for_events() -> None:
    """Linux 6.1, arch/x86/events/intel/core.c: Ice Lake has Skylake's events of caches, but for iTLB-loads."""
    ours, skylakes = generic_events("icelake"), generic_events("skylake")
    assert {name for name in ours if ours[name].is_counted} == {
        name for name in skylakes if skylakes[name].is_counted
    } - {"iTLB-loads"}
    with pytest.raises(PfmonError, match=r"nearest: ITLB_MISSES\.STLB_HIT"):
        ICELAKE.program(["iTLB-loads"])


def test_an_event_says_why_it_is_not_counted() -> None:
    assert "(the port of a micro-operation is not recorded" in event_info(ICELAKE, "UOPS_DISPATCHED.PORT_0")
