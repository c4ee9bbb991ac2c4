"""Linux's checks and changes of PMC values written by a program (Linux up to 5.9, arch/ia64/kernel/perfmon.c,
perfmon_mckinley.h, perfmon_montecito.h)."""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.engine.linux.abi.ia64.perfmon.kernel_registers import CONTROL, OVERFLOW_INTERRUPT
from pfmon.engine.linux.abi.ia64.perfmon.perfmon_context import PerfmonContext
from pfmon.engine.linux.abi.ia64.perfmon.perfmon_structures import OVERFLOW_NOTIFY, RANDOM, RegisterArgument

ENABLE = 1 << 23
"""PMC4 of Itanium 2: the PMU is clocked."""


def accepted(context: PerfmonContext, pmu: str, wanted: RegisterArgument) -> int | None:
    """The value for the PMC; None: it is refused."""
    register = context.registers.pmcs.get(wanted.number)
    if register is None or register.kind == CONTROL:
        return None
    value = wanted.value
    if register.pm is not None and value != register.default and (value >> register.pm & 1) != context.system:
        return None
    if not register.counts:
        if wanted.flags & (OVERFLOW_NOTIFY | RANDOM):
            return None
    elif (wanted.smpl_pmds[0] | wanted.reset_pmds[0]) & ~context.registers.all_pmds:
        return None
    else:
        value |= OVERFLOW_INTERRUPT
    value = value & register.mask | register.default & ~register.mask
    if pmu == "itanium2" and wanted.number == 4:
        value |= ENABLE
    return None if _tags_inconsistently(pmu, {**context.pmcs, wanted.number: value}, wanted.number) else value


def _tags_inconsistently(pmu: str, pmcs: Mapping[int, int], number: int) -> bool:
    """Whether code ranges would tag events of the first- and second-level cache inconsistently: no data range is on,
    PMC8 (Montecito: PMC32) takes part, and a pair of the instruction breakpoints qualifies."""
    if pmu == "itanium2" and number in (8, 13, 14):
        ignores, data, code = pmcs[8] & 1, pmcs[13], pmcs[14]
    elif pmu == "montecito" and number in (32, 38, 41):
        ignores, data, code = pmcs[32] >> 57 & 1, pmcs[41], pmcs[38]
    else:
        return False
    return not data >> 45 & 0xF and not ignores and not (code >> 1 & 1 and code >> 4 & 1)
