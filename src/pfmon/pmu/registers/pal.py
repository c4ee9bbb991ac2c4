"""PAL_PERF_MON_INFO: firmware's description of the performance monitors (Montecito manual table 3-34)."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.errors import PfmonError
from pfmon.pmu.targets import named


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


def perf_mon_info(pmu: str) -> PerfMonInfo:
    """Return the result of PAL_PERF_MON_INFO on a processor. PfmonError: it has no PAL firmware."""
    info = named(pmu).perf_mon_info
    if not info:
        raise PfmonError(f"PAL_PERF_MON_INFO is a call of IA-64 firmware: {pmu!r} has none")
    return PerfMonInfo(*info)
