"""PAL's procedures that halt the processor, or move its code (volume 2, 11.10.3)."""

from __future__ import annotations

from pfmon.engine.ia64.system.firmware.pal_call import INVALID, Pal, PalCall, PalResult, to_buffer

STATES = 8
IMPLEMENTED, COHERENT = 1 << 60, 1 << 61
LIGHT_HALT, HALT = 0, 1
CODE_ALIGNMENT = 4096


def halt(pal: Pal, call: PalCall) -> PalResult:
    """PAL_HALT (page 2:399): halts until an interrupt pends, as the light state does; no access of its own tells the
    platform."""
    if call.first != HALT or call.second:
        return INVALID
    pal.host.halt()
    return PalResult(0, (0,))


def halt_info(_: Pal, call: PalCall) -> PalResult:
    """PAL_HALT_INFO (page 2:401): eight states, of which LIGHT_HALT and HALT are there (bit 60) and keep caches
    coherent (bit 61), without a latency."""
    states = [IMPLEMENTED | COHERENT if state in (LIGHT_HALT, HALT) else 0 for state in range(STATES)]
    return to_buffer(call.first, b"".join(state.to_bytes(8, "little") for state in states))


def halt_light(pal: Pal, _: PalCall) -> PalResult:
    """PAL_HALT_LIGHT: time passes until an interrupt pends, also with PSR.i = 0."""
    pal.host.halt()
    return PalResult()


def shutdown(pal: Pal, call: PalCall) -> PalResult:
    """PAL_SHUTDOWN: the system is off, and the run ends; no access of its own tells the platform."""
    if call.first:
        return INVALID
    pal.host.shut_down()
    return PalResult()


def copy_info(pal: Pal, call: PalCall) -> PalResult:
    """PAL_COPY_INFO: bytes and alignment of PAL's code, for copy_type 0."""
    return PalResult(0, (pal.code_bytes, CODE_ALIGNMENT)) if call.first == 0 else INVALID


def copy_pal(pal: Pal, call: PalCall) -> PalResult:
    """PAL_COPY_PAL (page 2:389): PAL's code is copied (copy_option 0); its entry point is where the copy begins. Bit 63
    of the address is a memory attribute."""
    address = call.first & ~(1 << 63)
    if address % CODE_ALIGNMENT or call.second < pal.code_bytes or call.third > 1:
        return INVALID
    return PalResult(0, (0,)) if call.third == 1 or pal.host.copy_code(address) else INVALID
