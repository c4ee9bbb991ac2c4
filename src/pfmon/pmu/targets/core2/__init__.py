"""Core 2's PMU: Intel architectural performance monitoring, version 2 (Intel SDM volume 3, section 30.2.2), with the
processor's own events that perf's names stand for.
"""

from __future__ import annotations

from pfmon.pmu.target import LastBranchRegisters
from pfmon.pmu.targets.intel_v2 import TARGET as INTEL_V2

TARGET = INTEL_V2._replace(
    name="core2",
    description="Core 2, Intel architectural performance monitoring, version 2, and events of its caches and TLBs",
    generation=3,
    default_of=(),
    tables=INTEL_V2.name,
    features=(*INTEL_V2.features, "last_branches"),
    last_branches=LastBranchRegisters(4, 0x40, 0x60, has_select=False, has_predictions=False),
)
