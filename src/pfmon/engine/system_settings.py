"""A whole system that an image runs on (`--system`): memory, devices, and what its firmware says of the processor."""

from __future__ import annotations

from typing import NamedTuple


class CacheDescription(NamedTuple):
    """One cache. ``level``: from 0 on; ``kind``: instruction, data or unified; ``size``, ``line``: bytes; ``latency``:
    cycles of a load; ``write_back``: else stores are written through it."""

    level: int
    kind: str
    size: int
    line: int
    ways: int
    latency: int
    write_back: bool


class TlbDescription(NamedTuple):
    """One translation cache. ``level``: from 0 on; ``kind``: instruction or data."""

    level: int
    kind: str
    entries: int
    ways: int


class PmuDescription(NamedTuple):
    """The performance monitors that the system may program. ``pm_info``: pairs, width, and the events of cycles and
    instructions; ``masks``: PMCs, PMDs, counters of cycles, counters of instructions, 256 bits each (PAL_PERF_MON_INFO,
    volume 2, 11.10.3)."""

    pm_info: int
    masks: bytes


NO_PMU = PmuDescription(0, bytes(128))
"""The performance monitors belong to pfmon: the system sees none."""


class ProcessorDescription(NamedTuple):
    """The modelled processor. ``brand``: its name; ``frequency``, ``bus_frequency``: MHz; ``shares_core``: a core has
    several hardware threads."""

    brand: str
    frequency: int
    bus_frequency: int
    caches: tuple[CacheDescription, ...]
    tlbs: tuple[TlbDescription, ...]
    shares_core: bool
    pmu: PmuDescription = NO_PMU


INSTRUCTIONS, CYCLES = "instructions", "cycles"


class SystemSettings(NamedTuple):
    """``memory``: bytes of physical memory, from address 0 on; ``uart``: physical address of the serial port, None:
    there is none; ``guest_pmu``: the system programs the performance monitors; ``itc``: what the interval timer counts,
    INSTRUCTIONS or the machine's CYCLES."""

    memory: int
    uart: int | None
    processor: ProcessorDescription
    guest_pmu: bool = False
    itc: str = INSTRUCTIONS
