"""Intel architectural performance monitoring, version 1 (Intel SDM volume 3, section 30.2.1)."""

from __future__ import annotations

from pfmon.pmu.target import Target

TARGET = Target(
    name="intel_v1",
    description="Intel architectural performance monitoring, version 1: two counters of 40 bits",
    architecture="x86",
    generation=1,
    machines={"x86_64": "core2", "i386": "core2"},
    default_events=("cycles", "instructions"),
    counters=(0, 1),
    width=40,
    counter_source="Intel SDM volume 3 section 30.2.1.1",
    programmer="pfmon.pmu.model.intel.IntelProgrammer",
    features=("controls",),
    event_options=("edge", "invert"),
)
