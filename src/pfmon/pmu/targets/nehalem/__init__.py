"""Nehalem's PMU: Intel architectural performance monitoring, version 3 (Intel SDM volume 3, sections 30.2.3 and
30.6.1), with the processor's own events that perf's names stand for.
"""

from __future__ import annotations

from pfmon.pmu.target import LastBranchRegisters, Target

TARGET = Target(
    name="nehalem",
    description="Nehalem, Intel architectural performance monitoring, version 3: four general and three fixed-function "
    "counters",
    architecture="x86",
    generation=4,
    machines={"x86_64": "nehalem", "i386": "nehalem"},
    default_events=("cycles", "instructions"),
    counters=(0, 1, 2, 3, 32, 33, 34),
    width=48,
    counter_source="Intel SDM volume 3 section 30.6.1",
    programmer="pfmon.pmu.model.intel.IntelProgrammer",
    features=("controls", "last_branches"),
    event_options=("edge", "invert"),
    last_branches=LastBranchRegisters(16, 0x680, 0x6C0),
    load_latency=(0x0B, 0x10),
)
