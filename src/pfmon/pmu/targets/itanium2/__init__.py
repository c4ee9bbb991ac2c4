"""Itanium 2 (McKinley, Madison)."""

from __future__ import annotations

from pfmon.pmu.target import BranchRegisters, CaptureUnits, EarRegisters, Matchers, Target

RANGES, FILTERS = "pfmon on Itanium 2, section 8.2", "pfmon on Itanium 2, section 8.4"
MATCHING = "pfmon on Itanium 2, section 4.5"

CAPTURES = CaptureUnits(
    data=EarRegisters(
        configuration="pmc11",
        data=(2, 3, 17),
        fields={
            "address": "pmd2.daddr",
            "latency": "pmd3.latency",
            "overflow": "pmd3.ov",
            "level": "pmd3.stat",
            "valid": "pmd3.stat",
            "bundle": "pmd17.iaddr",
            "slot": "pmd17.slot",
            "second_bundle": "pmd17.bn",
            "has_instruction": "pmd17.vl",
        },
        levels=("", "L2DTLB", "VHPT", "FAULT"),
        level_bit=0,
    ),
    instruction=EarRegisters(
        configuration="pmc10",
        data=(0, 1),
        fields={
            "line": "pmd0.iaddr",
            "valid": "pmd0.stat",
            "level": "pmd0.stat",
            "latency": "pmd1.latency",
            "overflow": "pmd1.ov",
        },
        levels=("", "L2TLB", "VHPT", "FAULT"),
        level_bit=1,
    ),
    branches=BranchRegisters(
        option="btb",
        configuration="pmc12",
        data=tuple(range(8, 17)),
        entries=tuple(range(8, 16)),
        source="b",
        index_register=16,
        next_entry="bbi",
        extensions="pmd16",
    ),
    windows=True,
    needs_empty_buffer=("tlb", "alat"),
)

TARGET = Target(
    name="itanium2",
    description="Itanium 2 (McKinley, Madison): four counters of 47 bits, event sets",
    architecture="ia64",
    generation=2,
    machines={"ia64": "itanium2", "i386": "itanium2_ia32"},
    default_of=("ia64",),
    default_events=("CPU_CYCLES", "IA64_INST_RETIRED"),
    counters=(4, 5, 6, 7),
    width=47,
    counter_source="Itanium 2 manual, event sets",
    programmer="pfmon.pmu.targets.itanium2.programmer.Itanium2Programmer",
    features=(
        *("irange", "drange", "opcodes", "iear", "dear", "branch_buffer"),
        "privileged monitors (--system-wide)",
    ),
    range_filters=("inverse",),
    matchers=Matchers((8, 9), 27),
    captures=CAPTURES,
    citations={
        "event_must_support_instruction_ranges": RANGES,
        "event_must_support_data_ranges": RANGES,
        "event_must_support_opcode_matching": MATCHING,
        "range_filters_exist": FILTERS,
        "fine_mode_has_two_ranges": RANGES,
        "one_range_unless_retired_instructions_only": RANGES,
        "ibr_pairs_in_use_have_their_event": RANGES,
        "qualifications_bear_on_some_event": MATCHING,
        "inversion_is_of_tag_channel_0": FILTERS,
        "events_agree_on_an_address_register": "pfmon on Itanium 2, section 5",
        "data_ear_excludes_branch_buffer": "Itanium 2 manual, performance monitor state",
    },
    perf_mon_info=(0x08, 0x12, 47, 4, 0xFFFF, 0x3FFFF, 0xF0, 0xF0),
)
