"""The register file against the manual's words: masks, width, overflow, freeze, privilege."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.errors import BadValueError
from pfmon.pmu.registers.register_file import RegisterFile

MODELS = pmu.IA64
WORDS = st.integers(0, (1 << 64) - 1)
WIDTH = {"itanium": 32, "itanium2": 47, "montecito": 47}


@pytest.fixture(params=MODELS)
def registers(request: pytest.FixtureRequest) -> RegisterFile:
    return pmu.get(request.param).register_file()


@given(st.data(), WORDS)
def test_writes_never_change_reserved_bits_and_fields_decode_to_what_was_written(
    data: st.DataObject, value: int
) -> None:
    model = pmu.get(data.draw(st.sampled_from(pmu.names())))
    name = data.draw(st.sampled_from(sorted(model.registers)))
    register = model.registers[name]
    held = register.accept(value & ~register.zero)
    named = 0
    for field in register.fields:
        named |= field.mask
        if field.access == "rw":
            assert field.get(held) == field.get(value)
    rest = register.reset if register.rest == "rsv" else 0
    assert held & ~named == rest & ~named
    assert register.accept(held) == held


@pytest.mark.slow
@given(st.data())
def test_encoded_fields_decode_to_themselves(data: st.DataObject) -> None:
    model = pmu.get(data.draw(st.sampled_from(pmu.names())))
    register = model.registers[data.draw(st.sampled_from(sorted(model.registers)))]
    chosen = {f.name: data.draw(st.integers(0, (1 << f.width) - 1)) for f in register.fields}
    assert register.decode(register.encode(**chosen)) == chosen


def test_reset_values_are_those_of_the_manual() -> None:
    file = pmu.get("montecito").register_file()
    assert file.read("pmc41") == 0x2078FEFEFEFE
    assert file.read("pmc38") == 0xDB6
    assert file.read("pmc36") == 0xFFFFFFF0
    assert file.field("pmc32", "mask") == (1 << 41) - 1
    assert file.field("pmv", "m") == 1
    for n in range(4, 16):
        assert file.field(f"pmc{n}", "oi") == file.field(f"pmc{n}", "ev") == 0


def test_trace_extensions_have_two_bits_and_those_of_the_ip_ear_four() -> None:
    """Montecito manual tables 3-29 and 3-33: in trace mode bits 3:2 of an entry read zero, and writes are ignored."""
    file = pmu.get("montecito").register_file()
    ones = (1 << 64) - 1
    file.write("pmd39", ones)
    assert file.read("pmd39") == file.read_data(39, cpl=3) == 0x3333333333333333
    file.set_field("pmc42", "mode", 4)
    assert file.read("pmd39") == 0x3333333333333333
    file.write("pmd39", ones)
    assert file.read("pmd39") == ones
    file.set_field("pmc42", "mode", 0)
    assert file.read("pmd39") == 0x3333333333333333
    file.write("pmd39", 0)
    file.set_field("pmc42", "mode", 4)
    assert file.read("pmd39") == 0xCCCCCCCCCCCCCCCC


@given(st.data(), WORDS, st.lists(st.integers(0, 1 << 50), max_size=5))
def test_counter_adds_as_a_wide_integer_would(data: st.DataObject, start: int, steps: list[int]) -> None:
    name = data.draw(st.sampled_from(MODELS))
    file = pmu.get(name).register_file()
    width = WIDTH[name]
    file.write("pmd4", start)
    total = start % (1 << width)
    wrapped = False
    for step in steps:
        total += step
        assert file.add(4, step) == (total >= 1 << width)
        wrapped |= total >= 1 << width
        total %= 1 << width
    assert file.count(4) == total
    assert bool(file.read("pmc0") & 1 << 4) == wrapped
    sign = (1 << 64) - (1 << width) if total >> (width - 1) else 0
    assert file.read("pmd4") == total | sign


def test_overflow_without_oi_leaves_monitoring_on(registers: RegisterFile) -> None:
    registers.write("pmd5", (1 << registers.bank.width) - 1)
    assert registers.add(5, 1)
    assert registers.read("pmc0") == 1 << 5
    assert not registers.frozen and not registers.interrupt


def test_overflow_with_oi_freezes_and_interrupts(registers: RegisterFile) -> None:
    registers.set_field("pmc5", "oi", 1)
    registers.write("pmd5", (1 << registers.bank.width) - 3)
    assert registers.headroom(5) == 3
    assert not registers.add(5, 2)
    assert registers.add(5, 1)
    assert registers.frozen and registers.interrupt
    assert not registers.add(5, 100) and registers.count(5) == 0
    assert registers.take_overflows() == [5]
    assert not registers.frozen and not registers.interrupt


def test_overflow_notifies_the_outside_whatever_oi(registers: RegisterFile) -> None:
    registers.set_field("pmc5", "ev", 1)
    registers.write("pmd5", (1 << registers.bank.width) - 1)
    registers.add(5, 1)
    assert registers.notifications == 1 and not registers.interrupt


def test_interrupt_has_a_vector_unless_masked(registers: RegisterFile) -> None:
    registers.set_field("pmc5", "oi", 1)
    registers.set_field("pmv", "vector", 0xD2)
    registers.write("pmd5", (1 << registers.bank.width) - 1)
    registers.add(5, 1)
    assert registers.pending_vector is None
    registers.set_field("pmv", "m", 0)
    assert registers.pending_vector == 0xD2
    registers.take_overflows()
    assert registers.pending_vector is None


def test_overflow_bits_are_sticky_and_several(registers: RegisterFile) -> None:
    for n in (4, 6):
        registers.write(f"pmd{n}", (1 << registers.bank.width) - 1)
        registers.add(n, 1)
    registers.add(4, 10)
    assert registers.take_overflows() == [4, 6]


def test_monitor_runs_by_up_or_pp_at_its_levels(registers: RegisterFile) -> None:
    registers.set_field("pmc4", "plm", 0b1000)
    assert not registers.enabled(4)
    registers.set_field("psr", "up", 1)
    assert not registers.enabled(4)
    registers.set_field("psr", "cpl", 3)
    assert registers.enabled(4)
    registers.set_field("pmc4", "pm", 1)
    assert not registers.enabled(4)
    registers.set_field("psr", "pp", 1)
    assert registers.enabled(4)
    registers.set_field("pmc0", "fr", 1)
    assert not registers.enabled(4)


def test_dcr_decides_whether_handlers_are_counted(registers: RegisterFile) -> None:
    registers.set_field("pmc4", "plm", 0b1001)
    registers.set_field("pmc4", "pm", 1)
    registers.set_field("psr", "pp", 1)
    registers.set_field("psr", "cpl", 3)
    assert registers.enabled(4)
    registers.interruption()
    assert not registers.enabled(4)
    registers.set_field("dcr", "pp", 1)
    registers.interruption()
    assert registers.enabled(4)


def test_unprivileged_reads_see_zero_of_privileged_or_secured_counters(registers: RegisterFile) -> None:
    registers.write("pmd4", 77)
    assert registers.read("pmd4", cpl=3) == 77
    registers.set_field("pmc4", "pm", 1)
    assert registers.read("pmd4", cpl=3) == 0
    registers.set_field("pmc4", "pm", 0)
    registers.set_field("psr", "sp", 1)
    assert registers.read("pmd4", cpl=3) == 0
    assert registers.read("pmd4") == 77


def test_pmcs_are_for_level_zero(registers: RegisterFile) -> None:
    with pytest.raises(BadValueError, match="level 0"):
        registers.read("pmc4", cpl=3)
    with pytest.raises(BadValueError, match="level 0"):
        registers.write("pmd4", 0, cpl=3)


def test_too_wide_values_are_refused(registers: RegisterFile) -> None:
    with pytest.raises(BadValueError, match="64-bit"):
        registers.write("pmd4", 1 << 64)
    with pytest.raises(BadValueError, match="too wide: 0-0xf"):
        registers.registers["pmc4"].encode(plm=16)


@pytest.mark.parametrize(
    ("ism", "ia64", "ia32"), [(0, True, True), (1, False, True), (2, True, False), (3, False, False)]
)
def test_instruction_set_mask_and_psr_is_decide(registers: RegisterFile, ism: int, ia64: bool, ia32: bool) -> None:
    """Pfmon on Itanium 2, section 7.2: ia32 counts while psr.is = 1, ia64 while it is 0."""
    registers.write("pmc4", 8 | ism << 24)
    registers.run_program()
    assert registers.enabled(4) == ia64
    registers.set_field("psr", "is", 1)
    assert registers.enabled(4) == ia32
