"""PAL's procedures about caches (volume 2, 11.10.3)."""

from __future__ import annotations

from pfmon.engine.ia64.system.firmware.pal_call import ALL_ONES, INVALID, Pal, PalCall, PalResult
from pfmon.engine.system_settings import CacheDescription

INSTRUCTION, DATA = 1, 2
"""cache_type: of an instruction cache; of a data or a unified one."""
WRITE_BACK = 1
LOAD_HINTS, STORE_HINTS = 0b1011, 0b1001
"""Temporal at level 1, non-temporal at level 1, non-temporal at all levels; stores have no second one."""
UNDEFINED_LATENCY = 0xFF


def _log2(number: int) -> int:
    return number.bit_length() - 1


def cache_of(pal: Pal, level: int, kind: int) -> CacheDescription | None:
    """The cache of a level and cache_type; None: there is none, or no such type."""
    kinds = {INSTRUCTION: ("instruction",), DATA: ("data", "unified")}.get(kind, ())
    return next((one for one in pal.processor.caches if one.level == level and one.kind in kinds), None)


def cache_flush(pal: Pal, call: PalCall) -> PalResult:
    """PAL_CACHE_FLUSH: done at once, without an interrupt, so that there is no progress to go on from. Cache_type is 1
    for caches that hold instructions, 2 data, 3 any, 4 for those of instructions alone, which become coherent with
    data; bit 0 of the operation says that lines become invalid, bit 1 that interrupts are polled for."""
    if not (1 <= call.first <= 4 and call.second <= 3):
        return INVALID
    pal.host.flush_caches(call.first, bool(call.second & 1))
    return PalResult(0, (0, 0))


def cache_info(pal: Pal, call: PalCall) -> PalResult:
    """PAL_CACHE_INFO (page 2:374): config_info_1 has unified in bit 0, the attribute in 2:1, ways in 15:8, and the
    logarithms of line and stride in 23:16 and 31:24, latencies of stores and loads in 39:32 and 47:40, hints behind
    them; config_info_2 the size in 31:0, the least and the most significant bit of the tag in 47:40 and 55:48."""
    cache = cache_of(pal, call.first, call.second)
    if cache is None:
        return INVALID
    is_data = cache.kind != "instruction"
    line = _log2(cache.line)
    hints = STORE_HINTS << 48 | LOAD_HINTS << 56 if is_data else 0
    first = (
        (cache.kind == "unified")
        | (WRITE_BACK if cache.write_back else 0) << 1
        | cache.ways << 8
        | line << 16
        | line << 24
        | UNDEFINED_LATENCY << 32
        | cache.latency << 40
        | hints
    )
    tag = _log2(cache.size // cache.ways)
    return PalResult(0, (first, cache.size | tag << 40 | pal.sizes.physical_bits - 1 << 48))


def cache_init(pal: Pal, call: PalCall) -> PalResult:
    """PAL_CACHE_INIT: caches are initialized; the level may be all ones, for all of them."""
    levels = {one.level for one in pal.processor.caches}
    return PalResult() if (call.first in levels or call.first == ALL_ONES) and 1 <= call.second <= 3 else INVALID


def cache_prot_info(pal: Pal, call: PalCall) -> PalResult:
    """PAL_CACHE_PROT_INFO: no part of a line is protected against errors, of which there are none."""
    return INVALID if cache_of(pal, call.first, call.second) is None else PalResult(0, (0, 0, 0))


def cache_shared_info(pal: Pal, call: PalCall) -> PalResult:
    """PAL_CACHE_SHARED_INFO: one logical processor has each cache, thread 0 of core 0 at address 0."""
    return INVALID if cache_of(pal, call.first, call.second) is None or call.third else PalResult(0, (1, 0, 0))


def cache_summary(pal: Pal, _: PalCall) -> PalResult:
    """PAL_CACHE_SUMMARY: how many levels there are, and how many caches."""
    caches = pal.processor.caches
    return PalResult(0, (len({one.level for one in caches}), len(caches)))


def prefetch_visibility(_: Pal, call: PalCall) -> PalResult:
    """PAL_PREFETCH_VISIBILITY: done, and 1, since no other processor needs the call."""
    return PalResult(1) if call.first <= 1 else INVALID
