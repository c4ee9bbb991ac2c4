"""Intel's registers at work: 40-bit counters, overflow status, interrupt and freeze (sections 30.2.1 and 30.2.2)."""

import pytest
from grids import each, first_quick
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.errors import BadValueError
from pfmon.pmu.registers.msr_file import MsrFile
from pfmon.session.run.virtual_counters import VirtualCounters

WRAP = 1 << 40
FREEZE_PERFMON_ON_PMI = 1 << 12
INST_USER = 0xC0 | 1 << 16 | 1 << 20 | 1 << 22  # USR, INT, EN
NUMBERS = {"intel_v1": (0, 1), "intel_v2": (0, 1, 32, 33, 34)}


def running(name: str = "intel_v2", freeze: bool = False) -> MsrFile:
    """All counters count instructions, or what their fixed function is, at user level, and interrupt."""
    file = pmu.get(name).register_file()
    assert isinstance(file, MsrFile)
    for number in (0, 1):
        file.write(f"ia32_perfevtsel{number}", INST_USER)
    if name == "intel_v2":
        file.write("ia32_debugctl", FREEZE_PERFMON_ON_PMI if freeze else 0)
        file.write("ia32_fixed_ctr_ctrl", 0xAAA)  # USR and PMI of the three
        file.write("ia32_perf_global_ctrl", 3 | 7 << 32)
    file.run_program()
    return file


@pytest.mark.parametrize("name", first_quick(NUMBERS))
@given(data=st.data())
def test_counters_wrap_at_forty_bits(name: str, data: st.DataObject) -> None:
    file = running(name)
    for number in NUMBERS[name]:
        start = data.draw(st.integers(0, WRAP - 1))
        step = data.draw(st.one_of(st.integers(0, WRAP - 1), st.just(WRAP - start)))
        file.store({number: start})
        assert file.headroom(number) == WRAP - start
        assert file.add(number, step) == (start + step >= WRAP)
        assert file.count(number) == (start + step) % WRAP


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(NUMBERS["intel_v2"]), st.integers(1, 5)), st.booleans())
def test_counters_that_wrap_together_all_set_their_bits(steps: dict[int, int], freeze: bool) -> None:
    file = running(freeze=freeze)
    file.store(dict.fromkeys(NUMBERS["intel_v2"], WRAP - 3))
    wrapped = [number for number, step in steps.items() if step >= 3]
    assert file.add_together(steps) == wrapped
    assert file.read("ia32_perf_global_status") == sum(1 << number for number in wrapped)
    assert file.interrupt == bool(wrapped)
    assert file.frozen == (freeze and bool(wrapped))
    assert [file.count(number) for number in steps] == [(WRAP - 3 + step) % WRAP for step in steps.values()]


def test_a_frozen_monitor_counts_nothing_until_a_handler_enables_it() -> None:
    file = running(freeze=True)
    file.store({32: WRAP - 1})
    configured = file.configured
    assert file.add(32, 1) and file.frozen and file.configured == configured
    assert not file.add(0, 5) and file.add_together({0: 5}) == [] and file.count(0) == 0
    assert file.take_overflows() == [32]
    assert file.read("ia32_perf_global_ctrl") == 3 | 7 << 32 and not file.interrupt
    assert file.read("ia32_perf_global_status") == 0
    file.add(0, 5)
    assert file.count(0) == 5


def test_enables_written_by_a_handler_are_not_changed_behind_it() -> None:
    file = running(freeze=True)
    file.store({32: WRAP - 1})
    file.add(32, 1)
    file.write("ia32_perf_global_ctrl", 1)
    assert file.take_overflows() == [32] and file.read("ia32_perf_global_ctrl") == 1


def test_without_the_interrupt_nothing_freezes() -> None:
    file = running(freeze=True)
    file.write("ia32_perfevtsel0", INST_USER & ~(1 << 20))
    file.store({0: WRAP - 1})
    assert file.add(0, 1) and not file.interrupt and not file.frozen
    assert file.read("ia32_perf_global_status") == 1


def test_status_bits_stay_until_each_is_cleared() -> None:
    file = running()
    file.store({0: WRAP - 1, 34: WRAP - 1})
    file.add_together({0: 1, 34: 1})
    file.write("ia32_perf_global_ovf_ctrl", 1 << 34)
    assert file.read("ia32_perf_global_status") == 1
    assert file.take_overflows() == [0] and file.take_overflows() == []


@pytest.mark.parametrize("name", NUMBERS)
def test_a_driver_stops_all_counters(name: str) -> None:
    file = running(name)
    assert all(file.enabled(number) for number in NUMBERS[name])
    file.stop()
    assert not any(file.enabled(number) for number in NUMBERS[name])


def test_version_1_has_no_status_and_its_handler_finds_what_wrapped() -> None:
    file = running("intel_v1")
    file.store({1: WRAP - 2})
    assert not file.add(1, 1) and file.add(1, 1) and file.interrupt and not file.frozen
    assert file.take_overflows() == [1] and file.take_overflows() == []


def test_what_says_what_is_counted_is_told_from_what_does_not() -> None:
    file = running()
    before = file.configured
    file.write("ia32_pmc0", 5)
    file.write("ia32_fixed_ctr2", 5)
    file.write("ia32_perf_global_ovf_ctrl", 1)
    file.write("ia32_perfevtsel1", INST_USER)  # as it is
    assert file.configured == before
    for number, (name, value) in enumerate(
        {"ia32_perfevtsel1": 0xC4, "ia32_fixed_ctr_ctrl": 2, "ia32_perf_global_ctrl": 1, "ia32_debugctl": 1}.items(), 1
    ):
        file.write(name, value)
        assert file.configured == before + number


def test_programs_read_general_counters_where_rdpmc_is_allowed() -> None:
    file = running()
    file.store({1: 77})
    assert file.read_data(1, cpl=3) == 77
    file.set_secure(True)
    with pytest.raises(BadValueError, match="general protection"):
        file.read_data(1, cpl=3)
    assert file.read_data(1, cpl=0) == 77


@each("name", NUMBERS)
@each("controls", [{}, {"int": 0}, {"freeze_perfmon_on_pmi": 1}], ids=str)
def test_virtual_counters_go_beyond_forty_bits(name: str, controls: dict[str, int]) -> None:
    model = pmu.get(name)
    if name == "intel_v1" and "freeze_perfmon_on_pmi" in controls:
        return
    made = model.program(["INST_RETIRED.ANY", "BR_INST_RETIRED.ALL_BRANCHES"], controls=controls)
    counters = VirtualCounters(model.register_file(), made)
    for monitor, total in zip(made.monitors, (3 * WRAP + 11, WRAP - 1), strict=True):
        counters.add(monitor, total - 4)
        counters.add(monitor, 4)
        assert counters.value(monitor) == total
