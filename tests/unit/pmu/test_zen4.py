"""Zen 4's PMU: PerfMonV2's registers and last branch records as AMD's manual has them (APM volume 2, sections 13.1.1.9
and 13.2)."""

import pytest
from grids import each

from pfmon import pmu
from pfmon.errors import RuleError
from pfmon.pmu.capture.captures import captures_of
from pfmon.pmu.capture.last_branches import LastBranchStack
from pfmon.pmu.model.monitors import read_counters
from pfmon.pmu.registers.amd_file import LAST_BRANCHES, AmdV2File, cpuid_80000022
from pfmon.pmu.registers.decode import decode_text

ZEN4 = pmu.get("zen4")
STATUS, CONTROL, CLEAR = (f"perf_cntr_global_{what}" for what in ("status", "ctl", "status_clr"))
RETIRED = 0x5100C0
LARGEST = (1 << 48) - 1


def fresh() -> AmdV2File:
    file = ZEN4.register_file()
    assert isinstance(file, AmdV2File)
    return file


def test_cpuid_leaf_is_that_of_a_ryzen_9_7950x() -> None:
    """InstLatx64, AuthenticAMD0A60F12_K19_Raphael_01_CPUID.txt, leaf 8000_0022: 00000003-00084106. Bits of EBX above
    9:0 are of other units."""
    assert cpuid_80000022(ZEN4.bank, LAST_BRANCHES) == (0x3, 0x84106 & 0x3FF)


def test_registers_are_at_the_addresses_of_the_manual() -> None:
    """AMD APM volume 2, appendix A."""
    wanted = {0xC0000300: STATUS, 0xC0000301: CONTROL, 0xC0000302: CLEAR, 0xC000010E: "lbr_select"}
    assert {number: fresh().address(number) for number in wanted} == wanted
    assert ZEN4.data_name(0xC0010300) == "LAST_BRANCH_STACK_FROM_IP_0"
    assert ZEN4.data_name(0xC001031F) == "LAST_BRANCH_STACK_TO_IP_15"


def test_a_counter_counts_with_its_bit_of_the_global_control() -> None:
    file = fresh()
    file.write("perf_ctl3", RETIRED)
    file.run_program()
    file.write(CONTROL, 1 << 3)
    assert file.enabled(3) and not file.frozen
    file.store({3: LARGEST})
    assert file.add(3, 1) and file.interrupt and file.read(STATUS) == 1 << 3
    file.write(STATUS, 0)
    assert file.read(STATUS) == 1 << 3
    file.write(CLEAR, 1 << 3)
    assert file.read(STATUS) == 0
    assert file.take_overflows() == [3]
    file.stop()
    assert file.frozen and not file.enabled(3)


def test_the_global_control_is_written_last_and_decoded() -> None:
    made = ZEN4.program(["EX_RET_INSTR", "EX_RET_BRN", "IBS_OP"])
    assert list(made.writes) == ["perf_ctl0", "perf_ctl1", "ibs_op_ctl", CONTROL]
    assert made.writes[CONTROL] == 0b11
    counted = [one.event.name for one in read_counters(ZEN4, made.writes).monitors]
    assert counted == ["EX_RET_INSTR", "EX_RET_BRN", "IBS_OP"]
    half = read_counters(ZEN4, made.writes | {CONTROL: 0b10})
    assert [one.event.name for one in half.monitors] == ["EX_RET_BRN", "IBS_OP"]
    text = decode_text(ZEN4, f"0xc0010200={RETIRED:#x} 0xc0000301=0")
    assert "PERF_CTR0 is switched off" in text


@each(
    ("filters", "value"),
    [(["any"], 0x1), (["any_call"], 0x1E5), (["ind_call", "cond"], 0x1E9), (["any_ret", "u"], 0x1DD)],
)
def test_filters_are_the_bits_of_lbr_select(filters: list[str], value: int) -> None:
    """Linux 6.12, arch/x86/events/amd/lbr.c, LBR_SELECT_KERNEL to LBR_SELECT_FAR_BRANCH: a bit leaves a kind out."""
    made = ZEN4.program(["EX_RET_INSTR"], last_branches=filters)
    assert made.writes["lbr_select"] == value and made.writes["dbg_extn_cfg"] == 1 << 6


def test_there_is_no_call_stack_mode() -> None:
    with pytest.raises(RuleError, match="has no call stack mode"):
        ZEN4.program(["EX_RET_INSTR"], last_branches=["stack"])


def test_entries_are_decoded_the_oldest_first() -> None:
    """Linux 6.12, arch/x86/events/amd/lbr.c: entry 0 is the latest; mispredict is bit 63 of the source, valid of the
    target."""
    made = ZEN4.program(["EX_RET_INSTR"], last_branches=["any"])
    stack = captures_of(ZEN4, made.writes).branches
    assert isinstance(stack, LastBranchStack) and len(stack.registers) == 2 * LAST_BRANCHES
    held = dict.fromkeys(stack.registers, 0)
    held |= {0xC0010300: 0x401000 | 1 << 63, 0xC0010301: 0x402000 | 1 << 63}
    held |= {0xC0010302: 0x403000, 0xC0010303: 0x404000 | 1 << 63}
    assert [(one.source, one.target, one.mispredicted) for one in stack.entries(held)] == [
        (0x403000, 0x404000, False),
        (0x401000, 0x402000, True),
    ]


@each(
    ("name", "code"),
    [
        *(("cycles", 0x76), ("instructions", 0xC0), ("cache-references", 0xFF60), ("cache-misses", 0x964)),
        *(("branches", 0xC2), ("branch-misses", 0xC3), ("ref-cycles", 0x10120), ("L1-dcache-loads", 0x40)),
        *(("dTLB-loads", 0xFF45), ("dTLB-load-misses", 0xF045), ("iTLB-loads", 0x84)),
    ],
)
def test_perfs_names_stand_for_the_events_of_the_kernel(name: str, code: int) -> None:
    """Linux 6.12, arch/x86/events/amd/core.c, amd_zen4_perfmon_event_map and amd_hw_cache_event_ids_f17h; code 120h has
    unit mask 1."""
    event = ZEN4.events[name]
    wanted = (0x120, 1) if name == "ref-cycles" else (code & 0xFF, code >> 8)
    assert (event.code, event.umask) == wanted
