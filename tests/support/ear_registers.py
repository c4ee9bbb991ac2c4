"""What event address registers hold, by bit positions from the manuals' tables (Montecito manual tables 3-17 to 3-25;
perfmon_itanium.h and perfmon_mckinley.h of Linux)."""

from collections.abc import Mapping
from typing import NamedTuple


class Load(NamedTuple):
    """A data EAR: address of the data; bundle | slot of the instruction, None if it is not valid; latency in cycles,
    whether its counter overflowed; the status bits (Itanium: of the TLB)."""

    data: int
    instruction: int | None
    latency: int
    overflow: bool
    status: int


class Fetch(NamedTuple):
    """An instruction EAR: the line, the latency and whether its counter overflowed, the status bits."""

    line: int
    latency: int
    overflow: bool
    status: int


def data_ear(pmu: str, pmds: Mapping[int, int]) -> Load:
    if pmu == "itanium":
        place = pmds[17]
        instruction = (place & ~15) | (place >> 2 & 3) if place & 1 else None
        return Load(pmds[2], instruction, pmds[3] & 0xFFF, False, pmds[3] >> 62)
    data, time, place = (pmds[n] for n in ((2, 3, 17) if pmu == "itanium2" else (32, 33, 36)))
    instruction = (place & ~15) + 16 * (place >> 2 & 1) | (place & 3) if place & 8 else None
    return Load(data, instruction, time & 0x1FFF, bool(time >> 13 & 1), time >> 14 & 3)


def instruction_ear(pmu: str, pmds: Mapping[int, int]) -> Fetch:
    line, time = (pmds[n] for n in ((34, 35) if pmu == "montecito" else (0, 1)))
    overflow = pmu != "itanium" and bool(time >> 12 & 1)
    return Fetch(line & ~31, time & 0xFFF, overflow, line & 3)
