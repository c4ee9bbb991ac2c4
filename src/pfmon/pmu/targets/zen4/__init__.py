"""Zen 4's PMU: AMD's core performance counters with PerfMonV2 (AMD APM volume 2, section 13.2; PPR of Family 19h Model
11h, section 2.1.14), last branch records, and the published events of the core."""

from __future__ import annotations

from pfmon.pmu.registers.amd_file import LAST_BRANCH_FROM, LAST_BRANCH_TO, LAST_BRANCHES
from pfmon.pmu.target import LastBranchRegisters
from pfmon.pmu.targets.zen3 import SELECTS
from pfmon.pmu.targets.zen3 import TARGET as ZEN3

LBR = "AMD APM volume 2 section 13.1.1.9"

TARGET = ZEN3._replace(
    name="zen4",
    description="Zen 4, AMD's core performance counters, PerfMonV2: six general counters of 48 bits, "
    "instruction-based sampling and 16 last branch records",
    generation=10,
    machines={"x86_64": "zen4", "i386": "zen4"},
    programmer="pfmon.pmu.model.amd.AmdV2Programmer",
    top_down=True,
    features=(*ZEN3.features, "last_branches"),
    last_branches=LastBranchRegisters(
        LAST_BRANCHES,
        LAST_BRANCH_FROM,
        LAST_BRANCH_TO,
        enable=("dbg_extn_cfg", "lbrv2_en"),
        select="lbr_select",
        stride=2,
        shifts=True,
    ),
    citations={
        **ZEN3.citations,
        "branch_filters_record_something": LBR,
        "call_stack_mode_records_calls_alone": LBR,
        "call_stack_mode_must_exist": LBR,
        "counters_count_known_events": SELECTS,
    },
)
