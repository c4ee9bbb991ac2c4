"""PAL_PERF_MON_INFO: firmware's description of the performance monitors (Montecito manual table 3-34)."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.errors import PfmonError


class PerfMonInfo(NamedTuple):
    """Event codes, counter width and pairs, and four masks of 256 bits of register numbers."""

    retired: int
    cycles: int
    width: int
    pairs: int
    pmc_mask: int
    pmd_mask: int
    cycles_mask: int
    retired_mask: int

    @property
    def pm_info(self) -> int:
        """The return value of the call: pairs in bits 7:0, width 15:8, cycles 23:16, retired 31:24.

        IA-64 manual volume 2, section 11.10.3, PAL_PERF_MON_INFO.
        """
        return self.pairs | self.width << 8 | self.cycles << 16 | self.retired << 24

    @property
    def buffer(self) -> bytes:
        """The 128 bytes that the call writes: the four masks, each 32 bytes, little-endian."""
        masks = (self.pmc_mask, self.pmd_mask, self.cycles_mask, self.retired_mask)
        return b"".join(mask.to_bytes(32, "little") for mask in masks)


INFO = {
    "itanium": PerfMonInfo(0x08, 0x12, 32, 4, 0x3FFF, 0x3FFFF, 0xF0, 0x30),
    "itanium2": PerfMonInfo(0x08, 0x12, 47, 4, 0xFFFF, 0x3FFFF, 0xF0, 0xF0),
    # The values of the manual's table, although the processor has more registers.
    "montecito": PerfMonInfo(0x08, 0x12, 48, 4, 0x3FFF, 0x3FFFF, 0xF0, 0xF0),
}


def perf_mon_info(pmu: str) -> PerfMonInfo:
    """Return the result of PAL_PERF_MON_INFO on a processor."""
    if pmu not in INFO:
        raise PfmonError(f"PAL_PERF_MON_INFO is a call of IA-64 firmware: {pmu!r} has none")
    return INFO[pmu]
