"""PAL's procedures about machine checks, of which none is delivered: one ends the run (volume 2, 11.10.3)."""

from __future__ import annotations

from pfmon.engine.ia64.system.firmware.pal_call import (
    FAILED,
    INVALID,
    NO_INFORMATION,
    Pal,
    PalCall,
    PalResult,
)

SAVE_AREA_BYTES, SAVE_AREA_ALIGNMENT = 4096, 512
"""The min-state save area (volume 2, figure 11-1)."""
BUFFER_ALIGNMENT = 8


def mc_clear_log(_: Pal, __: PalCall) -> PalResult:
    """PAL_MC_CLEAR_LOG: neither a machine check nor an initialization event is pending."""
    return PalResult(0, (0,))


def mc_drain(_: Pal, __: PalCall) -> PalResult:
    """PAL_MC_DRAIN: all that was begun is complete."""
    return PalResult()


def mc_dynamic_state(_: Pal, call: PalCall) -> PalResult:
    """PAL_MC_DYNAMIC_STATE (page 2:409): there is no state, as it depends on the implementation; any buffer has
    room for it."""
    if call.first > 1 or call.second % BUFFER_ALIGNMENT:
        return INVALID
    return PalResult(0, (0,))


def mc_error_info(_: Pal, call: PalCall) -> PalResult:
    """PAL_MC_ERROR_INFO (page 2:410): there is no information, whatever is asked for."""
    return PalResult(NO_INFORMATION) if call.first <= 2 else INVALID


def mc_expected(pal: Pal, call: PalCall) -> PalResult:
    """PAL_MC_EXPECTED: whether one was expected before."""
    if call.first > 1:
        return INVALID
    before, pal.check_expected = pal.check_expected, bool(call.first)
    return PalResult(0, (int(before),))


def mc_register_mem(pal: Pal, call: PalCall) -> PalResult:
    """PAL_MC_REGISTER_MEM: the save area must be memory, of 4 KB; bit 63 is a memory attribute."""
    address = call.first & ~(1 << 63)
    if address % SAVE_AREA_ALIGNMENT or not pal.host.has_memory(address, SAVE_AREA_BYTES):
        return INVALID
    return PalResult(0, (SAVE_AREA_BYTES,))


def mc_resume(_: Pal, __: PalCall) -> PalResult:
    """PAL_MC_RESUME: nothing was interrupted that could go on."""
    return PalResult(FAILED)
