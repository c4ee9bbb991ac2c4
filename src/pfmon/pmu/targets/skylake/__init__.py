"""Skylake's PMU: Intel architectural performance monitoring, version 4 (Intel SDM volume 3, sections 18.2.4 and 18.13),
with the published events of a client processor's core."""

from __future__ import annotations

from pfmon.pmu.target import LastBranchRegisters, Target

TARGET = Target(
    name="skylake",
    description="Skylake, Intel architectural performance monitoring, version 4: four general and three fixed-function "
    "counters, with hyper-threading",
    architecture="x86",
    generation=6,
    machines={"x86_64": "skylake", "i386": "skylake"},
    default_of=("x86_64",),
    default_events=("cycles", "instructions"),
    counters=(0, 1, 2, 3, 32, 33, 34),
    width=48,
    counter_source="Intel SDM volume 3 section 18.2.4",
    programmer="pfmon.pmu.model.intel.IntelV4Programmer",
    features=("controls", "last_branches"),
    event_options=("edge", "invert"),
    last_branches=LastBranchRegisters(32, 0x680, 0x6C0, 0xDC0, has_call_stack=True),
    load_latency=(0xCD, 0x01),
    top_down=True,
)
