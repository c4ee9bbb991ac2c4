"""What was captured as register contents: bits by hand from the manuals' tables, and decoded again as it was."""

import pytest
from ear_registers import data_ear, instruction_ear
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.pmu.capture.branch_captures import BranchBuffer, IpEar
from pfmon.pmu.capture.capture_values import CaptureRegisters
from pfmon.pmu.capture.captures import DataEar, InstructionEar

MODELS = [pmu.get(name) for name in pmu.IA64]
LATENCY_BITS = {"itanium": 12, "itanium2": 13, "montecito": 13}
ADDRESSES = st.integers(0, (1 << 64) - 1)
PLACES = st.builds(lambda bundle, slot: bundle << 4 | slot, st.integers(1, (1 << 60) - 1), st.integers(0, 2))
EITHER = pytest.mark.parametrize("model", MODELS, ids=pmu.IA64)


@EITHER
def test_a_cache_miss_is_laid_out_as_the_manual_says(model: pmu.PmuModel) -> None:
    """Tables 3-22; Itanium: slot in 3:2, valid in 0 of PMD17, level in 63:62 of PMD3."""
    values = CaptureRegisters(model).data((0x4000_0000_0000_0121, True, 0x6000_0000_0000_1238, 0x123, 0))
    address, time, place = {"montecito": (32, 33, 36)}.get(model.name, (2, 3, 17))
    if model.name == "itanium":
        assert values == {2: 0x6000_0000_0000_1238, 3: 0x123, 17: 0x4000_0000_0000_0120 | 1 << 2 | 1}
    else:
        assert values == {
            address: 0x6000_0000_0000_1238,
            time: 0x123 | 1 << 14,
            place: 0x4000_0000_0000_0110 | 1 << 3 | 1 << 2 | 1,
        }


@EITHER
@given(st.one_of(st.none(), PLACES), st.booleans(), ADDRESSES, st.integers(1, 1 << 20), st.integers(0, 3))
def test_any_data_capture_is_there(
    model: pmu.PmuModel, place: int | None, second: bool, data: int, latency: int, level: int
) -> None:
    values = CaptureRegisters(model).data((place, second, data, latency, level))
    assert all(0 <= value < 1 << 64 for value in values.values())
    bits = LATENCY_BITS[model.name]
    held = data_ear(model.name, values)
    over = latency >> bits > 0 and model.name != "itanium"
    status = level if level or model.name == "itanium" else 1
    assert held == (data, place, latency % (1 << bits), over, status)
    mode = "tlb" if level else "cache"
    decoded = DataEar(model, mode).capture(values)
    assert decoded.valid == (place is not None or model.name != "itanium")
    assert (decoded.address, decoded.instruction) == (data, place)
    if mode == "cache":
        assert (decoded.latency, decoded.overflow) == (latency % (1 << bits), over)
    else:
        words = {"itanium": ("L2", "VHPT", "SW")}.get(model.name, ("L2DTLB", "VHPT", "FAULT"))
        assert decoded.level == words[level - 1]


@EITHER
@given(ADDRESSES, st.integers(1, 1 << 16), st.integers(0, 3))
def test_any_fetch_is_there(model: pmu.PmuModel, line: int, latency: int, level: int) -> None:
    line &= ~31
    values = CaptureRegisters(model).fetch((line, latency, level))
    held = instruction_ear(model.name, values)
    if model.name == "itanium":  # bit 0 valid, bit 1: software served the TLB miss
        status = 1 | (level == 3) << 1
    else:
        status = level or 1  # tables 3-17 and 3-19
    assert held == (line, latency % (1 << 12), latency >> 12 > 0 and model.name != "itanium", status)
    decoded = InstructionEar(model, "tlb" if level else "cache").capture(values)
    assert decoded.valid and decoded.line == line
    if level == 0:
        assert decoded.latency == latency % (1 << 12)
    elif model.name == "itanium":
        assert decoded.level == ("SW" if level == 3 else "VHPT")
    else:
        assert decoded.level == ("L2TLB", "VHPT", "FAULT")[level - 1]


@EITHER
def test_nothing_was_captured(model: pmu.PmuModel) -> None:
    registers = CaptureRegisters(model)
    for values in (registers.data(None), registers.fetch(None)):
        assert values and not any(values.values())
    assert not DataEar(model, "cache").capture(registers.data(None)).valid
    assert not InstructionEar(model, "cache").capture(registers.fetch(None)).valid


@EITHER
@given(st.data())
def test_any_trace_is_there_oldest_first(model: pmu.PmuModel, data: st.DataObject) -> None:
    """Index in the low bits of PMD16 and PMD38, the full bit behind it; extensions by register (figure 3-26)."""
    size = 16 if model.name == "montecito" else 8
    entries = data.draw(st.lists(ADDRESSES.map(lambda value: value | 1), min_size=size, max_size=size))
    extensions = data.draw(st.lists(st.integers(0, 15), min_size=size, max_size=size))
    following, full = data.draw(st.integers(0, size - 1)), data.draw(st.booleans())
    values = CaptureRegisters(model).trace((entries, extensions, following, full))
    first = 48 if model.name == "montecito" else 8
    assert [values[first + number] for number in range(size)] == entries
    if model.name == "montecito":
        assert values[38] == following | full << 5
        order = [values[39] >> 8 * (n % 8) + 4 * (n // 8) & 15 for n in range(16)]
        assert order == extensions
    else:
        assert values[16] & 15 == following | full << 3
        held = [values[16] >> 4 + 4 * n & 15 for n in range(8)]
        assert held == (extensions if model.name == "itanium2" else [0] * 8) and values[16] >> 36 == 0
    found = BranchBuffer(model).entries(values)
    oldest = (*range(following, size), *range(following)) if full else range(following)
    assert [entry.value for entry in found] == [entries[number] for number in oldest]
    if model.name != "itanium":
        assert [entry.second_bundle for entry in found] == [bool(extensions[number] & 1) for number in oldest]
        assert [entry.back_end for entry in found] == [bool(extensions[number] & 2) for number in oldest]


@given(st.integers(0, (1 << 60) - 1), st.integers(0, 63), st.booleans(), st.booleans())
def test_any_retired_address_is_there(bundle: int, cycles: int, flush: bool, early: bool) -> None:
    """Tables 3-31 and 3-33: cycles 3:0 in 63:60 of the register, 5:4 in 3:2 of its extension; f bit 1, ef bit 0."""
    model = pmu.get("montecito")
    extension = cycles >> 4 << 2 | flush << 1 | early
    values = CaptureRegisters(model).trace(([cycles % 16 << 60 | bundle, *[0] * 15], [extension, *[0] * 15], 1, False))
    (one,) = IpEar(model).entries(values)
    assert (one.cycles, one.flush, one.early_freeze) == (cycles, flush, early)
    assert (one.ip, one.delay) == ((bundle >> 8 << 12, bundle & 0xFF) if early else (bundle << 4, None))
