"""Sampling modules: the outputs of samples. A new one is added to MODULES."""

from __future__ import annotations

from pfmon.report.sampling.btb_hist import BtbHist
from pfmon.report.sampling.compact import Compact
from pfmon.report.sampling.dear_hist import DearHist
from pfmon.report.sampling.detailed import Detailed
from pfmon.report.sampling.inst_hist import InstHist
from pfmon.report.sampling.raw import Raw
from pfmon.report.sampling.sampling_module import SamplingModule

MODULES: dict[str, type[SamplingModule]] = {
    "detailed-ia64": Detailed,
    "default": Detailed,
    "compact": Compact,
    "raw": Raw,
    "inst-hist": InstHist,
    "dear-hist": DearHist,
    "btb-hist": BtbHist,
}
"""By the name in --smpl-module; the first one is the default."""
