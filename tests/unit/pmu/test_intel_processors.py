"""The PMUs of Core 2 and Nehalem: the architectural ones, with the events that Linux has for perf's names."""

import pytest

from pfmon import pmu
from pfmon.errors import RuleError
from pfmon.pmu.model.generic_events import generic_events
from pfmon.pmu.registers.msr_file import cpuid_0a

# Linux 6.1, arch/x86/events/intel/core.c: core2_hw_cache_event_ids and nehalem_hw_cache_event_ids, code and unit mask.
OF_LINUX = {
    "core2": {
        "L1-dcache-loads": 0x0F40,
        "L1-dcache-load-misses": 0x0140,
        "L1-dcache-stores": 0x0F41,
        "L1-dcache-store-misses": 0x0141,
        "L1-icache-load-misses": 0x0081,
        "LLC-loads": 0x4F29,
        "LLC-load-misses": 0x4129,
        "LLC-stores": 0x4F2A,
        "LLC-store-misses": 0x412A,
        "dTLB-loads": 0x0F40,
        "dTLB-load-misses": 0x0208,
        "dTLB-stores": 0x0F41,
        "dTLB-store-misses": 0x0808,
        "iTLB-loads": 0x00C0,
        "iTLB-load-misses": 0x1282,
        "branch-loads": 0x00C4,
        "branch-load-misses": 0x00C5,
    },
    "nehalem": {
        "L1-dcache-loads": 0x010B,
        "L1-dcache-load-misses": 0x0151,
        "L1-dcache-stores": 0x020B,
        "L1-dcache-store-misses": 0x0251,
        "L1-icache-load-misses": 0x0280,
        "LLC-loads": 0x01B7,
        "LLC-load-misses": 0x01B7,
        "LLC-stores": 0x01B7,
        "LLC-store-misses": 0x01B7,
        "dTLB-load-misses": 0x0108,
        "dTLB-store-misses": 0x010C,
        "iTLB-load-misses": 0x20C8,
        "branch-loads": 0x00C4,
    },
}
# Nehalem's kernel table has L1D_CACHE_LD and ST, and INST_RETIRED.ANY_P, of which the same is counted.
OTHER_NAMES = {"dTLB-loads", "dTLB-stores", "iTLB-loads", "stalled-cycles-backend"}


@pytest.mark.parametrize("name", OF_LINUX)
def test_perfs_names_stand_for_the_events_that_linux_chooses(name: str) -> None:
    model, generic = pmu.get(name), generic_events(name)
    architectural = {one for one, row in generic_events("intel_v2").items() if row.is_counted} - set(OF_LINUX[name])
    found = {one: model.events[row.own_name] for one, row in generic.items() if row.is_counted}
    wanted = OF_LINUX[name]
    assert {one: found[one].code | found[one].umask << 8 for one in wanted} == wanted
    assert set(found) - set(wanted) - architectural <= (OTHER_NAMES if name == "nehalem" else set())


def test_nehalems_responses_are_those_of_its_register() -> None:
    """nehalem_hw_cache_extra_regs: DEMAND_DATA_RD is bit 0, DEMAND_RFO bit 1; L3 hits are bits 8 to 10, its misses 12
    to 15. Nehalem has one such register."""
    model = pmu.get("nehalem")
    extras = {
        one: int(model.events[row.own_name].extra.partition("=")[2], 16)
        for one, row in generic_events("nehalem").items()
        if one.startswith("LLC")
    }
    assert {one: bits & 0xFF for one, bits in extras.items()} == {
        "LLC-loads": 1, "LLC-load-misses": 1, "LLC-stores": 2, "LLC-store-misses": 2,
    }  # fmt: skip
    assert all(bits >> 8 == (0xF0 if "misses" in one else 0xF7) for one, bits in extras.items())
    with pytest.raises(RuleError, match="needs another value in MSR_OFFCORE_RSP_0 than"):
        model.program(["LLC-loads", "LLC-load-misses"])


def test_nehalem_has_four_counters_of_48_bits() -> None:
    """Section 30.6.1 of the SDM's volume 3."""
    model = pmu.get("nehalem")
    eax, *_, edx = cpuid_0a(model.bank, 3)
    assert (eax >> 8 & 255, eax >> 16 & 255, edx & 31) == (4, 48, 3)
    made = model.program(["LLC_MISSES"] * 4 + ["instructions", "cycles"])
    assert sorted(made.counters) == [0, 1, 2, 3, 32, 33]


def test_core_2s_registers_are_those_of_the_architecture() -> None:
    own, architectural = (pmu.get(name).registers for name in ("core2", "intel_v2"))
    assert list(own) == list(architectural)
