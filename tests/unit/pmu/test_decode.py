"""Register values in words, and back."""

import re

import pytest
from grids import each
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.errors import PfmonError
from pfmon.pmu import get as pmu_model
from pfmon.pmu.model.request import RangeRequest
from pfmon.pmu.registers.decode import decode_text, parse_registers
from pfmon.pmu.registers.pal import perf_mon_info

MODELS = pmu.IA64


@given(st.data(), st.integers(0, (1 << 64) - 1))
def test_fields_of_a_decoded_value_make_the_value_again(data: st.DataObject, value: int) -> None:
    model = pmu.get(data.draw(st.sampled_from(pmu.names())))
    name = data.draw(st.sampled_from(sorted(model.registers)))
    register = model.registers[name]
    lines = decode_text(model, f"{name}={value:#x}").splitlines()
    made = 0
    for line in lines[1:]:
        if match := re.match(r"\s+(\d+)(?::(\d+))? \w+\s+0x([0-9a-f]+)", line):
            made |= int(match[3], 16) << int(match[2] or match[1])
    named = 0
    for field in register.fields:
        named |= field.mask
    assert made == value & named


def test_counter_configuration_reads_as_the_event_that_was_programmed() -> None:
    for name in MODELS:
        model = pmu.get(name)
        made = model.program(["NOPS_RETIRED"], plm="uk", system_wide=True)
        text = " ".join(f"{register}={value:#x}" for register, value in made.writes.items())
        whole = decode_text(model, f"{text} pmd4=0x2a")
        assert "event code: NOPS_RETIRED" in whole
        assert "PMD4 counts NOPS_RETIRED at kernel, user as a privileged monitor" in whole
        assert whole.splitlines()[-1].endswith("and holds 42")


def test_both_codes_of_l2d_ozq_full_are_read() -> None:
    """Montecito manual, table 4-21."""
    model = pmu.get("montecito")
    for code in (0xE1, 0xE3):
        value = model.registers["pmc4"].encode(es=code, plm=8)
        assert "event code: L2D_OZQ_FULL" in decode_text(model, f"pmc4={value:#x}")


def test_dump_explains_ranges() -> None:
    model = pmu.get("itanium2")
    made = model.program(["LOADS_RETIRED"], drange=RangeRequest(((0x6000, 0x8000),)))
    assert made.drange
    registers = " ".join(f"dbr{index}={value:#x}" for index, value in made.drange.registers)
    assert "data pair 0 matches 0x0000000000006000-0x0000000000007fff at user" in decode_text(model, registers)


def test_overflow_status_names_counters() -> None:
    text = decode_text(pmu.get("montecito"), "pmc0=0x8011")
    assert "overflowed: PMD4, PMD15" in text


def test_bits_that_are_not_kept_are_told() -> None:
    assert "do not keep" in decode_text(pmu.get("montecito"), "pmc38=0")
    assert "do not keep" not in decode_text(pmu.get("montecito"), "pmc38=0xdb6")


ENTRIES = 16  # of the buffer: four bits of PMD39 each
B1_AND_BRUFLUSH = sum(0b11 << 4 * entry for entry in range(ENTRIES))


@pytest.mark.parametrize(
    ("mode", "told"), [("pmc42=0 ", True), ("pmc42=0x400 ", False), ("pmc42=0x700 ", False), ("", False)]
)
def test_the_extension_of_the_trace_buffer_holds_two_bits_of_an_entry_in_trace_mode(mode: str, told: bool) -> None:
    """Table 3-29: bits 3:2 of each entry read zero, writes are ignored; with the IP-EAR (PMC42.mode 1xx) all four mean
    something (table 3-33)."""
    text = decode_text(pmu.get("montecito"), f"{mode}pmd39=0xffffffffffffffff")
    assert (f"the register holds {B1_AND_BRUFLUSH:#x}" in text) == told
    register = text[text.index("pmd39 = ") :]
    assert ("do not keep" in register) == told


@each("text", ["pmc8", "pmc8=", "pmc8=zz", "=5", "pmc8=0x10000000000000000", "", "pmc99=1"])
def test_malformed_register_values_are_refused(text: str) -> None:
    with pytest.raises(PfmonError):
        decode_text(pmu.get("itanium2"), text)


def test_registers_may_be_written_as_manuals_do() -> None:
    assert parse_registers("PMC[8]=5,pmd4=0x10\nibr0=7") == {"PMC[8]": 5, "pmd4": 16, "ibr0": 7}
    assert decode_text(pmu.get("itanium2"), "PMC[8]=5").startswith("pmc8 = ")


def test_firmware_information_is_that_of_the_table() -> None:
    info = perf_mon_info("montecito")
    assert (info.retired, info.cycles, info.width, info.pairs) == (0x08, 0x12, 48, 4)
    assert (info.pmc_mask, info.pmd_mask) == (0x3FFF, 0x3FFFF)
    assert (info.cycles_mask, info.retired_mask) == (0xF0, 0xF0)
    assert info.pm_info == 0x08123004
    assert len(info.buffer) == 128 and info.buffer[:2] == b"\xff\x3f"


@pytest.mark.parametrize(
    ("name", "events", "plm", "said"),
    [
        (
            "intel_v2",
            ["INST_RETIRED.ANY", "LLC_MISSES"],
            "u",
            ["IA32_PMC0 counts LLC_MISSES at 1, 2, user", "IA32_FIXED_CTR0 counts INST_RETIRED.ANY at 1, 2, user"],
        ),
        ("intel_v1", ["LLC_REFERENCES"], "uk", ["IA32_PMC0 counts LLC_REFERENCES at kernel, 1, 2, user"]),
        ("ppc604e", ["BPU_RESULTS"], "k", ["PMC1 counts nothing", "PMC2 counts BPU_RESULTS in supervisor state"]),
        ("ibm1994", ["PROCESSOR_CYCLES"], "uk", ["PMC1 counts PROCESSOR_CYCLES in any state"]),
    ],
)
def test_dumps_of_other_families_say_what_is_counted(name: str, events: list[str], plm: str, said: list[str]) -> None:
    model = pmu.get(name)
    made = model.program(events, plm=plm)
    writes = made.writes | {"ia32_pmc1" if name.startswith("intel") else "pmc1": 0}  # a dump has several registers
    text = decode_text(model, " ".join(f"{register}={value:#x}" for register, value in writes.items()))
    for line in said:
        assert f"\n  {line}" in text


def test_counters_that_are_off_are_said_to_be() -> None:
    intel = "ia32_perfevtsel0=0x1412e ia32_perfevtsel1=0x40412e"
    text = decode_text(pmu.get("intel_v1"), intel)  # EN is bit 22; OS and USR are clear in the second
    assert "IA32_PMC0 is switched off" in text and "IA32_PMC1 is switched off" in text
    assert "PMC1 is switched off" in decode_text(pmu.get("ppc604e"), "mmcr0=0x80000040 mmcr1=0")  # DIS


def together(name: str, text: str) -> list[str]:
    """The lines on what registers do together."""
    lines = decode_text(pmu.get(name), text).splitlines()
    return [line.strip() for line in lines[lines.index("together:") + 1 :]] if "together:" in lines else []


IEAR_CYCLES = {0xFF: 4, 0xFE: 8, 0xFC: 16, 0xF8: 32, 0xF0: 128, 0xE0: 256, 0xC0: 1024, 0x80: 4096}
"""Montecito manual table 3-16."""


@each(
    ("register", "umask", "words"),
    [
        # Montecito manual tables 3-21, 3-24: PMC40.umask 19:16, mode 8:7; table 3-16, 3-18: PMC37.umask 12:5, ct 13.
        *(
            (f"pmc40={umask << 16 | 8:#x}", umask, f"cache misses of {4 << umask} cycles or more")
            for umask in range(11)
        ),
        ("pmc40=0xb0008", 0xB, "undefined"),
        ("pmc40=0xc0088", 0xC, "TLB misses served by VHPT, FAULT"),
        ("pmc40=0x0", 0, "cache misses of 4 cycles or more"),
        ("pmc40=0x20108", 2, "ALAT misses"),
        *(
            (f"pmc37={1 << 13 | umask << 5 | 8:#x}", umask & 0x7F, f"cache misses of {cycles} cycles or more")
            for umask, cycles in IEAR_CYCLES.items()
        ),
        (f"pmc37={1 << 13 | 0x40 << 5 | 8:#x}", 0x40, "every cache miss"),
        (f"pmc37={1 << 13 | 8:#x}", 0, "RAB hits"),
        (f"pmc37={0x5 << 5 | 8:#x}", 0x5, "TLB misses served by L2TLB, FAULT"),
    ],
)
def test_thresholds_of_event_address_registers_are_in_cycles(register: str, umask: int, words: str) -> None:
    text = decode_text(pmu.get("montecito"), register)
    (line,) = [line for line in text.splitlines() if " umask " in line]
    assert f"{umask:#x} " in line and words in line


@pytest.mark.parametrize(("name", "register"), [("itanium2", "pmc11"), ("itanium", "pmc11")])
def test_older_data_ears_have_thresholds_in_cycles_too(name: str, register: str) -> None:
    """The unit mask of each event with a latency in its name, decoded from what programs it."""
    model = pmu.get(name)
    events = [event for event in model.events if event.ear == "dear_cache" and event.name[-1].isdecimal()]
    assert len(events) > 5
    for event in events:
        text = decode_text(model, f"{register}={model.program([event.name]).writes[register]:#x}")
        assert f"cache misses of {event.name.rpartition('_LAT')[2]} cycles or more" in text


def test_dump_says_what_a_data_ear_captured() -> None:
    # Montecito manual tables 3-22 and 3-24; PMC40.mode 8:7, plm 3:0.
    pmds = "pmd32=0x600000000000d348 pmd33={:#x} pmd36=0x200000000000d5ed"
    cache, tlb = 1 << 14 | 1 << 13 | 7, 2 << 14 | 7
    instruction = "address 0x600000000000d348, instruction 0x200000000000d5f0 slot 1"
    assert together("montecito", f"pmc40=0x8 {pmds.format(cache)}") == [
        f"data event: {instruction}, latency 7 cycles or more"
    ]
    assert together("montecito", f"pmc40=0x88 {pmds.format(tlb)}") == [
        f"data event: {instruction}, TLB miss served by VHPT"
    ]
    assert together("montecito", f"pmc40=0x108 {pmds.format(cache)}") == [
        "data event: instruction 0x200000000000d5f0 slot 1"
    ]
    assert together("montecito", pmds.format(tlb)) == [
        f"data event: {instruction}, latency 7 cycles, or a TLB miss served by VHPT"
    ]
    assert together("montecito", pmds.format(0)) == ["data event: nothing was captured"]
    assert together("montecito", "pmd32=1 pmd33=2") == []


def test_dump_says_what_an_instruction_ear_captured() -> None:
    # PMC10 of Itanium 2: plm 3:0, umask 12:5, ct 13.
    line = "instruction event: cache line 0x2000000000023580"
    assert together("itanium2", "pmc10=0x2008 pmd0=0x2000000000023581 pmd1=0xf") == [f"{line}, latency 15 cycles"]
    assert together("itanium2", "pmc10=0x8 pmd0=0x2000000000023583 pmd1=0xf") == [f"{line}, TLB miss served by FAULT"]
    assert together("itanium2", "pmd0=0x2000000000023580 pmd1=0xf") == ["instruction event: nothing was captured"]


def test_dump_lists_branches_in_the_order_in_which_they_occurred() -> None:
    text = "pmd8=0x105 pmd9=0x206 pmd10=0x30f pmd14=0x401 pmd15=0x502 pmd16={:#x}"
    index = 3 | 1 << 3 | 2 << 12  # the next is PMD11; bru of PMD10
    assert together("itanium2", text.format(index)) == [
        "branch buffer, oldest first:",
        "PMD14: branch at 0x0000000000000400 slot 0, taken, predicted correctly",
        "PMD15: to 0x0000000000000500",
        "PMD8: branch at 0x0000000000000100 slot 1, taken, predicted correctly",
        "PMD9: to 0x0000000000000200",
        "PMD10: branch at 0x0000000000000300, not taken, mispredicted, which the back end found",
    ]
    assert together("itanium", "pmd8=0x100 pmd9=0x105 pmd16=0") == ["branch buffer: nothing was captured"]
    assert together("itanium", "pmd8=0x100 pmd9=0x105") == [
        "branch buffer, in the order of its registers (PMD16 is not there, which says the order):",
        "PMD8: nothing",
        "PMD9: branch at 0x0000000000000100 slot 1, taken, predicted correctly",
    ]
    # PMC12 of Itanium 2: plm 3:0, ds 7.
    assert together("itanium2", "pmc12=0x88 pmd8=0x102 pmd16=1")[1] == "PMD8: how the branch was predicted"


def test_dump_of_an_ip_ear_has_cycles() -> None:
    # PMC42.mode 10:8 = 100, plm 3:0.
    text = "pmc42=0x408 pmd38=2 pmd39=0x{:x} pmd48=0x3000000000000123 pmd49=0xf000000000001205"
    assert together("montecito", text.format(0x6 | 1 << 8)) == [
        "IP-EAR, oldest first:",
        "PMD48: 0x0000000000001230, 19 cycles after the one before, pipeline flushed",
        "PMD49: 0x0000000000012000, 15 cycles after the one before, early freeze, 5 of the delay left",
    ]


@pytest.mark.parametrize(
    ("pmu", "dump", "name"),
    [
        ("intel_v2", "0x186=0x4100c0,0x38f=1", "ia32_perfevtsel0"),
        ("intel_v2", "0x38D=0x2 0x38f=0x100000000", "ia32_fixed_ctr_ctrl"),
        ("intel_v1", "0x187=0x4100c4", "ia32_perfevtsel1"),
        ("ppc604e", "952=0x80000000 956=0x1", "mmcr0"),
    ],
)
def test_registers_of_a_dump_are_known_by_number(pmu: str, dump: str, name: str) -> None:
    """Intel SDM volume 3 table B-3; PowerPC 604 manual section 9.1."""
    assert decode_text(pmu_model(pmu), dump).startswith(f"{name} = ")


@pytest.mark.parametrize(("pmu", "dump"), [("intel_v1", "0x38f=1"), ("intel_v2", "0x188=0"), ("itanium2", "4=0")])
def test_numbers_of_other_registers_are_refused(pmu: str, dump: str) -> None:
    with pytest.raises(PfmonError, match="no register of number"):
        decode_text(pmu_model(pmu), dump)


@pytest.mark.parametrize(
    ("dump", "advice"),
    [
        ("0x186=0", "--pmu intel_v1, intel_v2, core2, nehalem, skylake, skylake_8, icelake$"),
        ("952=0", "--pmu ppc604e, ibm1994$"),
    ],
)
def test_who_gives_a_number_to_another_pmu_is_told_whose_it_is(dump: str, advice: str) -> None:
    with pytest.raises(PfmonError, match=advice):
        decode_text(pmu_model("itanium2"), dump)
