"""Core 2's PMU: Intel architectural performance monitoring, version 2 (Intel SDM volume 3, section 30.2.2), with the
processor's own events that perf's names stand for.
"""

from __future__ import annotations

from pfmon.pmu.target import Target

TARGET = Target(
    name="core2",
    description="Core 2, Intel architectural performance monitoring, version 2, and events of its caches and TLBs",
    architecture="x86",
    generation=3,
    machines={"x86_64": "core2", "i386": "core2"},
    default_events=("cycles", "instructions"),
    counters=(0, 1, 32, 33, 34),
    width=40,
    counter_source="Intel SDM volume 3 section 30.2.2",
    programmer="pfmon.pmu.model.intel.IntelProgrammer",
    features=("controls",),
    event_options=("edge", "invert"),
    tables="intel_v2",
)
