"""Last branch records: MSR_LBR_SELECT, refusals, and decoding of the registers."""

import pytest
from grids import each

from pfmon import pmu
from pfmon.errors import BadValueError, RuleError
from pfmon.pmu.capture.branch_captures import CapturedEdge
from pfmon.pmu.capture.captures import captures_of
from pfmon.pmu.capture.last_branches import LastBranchStack

LEFT_OUT = {"jcc": 2, "call": 3, "ind_call": 4, "ret": 5, "ind_jmp": 6, "jmp": 7, "far": 8}
"""Bits of MSR_LBR_SELECT (SDM volume 3, table 17-11)."""
KERNEL, CALL_STACK = 1 << 0, 1 << 9
PASSED = {
    "any": set(LEFT_OUT),
    "u": set(LEFT_OUT),
    "any_call": {"call", "ind_call"},
    "any_ret": {"ret"},
    "call": {"call"},
    "cond": {"jcc"},
    "ind_call": {"ind_call"},
    "ind_jmp": {"ind_jmp"},
    "cond,any_call,u": {"jcc", "call", "ind_call"},
    "stack": {"call", "ind_call", "ret"},
}


@each("name", PASSED)
def test_filters_are_bits_of_the_register(name: str) -> None:
    writes = pmu.get("skylake").program(["instructions"], last_branches=name.split(",")).writes
    left_out = sum(1 << bit for kind, bit in LEFT_OUT.items() if kind not in PASSED[name])
    assert writes["msr_lbr_select"] == left_out | KERNEL | (CALL_STACK if name == "stack" else 0)
    assert writes["ia32_debugctl"] == 1 | 1 << 11


def test_without_filters_nothing_is_recorded() -> None:
    made = pmu.get("skylake").program(["instructions"])
    assert not {"msr_lbr_select", "ia32_debugctl"} & set(made.writes)
    assert captures_of(pmu.get("skylake"), made.writes).branches is None


@pytest.mark.parametrize(
    ("name", "filters", "rule"),
    [
        ("intel_v2", ["any"], "feature_must_exist"),
        ("montecito", ["any"], "feature_must_exist"),
        ("core2", ["any_call"], "branch_filters_need_lbr_select"),
        ("nehalem", ["stack"], "call_stack_mode_must_exist"),
        ("skylake", ["stack", "cond"], "call_stack_mode_records_calls_alone"),
        ("skylake", ["k"], "branch_filters_record_something"),
    ],
)
def test_what_a_processor_lacks_is_refused(name: str, filters: list[str], rule: str) -> None:
    with pytest.raises(RuleError, match=rule):
        pmu.get(name).program(["instructions"], last_branches=filters)


def test_unknown_filters_are_refused() -> None:
    with pytest.raises(BadValueError, match="branch_filters_must_exist"):
        pmu.get("skylake").program(["instructions"], last_branches=["calls"])


REGISTERS = {"core2": (4, 0x40, 0x60, 0), "nehalem": (16, 0x680, 0x6C0, 0), "skylake": (32, 0x680, 0x6C0, 0xDC0)}


@each("name", REGISTERS)
def test_records_are_decoded_from_the_top_on(name: str) -> None:
    depth, sources, targets, infos = REGISTERS[name]
    model = pmu.get(name)
    buffer = captures_of(model, model.program(["instructions"], last_branches=["any"]).writes).branches
    assert isinstance(buffer, LastBranchStack)
    held = dict.fromkeys(buffer.registers, 0)
    held[0x1C9] = 0
    wrong = {"nehalem": (sources, 1 << 63), "skylake": (infos, 1 << 63)}.get(name)
    held |= {sources + depth - 1: 0x401000, targets + depth - 1: 0x402000, sources: 0x402004, targets: 0x401005}
    if wrong:
        held[wrong[0]] |= wrong[1]
    expected = [CapturedEdge(0x401000, 0x402000, False), CapturedEdge(0x402004, 0x401005, wrong is not None)]
    assert buffer.edges(held) == expected
    assert model.data_name(sources + 1) == "MSR_LASTBRANCH_1_FROM_IP"
    assert model.data_name(targets + depth - 1) == f"MSR_LASTBRANCH_{depth - 1}_TO_IP"
    assert model.data_name(0x1C9) == "MSR_LASTBRANCH_TOS"
