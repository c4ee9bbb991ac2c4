"""PAL's procedures that describe the processor and its features (volume 2, 11.10.3)."""

from __future__ import annotations

from fractions import Fraction

from pfmon.engine.ia64.system.devices import interrupt_block
from pfmon.engine.ia64.system.firmware.pal_call import (
    ALL_ONES,
    FAILED,
    INVALID,
    NO_FEATURE_SET,
    UNIMPLEMENTED,
    Pal,
    PalCall,
    PalResult,
    to_buffer,
)

HERTZ = 1_000_000
IO_BLOCK_BYTES = 64 << 20
PHYSICAL_STACKED = 96
"""Stacked registers, of all these processors (volume 1, 3.1.1)."""
BREAKPOINT_PAIRS = 4
ABSENT = 1 << 37 | 1 << 40 | 1 << 41 | 1 << 42
"""Features whose bit says that something is not there: pins for INIT and PMI, virtual machines, XIP, XPSR and XFS, XR1
to XR3."""
PAL_VERSION = 0x0100
VENDOR = 0xFF
"""Version 1.00 of PAL_A and PAL_B, of no vendor of processors."""
BRAND_BYTES = 128
HIGHEST_POLICY = 3
"""Performance, fairness, high priority, exclusive high priority."""

APPLICATION_REGISTERS = (*range(8), 16, 17, 18, 19, 21, *range(24, 31), 32, 36, 40, 44, 64, 65, 66)
"""Those with a name (volume 1, table 3-3); ignored ones are left out."""
CONTROL_REGISTERS = (0, 1, 2, 8, 16, 17, *range(19, 26), *range(64, 75), 80, 81)
"""Those with a name (volume 2, table 3-3)."""
IVR = 65
"""Reading it takes an interrupt, so it is not among those that are read freely."""


def bus_get_features(_: Pal, __: PalCall) -> PalResult:
    """PAL_BUS_GET_FEATURES: the bus has none that software sets."""
    return PalResult(0, (0, 0, 0))


def bus_set_features(_: Pal, __: PalCall) -> PalResult:
    """PAL_BUS_SET_FEATURES: bits of features that are not there are ignored."""
    return PalResult()


def debug_info(_: Pal, __: PalCall) -> PalResult:
    """PAL_DEBUG_INFO: pairs of instruction and data breakpoint registers."""
    return PalResult(0, (BREAKPOINT_PAIRS, BREAKPOINT_PAIRS))


def fixed_addr(_: Pal, __: PalCall) -> PalResult:
    """PAL_FIXED_ADDR (page 2:391): the only processor is at place 0."""
    return PalResult(0, (0,))


def freq_base(pal: Pal, _: PalCall) -> PalResult:
    """PAL_FREQ_BASE: the clock that the processor gives the platform is that of the bus, in hertz."""
    return PalResult(0, (pal.processor.bus_frequency * HERTZ,))


def freq_ratios(pal: Pal, _: PalCall) -> PalResult:
    """PAL_FREQ_RATIOS: processor, bus and interval timer against the base, the numerator in bits 63:32.
    The interval timer counts the processor's clock."""
    ratio = Fraction(pal.processor.frequency, pal.processor.bus_frequency)
    fast = ratio.numerator << 32 | ratio.denominator
    return PalResult(0, (fast, 1 << 32 | 1, fast))


def perf_mon_info(pal: Pal, call: PalCall) -> PalResult:
    """PAL_PERF_MON_INFO (page 2:440): pm_info, and four masks of 256 bits in the caller's buffer. Without a PMU of the
    system's own both are 0."""
    pmu = pal.processor.pmu
    return to_buffer(call.first, pmu.masks, (pmu.pm_info,))


def proc_get_features(_: Pal, call: PalCall) -> PalResult:
    """PAL_PROC_GET_FEATURES: of feature set 0 what is there, how it is set, what software sets; there is
    no other set."""
    return PalResult(0, (ABSENT, ABSENT, 0)) if call.second == 0 else PalResult(NO_FEATURE_SET)


def proc_set_features(_: Pal, call: PalCall) -> PalResult:
    """PAL_PROC_SET_FEATURES: software sets none, and bits of others are ignored."""
    return PalResult() if call.second == 0 else PalResult(NO_FEATURE_SET)


def register_info(_: Pal, call: PalCall) -> PalResult:
    """PAL_REGISTER_INFO: application registers that are there (0) and that are read without an effect
    (1), control registers (2, 3): a bit each."""
    if call.first > 3:
        return INVALID
    numbers = CONTROL_REGISTERS if call.first >= 2 else APPLICATION_REGISTERS
    mask = sum(1 << number for number in numbers if call.first != 3 or number != IVR)
    return PalResult(0, (mask & ALL_ONES, mask >> 64))


def rse_info(_: Pal, __: PalCall) -> PalResult:
    """PAL_RSE_INFO: physical stacked registers; the RSE is always lazy."""
    return PalResult(0, (PHYSICAL_STACKED, 0))


def platform_addr(_: Pal, call: PalCall) -> PalResult:
    """PAL_PLATFORM_ADDR: the address of the interrupt block (type 0), of 2 MB, or of the port space (1), of 64 MB. The
    block stays where it is at reset, which a call may confirm; there is no port space, wherever it is."""
    if call.first > 1 or call.second % (IO_BLOCK_BYTES if call.first else interrupt_block.BYTES):
        return INVALID
    moves = not call.first and call.second != interrupt_block.ADDRESS
    return PalResult(FAILED) if moves else PalResult()


def version(_: Pal, __: PalCall) -> PalResult:
    """PAL_VERSION (page 2:465): PAL_B in bits 15:0, the vendor in 31:24, PAL_A in 47:32."""
    value = PAL_VERSION | VENDOR << 24 | PAL_VERSION << 32
    return PalResult(0, (value, value))


def logical_to_physical(pal: Pal, call: PalCall) -> PalResult:
    """PAL_LOGICAL_TO_PHYSICAL: of the caller's package logical processors in bits 15:0, threads a core in 23:16, cores
    in 39:32, the package in 63:48; thread in bits 15:0 and core in 47:32 of the processor with this number, -1: the
    caller; its address, the id in CR.LID."""
    threads, cores = pal.processor.threads, pal.processor.cores
    package, place = divmod(pal.number, threads * cores)
    wanted = place if call.first == ALL_ONES else call.first
    if wanted >= threads * cores:
        return INVALID
    core, thread = divmod(wanted, threads)
    overview = threads * cores | threads << 16 | cores << 32 | package << 48
    return PalResult(0, (overview, thread | core << 32, package * threads * cores + wanted))


def get_hw_policy(pal: Pal, call: PalCall) -> PalResult:
    """PAL_GET_HW_POLICY: the policy of the caller's core, how many logical processors it is about, and the address of
    one of them."""
    threads = pal.processor.threads
    if not pal.processor.shares_core:
        return PalResult(UNIMPLEMENTED)
    if call.first >= threads:
        return INVALID
    return PalResult(0, (pal.host.policy, threads, pal.number // threads * threads + call.first))


def set_hw_policy(pal: Pal, call: PalCall) -> PalResult:
    """PAL_SET_HW_POLICY: how threads share their core from here on."""
    if not pal.processor.shares_core:
        return PalResult(UNIMPLEMENTED)
    if call.first > HIGHEST_POLICY:
        return INVALID
    pal.host.set_policy(call.first)
    return PalResult()


def brand_info(pal: Pal, call: PalCall) -> PalResult:
    """PAL_BRAND_INFO (page 2:366): the name of the processor, in 128 bytes that a zero ends; its length."""
    if call.first != 0:
        return INVALID
    name = pal.processor.brand.encode()[: BRAND_BYTES - 1]
    return to_buffer(call.second, name.ljust(BRAND_BYTES, b"\0"), (len(name),))
