"""Ice Lake's PMU: Intel architectural performance monitoring, version 5 (Intel SDM volume 3, sections 18.2.5 and
18.3.9), with the published events of a client processor's core."""

from __future__ import annotations

from pfmon.pmu.target import LastBranchRegisters, Target

TARGET = Target(
    name="icelake",
    description="Ice Lake, Intel architectural performance monitoring, version 5: eight general and four "
    "fixed-function counters",
    architecture="x86",
    generation=8,
    machines={"x86_64": "icelake", "i386": "icelake"},
    default_events=("cycles", "instructions"),
    counters=(*range(8), 32, 33, 34, 35),
    width=48,
    counter_source="Intel SDM volume 3 section 18.2.5",
    programmer="pfmon.pmu.model.intel.IntelV5Programmer",
    features=("controls", "last_branches"),
    event_options=("edge", "invert"),
    last_branches=LastBranchRegisters(32, 0x680, 0x6C0, 0xDC0, has_call_stack=True),
    load_latency=(0xCD, 0x01),
    top_down=True,
)
