"""Montecito (Itanium 2, 9000 series)."""

from __future__ import annotations

from pfmon.pmu.target import BranchRegisters, CaptureUnits, EarRegisters, Matchers, Target

# Montecito manual tables 3-17, 3-19, 3-22, 3-24, 3-25 and section 3.3.10.
CAPTURES = CaptureUnits(
    data=EarRegisters(
        configuration="pmc40",
        data=(32, 33, 36),
        fields={
            "address": "pmd32.daddr",
            "latency": "pmd33.latency",
            "overflow": "pmd33.ov",
            "level": "pmd33.stat",
            "valid": "pmd33.stat",
            "bundle": "pmd36.iaddr",
            "slot": "pmd36.slot",
            "second_bundle": "pmd36.bn",
            "has_instruction": "pmd36.vl",
        },
        levels=("", "L2DTLB", "VHPT", "FAULT"),
        level_bit=0,
    ),
    instruction=EarRegisters(
        configuration="pmc37",
        data=(34, 35),
        fields={
            "line": "pmd34.iaddr",
            "valid": "pmd34.stat",
            "level": "pmd34.stat",
            "latency": "pmd35.latency",
            "overflow": "pmd35.ov",
        },
        levels=("", "L2TLB", "VHPT", "FAULT"),
        level_bit=1,
    ),
    branches=BranchRegisters(
        option="etb",
        configuration="pmc39",
        data=(38, 39, *range(48, 64)),
        entries=tuple(range(48, 64)),
        source="s",
        index_register=38,
        next_entry="ebi",
        extensions="pmd39",
        exceptions=True,
    ),
    windows=True,
    needs_empty_buffer=("tlb", "alat"),
    ip_ear="pmc42",
)

TARGET = Target(
    name="montecito",
    description="Montecito: twelve counters of 47 bits, event sets, two hardware threads a core",
    architecture="ia64",
    generation=3,
    machines={"ia64": "montecito"},
    default_events=("CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED"),
    counters=tuple(range(4, 16)),
    width=47,
    counter_source="Montecito manual section 3.3.3",
    programmer="pfmon.pmu.targets.montecito.programmer.MontecitoProgrammer",
    features=(
        *("irange", "drange", "opcodes", "iear", "dear", "branch_buffer"),
        "privileged monitors (--system-wide)",
        "ip_ear",
    ),
    event_options=("mesi", "all_threads"),
    range_filters=("inverse", "demand_fetch", "prefetch_match"),
    matchers=Matchers((32, 34), 41),
    captures=CAPTURES,
    threads=2,
    citations={
        "range_allows_default_plm_only": "Montecito manual section 3.3.5",
        "branch_filters_of_a_kind_exclude_each_other": "Montecito manual section 3.3.10",
    },
    notes={
        "MEMORY_LATENCY": "on Montecito this includes remaining time in the arbiter, so it exceeds Itanium 2's for the "
        "same memory"
    },
    # Table 3-34 of the Montecito manual, although the processor has more registers, and counters of 47 bits.
    perf_mon_info=(0x08, 0x12, 48, 4, 0x3FFF, 0x3FFFF, 0xF0, 0xF0),
)
