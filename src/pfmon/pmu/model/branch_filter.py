"""perf's names of branches (perf record --branch-filter) as fields of MSR_LBR_SELECT (Intel SDM volume 3, sections
17.7.2 and 17.9)."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.errors import BadValueError, RuleError
from pfmon.pmu.registers.register_tables import Register
from pfmon.pmu.target import LastBranchRegisters

KINDS = ("jcc", "near_rel_call", "near_ind_call", "near_ret", "near_ind_jmp", "near_rel_jmp", "far_branch")
"""Fields that leave out a kind of branch."""
ANY, STACK, USER = "any", "stack", "u"
FILTERS: dict[str, tuple[str, ...]] = {
    ANY: KINDS,
    "any_call": ("near_rel_call", "near_ind_call"),
    "any_ret": ("near_ret",),
    "call": ("near_rel_call",),
    "cond": ("jcc",),
    "ind_call": ("near_ind_call",),
    "ind_jmp": ("near_ind_jmp",),
    STACK: ("near_rel_call", "near_ind_call", "near_ret"),
}
"""Name -> the kinds that are recorded. `stack` is perf's name of the call stack mode."""
NOT_OF_PROGRAMS = {
    "k": "programs run at level 3",
    "hv": "there is no hypervisor",
    "in_tx": "programs have no transactions",
    "no_tx": "programs have no transactions",
    "abort_tx": "programs have no transactions",
}


def check_branch_filter(names: Sequence[str]) -> None:
    """BadValueError: there is no such filter; RuleError: it would record nothing, or another one excludes it."""
    for name in names:
        branch_filters_record_something(name)
        branch_filters_must_exist(name)
    call_stack_mode_records_calls_alone(names)


def select_value(names: Sequence[str], layout: LastBranchRegisters, register: Register | None, pmu: str) -> int:
    """Return the value of MSR_LBR_SELECT, for branches at levels 1 to 3, that lets through what one of the filters
    names, without a kind all. RuleError: the processor has no such filter."""
    kinds = [name for name in names if name != USER] or [ANY]
    if register is None:
        branch_filters_need_lbr_select(kinds, pmu)
        return 0
    call_stack_mode_must_exist(kinds, layout, pmu)
    passed = {kind for name in kinds for kind in FILTERS[name]}
    fields = {kind: int(kind not in passed) for kind in KINDS}
    if STACK in kinds:
        fields["en_callstack"] = 1
    return register.encode(cpl_eq_0=1, **fields)


def are_calls_and_returns(names: Sequence[str]) -> bool:
    """Return whether filters let calls and returns through, and nothing else: the calls that a program is in follow."""
    return bool(names) and {kind for name in names if name != USER for kind in FILTERS[name]} == {*FILTERS[STACK]}


def branch_filters_record_something(name: str) -> None:
    """Programs run at level 3, without transactions (Intel SDM volume 3 section 17.7.2)."""
    if name in NOT_OF_PROGRAMS:
        raise RuleError(
            "branch_filters_record_something",
            f"--branch-filter={name} records nothing: {NOT_OF_PROGRAMS[name]}",
            "Intel SDM volume 3 section 17.7.2",
        )


def branch_filters_must_exist(name: str) -> None:
    """Filters have perf's names."""
    if name not in (*FILTERS, USER):
        raise BadValueError(
            f"--branch-filter={name}: unknown filter {name!r}; there are {', '.join((*FILTERS, USER))}",
            "branch_filters_must_exist",
        )


def call_stack_mode_records_calls_alone(names: Sequence[str]) -> None:
    """In call stack mode MSR_LBR_SELECT lets calls and returns through, and nothing else (section 17.9)."""
    if STACK in names and set(names) - {STACK, USER}:
        raise RuleError(
            "call_stack_mode_records_calls_alone",
            f"--branch-filter={','.join(names)}: in call stack mode ({STACK}) calls and returns alone are let through",
            "Intel SDM volume 3 section 17.9",
        )


def branch_filters_need_lbr_select(kinds: Sequence[str], pmu: str) -> None:
    """Core 2 records every taken branch: MSR_LBR_SELECT came with Nehalem (sections 17.5 and 17.7.2)."""
    if list(kinds) != [ANY]:
        raise RuleError(
            "branch_filters_need_lbr_select",
            f"--branch-filter={','.join(kinds)}: {pmu} records every taken branch (any): it has no MSR_LBR_SELECT, "
            "which came with Nehalem",
            "Intel SDM volume 3 section 17.5",
        )


def call_stack_mode_must_exist(kinds: Sequence[str], layout: LastBranchRegisters, pmu: str) -> None:
    """The call stack mode came with Haswell (section 17.9)."""
    if STACK in kinds and not layout.has_call_stack:
        raise RuleError(
            "call_stack_mode_must_exist",
            f"--branch-filter={','.join(kinds)}: {pmu} has no call stack mode (MSR_LBR_SELECT.EN_CALLSTACK), which "
            "came with Haswell",
            "Intel SDM volume 3 section 17.9",
        )
