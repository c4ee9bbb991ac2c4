"""Sampled ops of AMD's processors: what IBS_OP_DATA2, IBS_OP_DATA3 and IBS_DC_LINADDR say of an op that loads (PPR of
Family 19h Model 21h, section 2.1.13.5)."""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.pmu.capture.data_capture import DataCapture, DataCaptured
from pfmon.pmu.capture.precise_loads import LEVELS, LOCKED, SOURCE, STLB_MISS, PreciseLoads
from pfmon.pmu.target import IBS_DC_LINADDR, IBS_OP_DATA2, IBS_OP_DATA3, IBS_OP_RIP, IBS_RECORD

FROM_L3, FROM_MEMORY = 2, 3
"""DataSrc of IBS_OP_DATA2."""
LOAD_OP, L1_TLB_MISS, L2_TLB_MISS, DC_MISS, LOCKED_OP = 1 << 0, 1 << 2, 1 << 3, 1 << 7, 1 << 15
NO_MAB_ALLOCATED, ADDRESS_VALID, L2_MISS = 1 << 16, 1 << 17, 1 << 20
"""Bits of IBS_OP_DATA3. A load whose line is under way allocates no miss address buffer."""
LATENCY_AT, MOST_LATENCY = 32, 0xFFFF
"""DcMissLat of IBS_OP_DATA3: 16 bits, which saturate."""
DATA3 = {"L1": 0, "LFB": DC_MISS | NO_MAB_ALLOCATED | L2_MISS, "L2": DC_MISS}
DATA3 |= dict.fromkeys(("L3", "RAM"), DC_MISS | L2_MISS)
DATA2 = {"L3": FROM_L3, "RAM": FROM_MEMORY}
"""Bits of IBS_OP_DATA3, and DataSrc of IBS_OP_DATA2, by the level that served the load."""


class SampledOps(PreciseLoads):
    """The registers of a sampled op, as far as they are about a load."""

    mode = "ops"
    registers = IBS_RECORD

    @staticmethod
    def capture(pmds: Mapping[int, int]) -> DataCapture:
        """Decode the registers; an op that is no load has no address."""
        data = pmds.get(IBS_OP_DATA3, 0)
        if not data & LOAD_OP or not data & ADDRESS_VALID:
            return DataCapture(False, None, None, None, False, "")
        latency = data >> LATENCY_AT & MOST_LATENCY
        return DataCapture(True, pmds[IBS_DC_LINADDR], pmds[IBS_OP_RIP], latency, latency == MOST_LATENCY, level(pmds))

    @staticmethod
    def walked(pmds: Mapping[int, int]) -> bool:
        """Return whether the load's translation missed every TLB."""
        return bool(pmds.get(IBS_OP_DATA3, 0) & L2_TLB_MISS)

    @staticmethod
    def locked(pmds: Mapping[int, int]) -> bool:
        """Return whether the access was locked."""
        return bool(pmds.get(IBS_OP_DATA3, 0) & LOCKED_OP)


def level(pmds: Mapping[int, int]) -> str:
    """Return what served a load, by perf's words: as Linux reads the registers (arch/x86/events/amd/ibs.c)."""
    data = pmds[IBS_OP_DATA3]
    if not data & DC_MISS:
        return "L1"
    if not data & L2_MISS:
        return "L2"
    return {FROM_L3: "L3", FROM_MEMORY: "RAM"}.get(pmds[IBS_OP_DATA2] & 7, "LFB")


def sampled_op_values(captured: DataCaptured | None, address: int) -> dict[int, int]:
    """Encode a sampled op at an address; ``captured``: its load, None: it is none."""
    values = dict.fromkeys(IBS_RECORD, 0) | {IBS_OP_RIP: address}
    if captured is None:
        return values
    _, _, data, latency, source = captured
    served = LEVELS[source & SOURCE]
    bits = LOAD_OP | ADDRESS_VALID | DATA3[served]
    bits |= (L1_TLB_MISS | L2_TLB_MISS) * bool(source & STLB_MISS) | LOCKED_OP * bool(source & LOCKED)
    if bits & DC_MISS:
        bits |= min(latency, MOST_LATENCY) << LATENCY_AT
    return values | {IBS_OP_DATA2: DATA2.get(served, 0), IBS_OP_DATA3: bits, IBS_DC_LINADDR: data}


def load_record(pmds: Mapping[int, int]) -> type[PreciseLoads]:
    """Return what decodes the load of a sample with these registers."""
    return SampledOps if IBS_OP_RIP in pmds else PreciseLoads
