"""Register values in words, and back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.errors import PfmonError
from pfmon.pmu.decode import decode_text, parse_registers
from pfmon.pmu.pal import perf_mon_info
from pfmon.pmu.request import RangeRequest

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


@pytest.mark.parametrize("text", ["pmc8", "pmc8=", "pmc8=zz", "=5", "pmc8=0x10000000000000000", "", "pmc99=1"])
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
