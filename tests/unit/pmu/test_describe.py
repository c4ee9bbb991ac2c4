"""The texts against the examples on pfmon's page for Itanium 2 (sections 3, 4, 5 and 8)."""

import re

import pytest
from grids import each

from pfmon import pmu
from pfmon.errors import PfmonError
from pfmon.pmu.model.describe import event_info, event_list, event_table, pmu_info, programming_text, range_text
from pfmon.pmu.model.request import RangeRequest
from pfmon.pmu.qualify.breakpoint_ranges import checkpoint_range
from pfmon.pmu.qualify.opcodes import parse_opcode_match

ITANIUM2 = pmu.get("itanium2")

NOPS = """\
Name   : NOPS_RETIRED
VCode  : 0x50
Code   : 0x50
PMD/PMC: [ 4 5 6 7 ]
Umask  : 0000
EAR    : No (N/A)
BTB    : No
MaxIncr: 6  (Threshold [0-5])
Qual   : [Instruction Address Range] [OpCode Match]
Group  : None
Set    : None
"""
CYCLES = """\
Name   : CPU_CYCLES
VCode  : 0x12
Code   : 0x12
PMD/PMC: [ 4 5 6 7 ]
Umask  : 0000
EAR    : No (N/A)
BTB    : No
MaxIncr: 1  (Threshold 0)
Qual   : None
Group  : None
Set    : None
"""
EAR = """\
Name   : DATA_EAR_CACHE_LAT64
VCode  : 0x405c8
Code   : 0xc8
PMD/PMC: [ 4 5 6 7 ]
Umask  : 0100
EAR    : Data (Cache Mode)
BTB    : No
MaxIncr: 1  (Threshold 0)
Qual   : [Instruction Address Range] [OpCode Match] [Data Address Range]
Group  : None
Set    : None
"""
EAR_EVENTS = """\
DATA_EAR_ALAT
DATA_EAR_CACHE_LAT1024
DATA_EAR_CACHE_LAT128
DATA_EAR_CACHE_LAT16
DATA_EAR_CACHE_LAT2048
DATA_EAR_CACHE_LAT256
DATA_EAR_CACHE_LAT32
DATA_EAR_CACHE_LAT4
DATA_EAR_CACHE_LAT4096
DATA_EAR_CACHE_LAT512
DATA_EAR_CACHE_LAT64
DATA_EAR_CACHE_LAT8
DATA_EAR_EVENTS
DATA_EAR_TLB_ALL
DATA_EAR_TLB_FAULT
DATA_EAR_TLB_L2DTLB
DATA_EAR_TLB_L2DTLB_OR_FAULT
DATA_EAR_TLB_L2DTLB_OR_VHPT
DATA_EAR_TLB_VHPT
DATA_EAR_TLB_VHPT_OR_FAULT
L1I_EAR_CACHE_LAT0
L1I_EAR_CACHE_LAT1024
L1I_EAR_CACHE_LAT128
L1I_EAR_CACHE_LAT16
L1I_EAR_CACHE_LAT256
L1I_EAR_CACHE_LAT32
L1I_EAR_CACHE_LAT4
L1I_EAR_CACHE_LAT4096
L1I_EAR_CACHE_LAT8
L1I_EAR_CACHE_RAB
L1I_EAR_EVENTS
L1I_EAR_TLB_ALL
L1I_EAR_TLB_FAULT
L1I_EAR_TLB_L2TLB
L1I_EAR_TLB_L2TLB_OR_FAULT
L1I_EAR_TLB_L2TLB_OR_VHPT
L1I_EAR_TLB_VHPT
L1I_EAR_TLB_VHPT_OR_FAULT"""


@pytest.mark.parametrize(
    ("name", "text"), [("nops_retired", NOPS), ("cpu_cycles", CYCLES), ("DATA_EAR_CACHE_LAT64", EAR)]
)
def test_event_information_has_the_lines_of_pfmon(name: str, text: str) -> None:
    assert event_info(ITANIUM2, name).startswith(text)


def test_event_information_says_fidelity_formula_and_reason() -> None:
    assert "Fidelity: exact" in event_info(ITANIUM2, "LOADS_RETIRED")
    assert "Fidelity: unmodelled (when the L2 cache probes" in event_info(ITANIUM2, "L2_SYNTH_PROBE")
    assert "Zero   : always; nothing drives the external pins" in event_info(ITANIUM2, "EXTERN_DP_PINS_4_TO_5_ALL")
    assert "Formula: IA64_INST_RETIRED / CPU_CYCLES" in event_info(ITANIUM2, "ia64_ipc")


def test_event_information_takes_codes_and_regular_expressions() -> None:
    assert "Name   : NOPS_RETIRED" in event_info(ITANIUM2, "0x50")
    assert "Name   : L3_READS_ALL_HIT" in event_info(ITANIUM2, "0xd00dd")
    assert event_info(ITANIUM2, "l3_reads").count("Name   : L3_READS") == 12
    with pytest.raises(PfmonError, match="unknown itanium2 event"):
        event_info(ITANIUM2, "0xff")
    with pytest.raises(PfmonError, match="bad event code"):
        event_info(ITANIUM2, "0xzz")
    with pytest.raises(PfmonError, match="bad regular expression"):
        event_info(ITANIUM2, "L3_(")


def test_listing_by_regular_expression_is_that_of_pfmon() -> None:
    assert event_list(ITANIUM2, "_ear_") == EAR_EVENTS


def test_tables_and_summary_name_every_event() -> None:
    for name in pmu.names():
        model = pmu.get(name)
        own = {event.name for event in model.events}
        assert {name for name in event_list(model).splitlines() if name in own} == own
        assert ("IA64_IPC" in event_table(model)) == (name in pmu.IA64)
        for event in model.events:
            assert f"Name   : {event.name}\n" in event_info(model, event.name)
        assert f"{model.bank.width} bits" in pmu_info(model)


RANGES = [
    # --irange=0x1000-0x1590 (section 8.2)
    (
        "irange",
        (0x1000, 0x1590),
        "u",
        "ia64_inst_retired",
        """\
[0x1000-0x1590): 2 register pair(s), fine_mode
start offset: -0x0 end_offset: +0x10
brp0:  db0: 0x0000000000001000 db1: plm=0x8 mask=0x00000000fffff000
brp2:  db4: 0x0000000000001590 db5: plm=0x8 mask=0x00000000fffff000""",
    ),
    # --irange=main (section 8.3)
    (
        "irange",
        (0x40000000000004C0, 0x4000000000000690),
        "u",
        "loads_retired",
        """\
[0x40000000000004c0-0x4000000000000690): 2 register pair(s), fine_mode
start offset: -0x0 end_offset: +0x10
brp0:  db0: 0x40000000000004c0 db1: plm=0x8 mask=0x00fffffffffff000
brp2:  db4: 0x4000000000000690 db5: plm=0x8 mask=0x00fffffffffff000""",
    ),
    # --irange=doit and --drange=B (section 8.5)
    (
        "irange",
        (0x4000000000003000, 0x40000000000030D0),
        "u",
        "loads_retired",
        """\
[0x4000000000003000-0x40000000000030d0): 2 register pair(s), fine_mode
start offset: -0x0 end_offset: +0x10
brp0:  db0: 0x4000000000003000 db1: plm=0x8 mask=0x00fffffffffff000
brp2:  db4: 0x40000000000030d0 db5: plm=0x8 mask=0x00fffffffffff000""",
    ),
    (
        "drange",
        (0x600000000001C000, 0x6000000000024000),
        "u",
        "loads_retired",
        """\
[0x600000000001c000-0x6000000000024000): 2 register pair(s)
start offset: -0x0 end_offset: +0x0
brp0:  db0: 0x6000000000020000 db1: plm=0x8 mask=0x00ffffffffffc000 end=0x6000000000023fff
brp1:  db2: 0x600000000001c000 db3: plm=0x8 mask=0x00ffffffffffc000 end=0x600000000001ffff""",
    ),
    # --drange=b (section 8.5)
    (
        "drange",
        (0x6000000000001800, 0x6000000000003800),
        "u",
        "loads_retired",
        """\
[0x6000000000001800-0x6000000000003800): 3 register pair(s)
start offset: -0x0 end_offset: +0x0
brp0:  db0: 0x6000000000002000 db1: plm=0x8 mask=0x00fffffffffff000 end=0x6000000000002fff
brp1:  db2: 0x6000000000001800 db3: plm=0x8 mask=0x00fffffffffff800 end=0x6000000000001fff
brp2:  db4: 0x6000000000003000 db5: plm=0x8 mask=0x00fffffffffff800 end=0x60000000000037ff""",
    ),
]


@pytest.mark.parametrize(("kind", "limits", "plm", "event", "text"), RANGES)
def test_ranges_print_as_on_the_page(kind: str, limits: tuple[int, int], plm: str, event: str, text: str) -> None:
    ranges = RangeRequest((limits,))
    made = (
        ITANIUM2.program([event], plm=plm, irange=ranges)
        if kind == "irange"
        else ITANIUM2.program([event], plm=plm, drange=ranges)
    )
    programmed = made.irange or made.drange
    assert programmed
    assert range_text(programmed) == text
    assert programming_text(made).endswith(text)


def test_checkpoint_prints_as_on_the_page() -> None:
    made = ITANIUM2.program(["ia64_inst_retired"], plm="k", irange=checkpoint_range(0xA00000010011F7C0))
    assert made.irange
    assert (
        range_text(made.irange)
        == """\
[0xa00000010011f7c0-0xa00000010011f7d0): 1 register pair(s)
start offset: -0x0 end_offset: +0x0
brp0:  db0: 0xa00000010011f7c0 db1: plm=0x1 mask=0x00fffffffffffff0 end=0xa00000010011f7cf"""
    )


def test_opcode_match_of_the_page_selects_br_cloop() -> None:
    matcher = parse_opcode_match(":0x2000140:0x7ffe3f", 27)
    made = ITANIUM2.program(["IA64_TAGGED_INST_RETIRED_IBRP0_PMC8"], opcodes=(matcher, None))
    fields = ITANIUM2.registers["pmc8"].decode(made.writes["pmc8"])
    assert (fields["match"], fields["mask"]) == (0x2000140, 0x7FFE3F)
    assert fields["m"] == fields["i"] == fields["f"] == fields["b"] == 1
    cloop = (4 << 37) | (5 << 6)  # B2: opcode 4, btype 5
    squeezed = cloop >> 27 << 13 | cloop & 0x1FFF
    assert not (squeezed ^ fields["match"]) & ~fields["mask"] & (1 << 27) - 1


@each("text", ["1:2", "x:1:2", "m:1:zz", "m:0x8000000:0", ":::", "m::1"])
def test_malformed_opcode_matches_are_refused(text: str) -> None:
    with pytest.raises(PfmonError):
        parse_opcode_match(text, 27)


def test_counters_of_other_families_are_named_with_their_events() -> None:
    intel = pmu.get("intel_v2").program(["INST_RETIRED.ANY", "LLC_MISSES"])
    assert programming_text(intel).splitlines()[-2:] == ["IA32_FIXED_CTR0 INST_RETIRED.ANY", "IA32_PMC0 LLC_MISSES"]
    powerpc = pmu.get("ppc604e").program(["BPU_RESULTS"])
    assert programming_text(powerpc).splitlines()[-1] == "PMC2 BPU_RESULTS"


@pytest.mark.slow
def test_printed_fields_are_those_of_the_register() -> None:
    for name in pmu.IA64:
        model = pmu.get(name)
        for event in model.events:
            if event.mesi:
                continue
            made = model.program([event.name])
            fields = model.registers[f"pmc{made.counters[0]}"].decode(made.writes[f"pmc{made.counters[0]}"])
            shown = dict(re.findall(r"(\w+)=(\w+)", programming_text(made).splitlines()[0]))
            for field, short in (("plm", "plm"), ("pm", "pm"), ("oi", "oi"), ("ism", "ism"), ("umask", "umask")):
                assert int(shown[short], 0) == fields[field], (event.name, field)
            assert int(shown["thres"], 0) == fields["threshold"]
