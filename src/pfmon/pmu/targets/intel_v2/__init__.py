"""Intel architectural performance monitoring, version 2 (Intel SDM volume 3, section 30.2.2)."""

from __future__ import annotations

from pfmon.pmu.target import Target

TARGET = Target(
    name="intel_v2",
    description="Intel architectural performance monitoring, version 2: two general and three fixed-function counters",
    architecture="x86",
    generation=2,
    machines={"x86_64": "core2", "i386": "core2"},
    default_of=("i386",),
    default_events=("cycles", "instructions"),
    counters=(0, 1, 32, 33, 34),
    width=40,
    counter_source="Intel SDM volume 3 section 30.2.2",
    programmer="pfmon.pmu.model.intel.IntelProgrammer",
    features=("controls",),
    event_options=("edge", "invert"),
)
