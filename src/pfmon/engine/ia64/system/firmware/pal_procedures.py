"""The table of PAL's procedures (volume 2, 11.10.3)."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.engine.ia64.system.firmware import (
    pal_caches,
    pal_machine_checks,
    pal_power,
    pal_processor,
    pal_translation,
)
from pfmon.engine.ia64.system.firmware.pal_call import (
    INVALID,
    UNIMPLEMENTED,
    Pal,
    PalCall,
    PalFunction,
    PalResult,
)

STACKED = 1 << 8
"""Bit of the index of procedures with stacked registers (11.10.2.1)."""


class Procedure(NamedTuple):
    """``name``: without PAL_; ``arguments``: how many it has, the others are reserved and 0."""

    name: str
    arguments: int
    answer: PalFunction


PROCEDURES = {
    1: Procedure("CACHE_FLUSH", 3, pal_caches.cache_flush),
    2: Procedure("CACHE_INFO", 2, pal_caches.cache_info),
    3: Procedure("CACHE_INIT", 3, pal_caches.cache_init),
    4: Procedure("CACHE_SUMMARY", 0, pal_caches.cache_summary),
    5: Procedure("MEM_ATTRIB", 0, pal_translation.mem_attrib),
    6: Procedure("PTCE_INFO", 0, pal_translation.ptce_info),
    7: Procedure("VM_INFO", 2, pal_translation.vm_info),
    8: Procedure("VM_SUMMARY", 0, pal_translation.vm_summary),
    9: Procedure("BUS_GET_FEATURES", 0, pal_processor.bus_get_features),
    10: Procedure("BUS_SET_FEATURES", 1, pal_processor.bus_set_features),
    11: Procedure("DEBUG_INFO", 0, pal_processor.debug_info),
    12: Procedure("FIXED_ADDR", 0, pal_processor.fixed_addr),
    13: Procedure("FREQ_BASE", 0, pal_processor.freq_base),
    14: Procedure("FREQ_RATIOS", 0, pal_processor.freq_ratios),
    15: Procedure("PERF_MON_INFO", 1, pal_processor.perf_mon_info),
    16: Procedure("PLATFORM_ADDR", 2, pal_processor.platform_addr),
    17: Procedure("PROC_GET_FEATURES", 2, pal_processor.proc_get_features),
    18: Procedure("PROC_SET_FEATURES", 2, pal_processor.proc_set_features),
    19: Procedure("RSE_INFO", 0, pal_processor.rse_info),
    20: Procedure("VERSION", 0, pal_processor.version),
    21: Procedure("MC_CLEAR_LOG", 0, pal_machine_checks.mc_clear_log),
    22: Procedure("MC_DRAIN", 0, pal_machine_checks.mc_drain),
    23: Procedure("MC_EXPECTED", 1, pal_machine_checks.mc_expected),
    24: Procedure("MC_DYNAMIC_STATE", 2, pal_machine_checks.mc_dynamic_state),
    25: Procedure("MC_ERROR_INFO", 3, pal_machine_checks.mc_error_info),
    26: Procedure("MC_RESUME", 3, pal_machine_checks.mc_resume),
    27: Procedure("MC_REGISTER_MEM", 2, pal_machine_checks.mc_register_mem),
    28: Procedure("HALT", 2, pal_power.halt),
    29: Procedure("HALT_LIGHT", 0, pal_power.halt_light),
    30: Procedure("COPY_INFO", 3, pal_power.copy_info),
    34: Procedure("VM_PAGE_SIZE", 0, pal_translation.vm_page_size),
    38: Procedure("CACHE_PROT_INFO", 2, pal_caches.cache_prot_info),
    39: Procedure("REGISTER_INFO", 1, pal_processor.register_info),
    40: Procedure("SHUTDOWN", 1, pal_power.shutdown),
    41: Procedure("PREFETCH_VISIBILITY", 1, pal_caches.prefetch_visibility),
    42: Procedure("LOGICAL_TO_PHYSICAL", 1, pal_processor.logical_to_physical),
    43: Procedure("CACHE_SHARED_INFO", 3, pal_caches.cache_shared_info),
    48: Procedure("GET_HW_POLICY", 1, pal_processor.get_hw_policy),
    49: Procedure("SET_HW_POLICY", 1, pal_processor.set_hw_policy),
    256: Procedure("COPY_PAL", 3, pal_power.copy_pal),
    257: Procedure("HALT_INFO", 1, pal_power.halt_info),
    261: Procedure("VM_TR_READ", 3, pal_translation.vm_tr_read),
    274: Procedure("BRAND_INFO", 2, pal_processor.brand_info),
}
"""By index. What is not here is unimplemented: P-states, virtual processors, tests, PMI and IA-32 entry points."""


def answer(pal: Pal, index: int, call: PalCall) -> PalResult:
    """Answer a call. A reserved argument that is not 0 is invalid."""
    procedure = PROCEDURES.get(index)
    if procedure is None:
        return PalResult(UNIMPLEMENTED)
    if any(call[procedure.arguments :]):
        return INVALID
    return procedure.answer(pal, call)
