"""Itanium (Merced)."""

from __future__ import annotations

from pfmon.pmu.target import BranchRegisters, CaptureUnits, EarRegisters, Matchers, Target

TAGGING, LEVELS = "Itanium manual section 6.1.3.1", "Itanium manual section 6.1.3.2"
MONITORS = "Itanium manual section 6.2"

CAPTURES = CaptureUnits(
    data=EarRegisters(
        configuration="pmc11",
        data=(2, 3, 17),
        fields={
            "address": "pmd2.daddr",
            "latency": "pmd3.latency",
            "level": "pmd3.level",
            "valid": "pmd17.v",
            "bundle": "pmd17.iaddr",
            "slot": "pmd17.slot",
            "has_instruction": "pmd17.v",
        },
        levels=("", "L2", "VHPT", "SW"),
        level_bit=0,
    ),
    instruction=EarRegisters(
        configuration="pmc10",
        data=(0, 1),
        fields={"line": "pmd0.iaddr", "valid": "pmd0.v", "level": "pmd0.tlb", "latency": "pmd1.latency"},
        levels=("VHPT", "SW"),
        level_bit=0,
    ),
    branches=BranchRegisters(
        option="btb",
        configuration="pmc12",
        data=tuple(range(8, 17)),
        entries=tuple(range(8, 16)),
        source="b",
        index_register=16,
        next_entry="bbi",
    ),
    windows=False,
)

TARGET = Target(
    name="itanium",
    description="Itanium (Merced): four counters of 32 bits",
    architecture="ia64",
    generation=1,
    machines={"ia64": "itanium", "i386": "itanium_ia32"},
    default_events=("CPU_CYCLES", "IA64_INST_RETIRED"),
    counters=(4, 5, 6, 7),
    width=32,
    counter_source=MONITORS,
    programmer="pfmon.pmu.targets.itanium.programmer.ItaniumProgrammer",
    features=(
        *("irange", "drange", "opcodes", "iear", "dear", "branch_buffer"),
        "privileged monitors (--system-wide)",
    ),
    matchers=Matchers((8, 9), 27),
    captures=CAPTURES,
    citations={
        "event_must_support_instruction_ranges": "Itanium manual section 6.2.4",
        "event_must_support_data_ranges": "Itanium manual section 6.2.6",
        "event_must_support_opcode_matching": "Itanium manual section 6.2.5",
        "range_allows_default_plm_only": LEVELS,
        "range_filters_exist": "Itanium manual section 6.2.4",
        "qualifications_bear_on_some_event": TAGGING,
        "events_agree_on_an_address_register": MONITORS,
        "branch_filters_of_a_kind_exclude_each_other": MONITORS,
        "ia32_only_excludes_ia64_features": TAGGING,
    },
    perf_mon_info=(0x08, 0x12, 32, 4, 0x3FFF, 0x3FFFF, 0xF0, 0x30),
)
