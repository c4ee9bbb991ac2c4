"""Zen 3's PMU: the registers as AMD's manual has them (APM volume 2, section 13.2)."""

import pytest
from grids import each

from pfmon import pmu
from pfmon.errors import BadValueError, RuleError
from pfmon.pmu.model.generic_events import generic_events
from pfmon.pmu.model.monitors import monitors, read_counters
from pfmon.pmu.registers.amd_file import AmdFile, cpuid_80000001_ecx
from pfmon.pmu.registers.decode import decode_text

ZEN3 = pmu.get("zen3")
RETIRED = 0x5100C0
"""libpfm's encoding of RETIRED_INSTRUCTIONS at user level."""
WIDTH = (1 << 48) - 1


def fresh() -> AmdFile:
    file = ZEN3.register_file()
    assert isinstance(file, AmdFile)
    return file


def test_cpuid_has_six_core_counters_and_no_architectural_version() -> None:
    """AMD APM volume 3, Fn8000_0001 ECX: IBS is bit 10, PerfCtrExtCore bit 23."""
    assert cpuid_80000001_ecx(ZEN3.bank) == 1 << 10 | 1 << 23
    assert fresh().version == 0


def test_registers_are_at_the_addresses_of_the_manual() -> None:
    """AMD APM volume 2, table 13-1 and appendix A."""
    wanted = {
        0xC0010000: "perf_legacy_ctl0",
        0xC0010003: "perf_legacy_ctl3",
        0xC0010004: "perf_legacy_ctr0",
        0xC0010007: "perf_legacy_ctr3",
        0xC0010200: "perf_ctl0",
        0xC0010201: "perf_ctr0",
        0xC001020A: "perf_ctl5",
        0xC001020B: "perf_ctr5",
        0xC0011030: "ibs_fetch_ctl",
        0xC0011033: "ibs_op_ctl",
        0xC0011034: "ibs_op_rip",
        0xC0011035: "ibs_op_data",
        0xC0011036: "ibs_op_data2",
        0xC0011037: "ibs_op_data3",
        0xC0011038: "ibs_dc_linaddr",
        0xC001103C: "ic_ibs_extd_ctl",
    }
    assert {number: fresh().address(number) for number in wanted} == wanted
    with pytest.raises(BadValueError, match="general protection"):
        fresh().address(0x186)


def test_older_addresses_are_of_the_same_registers() -> None:
    file = fresh()
    file.write("perf_legacy_ctl2", RETIRED)
    file.write("perf_ctr2", 0x1234_5678_9ABC)
    assert file.read("perf_ctl2") == file.read("perf_legacy_ctl2") == RETIRED
    assert file.read("perf_legacy_ctr2") == file.rdpmc(2) == 0x1234_5678_9ABC
    assert file.selected(2) == 0xC0 and file.selected(3) == 0


def test_reserved_bits_stay_zero() -> None:
    """AMD APM volume 2, figure 13-7: bits 19, 21, 39:36 and 63:42 are reserved."""
    file = fresh()
    file.write("perf_ctl5", (1 << 64) - 1)
    assert file.read("perf_ctl5") == (1 << 42) - 1 ^ (1 << 19 | 1 << 21 | 0xF << 36)
    file.write("perf_ctr5", (1 << 64) - 1)
    assert file.read("perf_ctr5") == WIDTH


@each("msr", [0xC001_0200, 0xC001_0000])
def test_a_dump_by_address_says_what_is_counted(msr: int) -> None:
    text = decode_text(ZEN3, f"{msr + (4 if msr & 0x200 else 2):#x}={RETIRED:#x} {msr:#x}=0x100510f8e")
    assert "PERF_CTR2 counts EX_RET_INSTR at 1, 2, user" in text
    assert "PERF_CTR0 counts event 0x18e umask 0xf (none)" in text


def test_each_counter_overflows_by_its_own_interrupt() -> None:
    file = fresh()
    for number in range(6):
        file.write(f"perf_ctl{number}", RETIRED)
    file.run_program()
    for number in range(6):
        file.store({number: WIDTH})
        assert file.enabled(number) and file.headroom(number) == 1
        assert file.add(number, 1) and file.interrupt
        assert file.take_overflows() == [number] and not file.interrupt
    file.stop()
    assert not any(file.enabled(number) for number in ZEN3.bank.numbers)


def test_op_sampling_interrupts_at_each_sample() -> None:
    file = fresh()
    file.write("ibs_op_ctl", 0xA0000)
    file.run_program()
    file.store({32: (1 << 48) - 100})
    assert file.enabled(32) and file.headroom(32) == 100
    assert not file.add(32, 99) and not file.interrupt
    assert file.add(32, 2) and file.interrupt and file.field("ibs_op_ctl", "op_val") == 1
    assert file.take_overflows() == [32] and file.count(32) == 1
    with pytest.raises(BadValueError, match="RDPMC"):
        file.rdpmc(32)
    file.stop()
    assert not file.enabled(32)


def test_the_fields_of_sampling_are_those_of_linux() -> None:
    """Linux 6.1, arch/x86/include/asm/amd-ibs.h: position and width in each union."""
    wanted = {
        "ibs_op_ctl": {
            "max_cnt": (0, 16),
            "op_en": (17, 1),
            "op_val": (18, 1),
            "cnt_ctl": (19, 1),
            "cur_cnt": (32, 27),
        },
        "ibs_op_data": {"op_return": (34, 1), "op_brn_misp": (36, 1), "op_microcode": (40, 1)},
        "ibs_op_data2": {"data_src": (0, 3), "rmt_node": (4, 1), "cache_hit_st": (5, 1)},
        "ibs_op_data3": {
            "ld_op": (0, 1),
            "dc_miss": (7, 1),
            "dc_locked_op": (15, 1),
            "dc_miss_no_mab_alloc": (16, 1),
            "dc_lin_addr_valid": (17, 1),
            "l2_miss": (20, 1),
            "op_mem_width": (22, 4),
            "dc_miss_lat": (32, 16),
        },
        "ibs_fetch_ctl": {"max_cnt": (0, 16), "lat": (32, 16), "fetch_en": (48, 1), "l2_miss": (58, 1)},
    }
    for register, fields in wanted.items():
        for name, place in fields.items():
            field = ZEN3.registers[register].field(name)
            assert (field.low, field.width) == place, name
    text = decode_text(ZEN3, "0xc0011033=0xa0000 0xc0011037=0x20081")
    assert "IBS_OP_CTL samples IBS_OP" in text and "it loads" in text


def test_a_dump_of_a_sampled_op_says_its_load() -> None:
    """Linux 6.1, arch/x86/events/amd/ibs.c, perf_ibs_get_mem_lvl: a miss of L1D and L2 with source 3 is of memory."""
    registers = "0xc0011034=0x401000 0xc0011036=3 0xc0011038=0x7000 0xc0011037="
    assert "sampled op at 0x401000: load of 0x7000 from RAM, latency 90 cycles, whose page is in no TLB" in decode_text(
        ZEN3, f"{registers}{90 << 32 | 1 << 20 | 1 << 17 | 1 << 7 | 1 << 3 | 1:#x}"
    )
    assert "sampled op at 0x401000, which is no load" in decode_text(ZEN3, f"{registers}0")


@each(("bits", "enabled"), [(0x51, True), (0x52, False), (0x11, False)])
def test_en_and_the_level_enable_a_counter(bits: int, enabled: bool) -> None:
    file = fresh()
    file.write("perf_ctl0", bits << 16 | 0xC0)
    file.run_program()
    assert file.enabled(0) == enabled


@each(
    ("fields", "occurrences", "wanted"),
    [
        ({}, (1, 0, 3), 4),
        ({"cmask": 2}, (1, 0, 3, 2), 2),
        ({"cmask": 2, "inv": 1}, (1, 0, 3, 2), 2),
        ({"edge": 1}, (1, 1, 0, 3), 2),
    ],
)
def test_conditions_of_a_cycle(fields: dict[str, int], occurrences: tuple[int, ...], wanted: int) -> None:
    """AMD APM volume 2, section 13.2.1: CntMask, Inv, Edge."""
    file = fresh()
    file.write("perf_ctl0", ZEN3.registers["perf_ctl0"].encode(usr=1, en=1, event=0xC0, **fields))
    file.run_program()
    for number in occurrences:
        file.clock(0, number)
    assert file.count(0) == wanted


def test_events_and_counters() -> None:
    assert ZEN3.program(["EX_RET_INSTR"] * 6).counters == tuple(range(6))
    with pytest.raises(RuleError, match="events_need_free_counters"):
        ZEN3.program(["EX_RET_INSTR"] * 7)
    with pytest.raises(RuleError, match="no last branch records"):
        ZEN3.program(["EX_RET_INSTR"], last_branches=["any"])
    with pytest.raises(RuleError, match="there are int, guest_only, host_only"):
        ZEN3.program(["EX_RET_INSTR"], controls={"pc": 1})
    made = ZEN3.program(["EX_RET_INSTR"], controls={"host_only": 1, "int": 0})
    assert made.writes == {"perf_ctl0": RETIRED ^ 1 << 20 | 1 << 41}


def test_floating_point_operations_take_two_counters() -> None:
    """PPR of Family 19h Model 21h, section 2.1.17.3: event FFFh on the counter behind an even one."""
    flops = "FP_RET_SSE_AVX_OPS.ALL"
    made = ZEN3.program(["EX_RET_INSTR", flops, "EX_RET_BRN", flops])
    assert made.counters == (4, 0, 5, 2)
    assert made.writes["perf_ctl1"] == made.writes["perf_ctl3"] == 0xF004000FF
    assert [one.event.name for one in monitors(ZEN3, made.writes)] == [flops, flops, "EX_RET_INSTR", "EX_RET_BRN"]
    text = decode_text(ZEN3, " ".join(f"{name}={value}" for name, value in made.writes.items()))
    assert "PERF_CTR1 extends PERF_CTR0" in text
    with pytest.raises(RuleError, match="events_need_free_counters"):
        ZEN3.program([flops] * 3 + ["EX_RET_INSTR"])
    alone = read_counters(ZEN3, {"perf_ctl0": made.writes["perf_ctl0"]})
    assert not alone.monitors and "needs the counter behind an even one" in alone.unknown[0].reason


@each(
    ("name", "code"),
    [
        ("cycles", 0x76),
        ("instructions", 0xC0),
        ("branches", 0xC2),
        ("branch-misses", 0xC3),
        ("cache-misses", 0x964),
        ("L1-dcache-loads", 0x40),
        ("L1-icache-load-misses", 0x81),
        ("dTLB-loads", 0xFF45),
        ("dTLB-load-misses", 0xF045),
        ("iTLB-loads", 0x84),
        ("iTLB-load-misses", 0xFF85),
    ],
)
def test_perfs_names_stand_for_the_events_of_the_kernel(name: str, code: int) -> None:
    """Linux 6.1, arch/x86/events/amd/core.c, amd_f17h_perfmon_event_map and amd_hw_cache_event_ids_f17h."""
    event = ZEN3.events[name]
    assert event.umask << 8 | event.code == code


def test_perfs_names_that_the_processor_lacks_are_refused() -> None:
    refused = {name for name, one in generic_events("zen3").items() if not one.is_counted}
    assert {"bus-cycles", "ref-cycles", "LLC-loads", "node-loads", "L1-dcache-stores"} <= refused
