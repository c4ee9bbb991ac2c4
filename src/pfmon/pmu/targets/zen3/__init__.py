"""Zen 3's PMU: AMD's core performance counters (AMD APM volume 2, section 13.2; PPR of Family 19h Model 21h, section
2.1.17), with the published events of the core."""

from __future__ import annotations

from pfmon.pmu.registers.amd_file import FETCH_SAMPLING, OP_SAMPLING
from pfmon.pmu.target import Target

SELECTS = "AMD APM volume 2 section 13.2.1"

TARGET = Target(
    name="zen3",
    description="Zen 3, AMD's core performance counters: six general counters of 48 bits, "
    "and instruction-based sampling",
    architecture="x86",
    generation=9,
    machines={"x86_64": "zen3", "i386": "zen3"},
    default_events=("cycles", "instructions"),
    counters=(*range(6), OP_SAMPLING, FETCH_SAMPLING),
    width=48,
    counter_source=SELECTS,
    programmer="pfmon.pmu.model.amd.AmdProgrammer",
    features=("controls",),
    op_sampling="ibs_op_ctl",
    event_options=("edge", "invert"),
    citations={"invert_needs_a_threshold": SELECTS, "user_levels_go_together": SELECTS},
)
