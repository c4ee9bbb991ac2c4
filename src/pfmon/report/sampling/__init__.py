"""Sampling modules: what becomes of samples. A new one is added to MODULES."""

from __future__ import annotations

from pfmon.report.sampling.compact import Compact
from pfmon.report.sampling.detailed import Detailed
from pfmon.report.sampling.inst_hist import InstHist

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.report.sampling.module import SamplingModule

MODULES: dict[str, type[SamplingModule]] = {
    "detailed-ia64": Detailed,
    "compact": Compact,
    "inst-hist": InstHist,
}
"""By the name that --smpl-module takes; the first one is the default."""
