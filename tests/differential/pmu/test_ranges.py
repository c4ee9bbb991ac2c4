"""Ranges: an independent reading of the breakpoint registers says which addresses match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.pmu.model.programming import RangeProgramming
from pfmon.pmu.model.request import RangeRequest

LOW_56 = (1 << 56) - 1


def matched(programmed: RangeProgramming, address: int) -> bool:
    """Whether an address matches any pair: equal where the mask has ones (IA-64 manual volume 2, 7.1)."""
    values = dict(programmed.registers)
    if programmed.fine:
        return any(values[n] <= address <= values[n + 4] + 15 for n in (0, 2) if n in values and n + 4 in values)
    return any(not (values[index] ^ address) & values[index + 1] & LOW_56 for index in values if index % 2 == 0)


RANGES = st.tuples(st.integers(0, 1 << 45), st.integers(1, 1 << 30)).map(lambda t: (t[0], t[0] + t[1]))
SMALL = st.tuples(st.integers(0, 1 << 30), st.integers(1, 200)).map(lambda t: (t[0] * 16, t[0] * 16 + t[1] * 16))


@pytest.mark.slow
@given(st.sampled_from(pmu.IA64), RANGES, st.data())
def test_data_ranges_cover_what_was_asked_and_bleed_as_told(
    name: str, limits: tuple[int, int], data: st.DataObject
) -> None:
    made = pmu.get(name).program(["LOADS_RETIRED"], drange=RangeRequest((limits,))).drange
    assert made
    start, end = limits
    (low, high) = made.off[0]
    for address in [start, end - 1, data.draw(st.integers(start, end - 1)), start - low, end - 1 + high]:
        assert matched(made, address)
    for address in (start - low - 1, end + high):
        assert address < 0 or not matched(made, address)
    assert len(made.registers) <= 8


@pytest.mark.slow
@given(st.sampled_from(pmu.IA64), SMALL, st.data())
def test_code_ranges_cover_what_was_asked(name: str, limits: tuple[int, int], data: st.DataObject) -> None:
    made = pmu.get(name).program(["NOPS_RETIRED"], irange=RangeRequest((limits,))).irange
    assert made
    start, end = limits
    low, high = made.off[0]
    for address in [start, end - 1, data.draw(st.integers(start, end - 1)), start - low, end - 1 + high]:
        assert matched(made, address)
    for address in (start - low - 1, end + high):
        assert address < 0 or not matched(made, address)
    if made.fine:
        page = 12 if name == "itanium2" else 16
        assert start >> page == end >> page
        assert low in (0, 16) and high in (0, 16)


@given(st.integers(3, 50), st.integers(0, 1 << 13))
def test_an_aligned_power_of_two_takes_one_pair_and_does_not_bleed(bits: int, at: int) -> None:
    limits = (at << bits, (at + 1) << bits)
    made = pmu.get("itanium").program(["LOADS_RETIRED"], drange=RangeRequest((limits,))).drange
    assert made and len(made.registers) == 2 and made.off == ((0, 0),)
