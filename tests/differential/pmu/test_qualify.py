"""What a programming counts, against the ranges and opcodes that were asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.pmu.model.request import OpcodeMatch, RangeRequest
from pfmon.pmu.qualify.breakpoint_ranges import checkpoint_range
from pfmon.pmu.qualify.opcodes import parse_opcode_match
from pfmon.pmu.qualify.qualifier import Qualifier

CODE = st.tuples(st.integers(0, 1 << 28), st.integers(1, 400)).map(lambda t: (t[0] * 16, (t[0] + t[1]) * 16))
CLOOP = (4 << 37) | (5 << 6)


@pytest.mark.slow
@given(st.sampled_from(pmu.IA64), CODE, st.integers(-500, 900))
def test_code_ranges_count_what_was_asked_within_the_bleed(name: str, limits: tuple[int, int], bundles: int) -> None:
    model = pmu.get(name)
    made = model.program(["NOPS_RETIRED"], irange=RangeRequest((limits,)))
    assert made.irange
    start, end = limits
    low, high = made.irange.off[0]
    address = max(0, start + 16 * bundles)
    counted = Qualifier(model, made.writes).counts_instruction(made.monitors[0].event, address, "m", 0)
    if start <= address < end:
        assert counted
    elif not start - low <= address < end + high:
        assert not counted


@pytest.mark.slow
@given(st.sampled_from(["itanium2", "montecito"]), CODE, st.integers(-500, 900))
def test_inverse_ranges_count_the_others(name: str, limits: tuple[int, int], bundles: int) -> None:
    model = pmu.get(name)
    address = max(0, limits[0] + 16 * bundles)
    counted = []
    for inverse in (False, True):
        made = model.program(["NOPS_RETIRED"], irange=RangeRequest((limits,), inverse=inverse))
        event = made.monitors[0].event
        counted.append(Qualifier(model, made.writes).counts_instruction(event, address, "m", 0))
    assert counted[0] != counted[1]


@given(
    st.sampled_from(pmu.IA64),
    st.integers(0, 1 << 40),
    st.integers(1, 1 << 20),
    st.integers(-(1 << 20), 1 << 21),
)
def test_data_ranges_count_what_was_asked_within_the_bleed(name: str, start: int, size: int, at: int) -> None:
    model = pmu.get(name)
    made = model.program(["LOADS_RETIRED"], drange=RangeRequest(((start, start + size),)))
    assert made.drange
    low, high = made.drange.off[0]
    address = max(0, start + at)
    counted = Qualifier(model, made.writes).counts_data(made.monitors[0].event, address)
    if start <= address < start + size:
        assert counted
    elif not start - low <= address < start + size + high:
        assert not counted


def test_several_pairs_share_a_range_among_tag_channels() -> None:
    model = pmu.get("montecito")
    names = [f"IA64_TAGGED_INST_RETIRED_IBRP{n}_PMC{32 + n % 2 * 2}_{33 + n % 2 * 2}" for n in range(4)]
    limits = (0x1230, 0x45670)
    made = model.program(names, irange=RangeRequest((limits,), fine=False))
    wanted = Qualifier(model, made.writes)
    assert made.irange
    low, high = made.irange.off[0]
    for address in range(0, 0x80000, 0x70):
        bundle = address & ~15
        hits = sum(wanted.counts_instruction(m.event, bundle, "i", 0) for m in made.monitors)
        if limits[0] <= bundle < limits[1]:
            assert hits >= 1
        elif not limits[0] - low <= bundle < limits[1] + high:
            assert hits == 0


@pytest.mark.parametrize("name", pmu.IA64)
def test_opcode_matcher_of_pfmons_page_counts_br_cloop_only(name: str) -> None:
    model = pmu.get(name)
    if name == "montecito":
        matcher = OpcodeMatch("mifb", CLOOP, ~((0xF << 37) | (7 << 6)) & (1 << 41) - 1)
        event = "IA64_TAGGED_INST_RETIRED_IBRP0_PMC32_33"
    else:
        matcher = parse_opcode_match(":0x2000140:0x7ffe3f", 27)
        event = "IA64_TAGGED_INST_RETIRED" + ("_PMC8" if name == "itanium" else "_IBRP0_PMC8")
    made = model.program([event], opcodes=(matcher, None))
    wanted = Qualifier(model, made.writes)
    chosen = made.monitors[0].event
    assert wanted.counts_instruction(chosen, 0x4000, "b", CLOOP | 0x1FF << 13)
    assert not wanted.counts_instruction(chosen, 0x4000, "b", (4 << 37) | (0 << 6))
    assert not wanted.counts_instruction(chosen, 0x4000, "b", (5 << 37) | (5 << 6))


def test_slot_types_select() -> None:
    for name in pmu.IA64:
        model = pmu.get(name)
        bits = 41 if name == "montecito" else 27
        made = model.program(["NOPS_RETIRED"], opcodes=(OpcodeMatch("mf", 0, (1 << bits) - 1), None))
        wanted = Qualifier(model, made.writes)
        event = made.monitors[0].event
        assert [wanted.counts_instruction(event, 0, slot, 0) for slot in "mifb"] == [True, False, True, False]


def test_checkpoint_counts_one_bundle() -> None:
    model = pmu.get("itanium2")
    made = model.program(["IA64_INST_RETIRED"], plm="k", irange=checkpoint_range(0x11F7C0))
    wanted = Qualifier(model, made.writes)
    event = made.monitors[0].event
    assert [wanted.counts_instruction(event, a, "m", 0, cpl=0) for a in (0x11F7B0, 0x11F7C0, 0x11F7D0)] == [
        False,
        True,
        False,
    ]
    assert not wanted.counts_instruction(event, 0x11F7C0, "m", 0, cpl=3)


def test_without_constraints_everything_counts() -> None:
    for name in pmu.IA64:
        model = pmu.get(name)
        made = model.program(["NOPS_RETIRED", "LOADS_RETIRED"])
        wanted = Qualifier(model, made.writes)
        assert all(wanted.counts_instruction(m.event, 0x777770, s, 5) for m in made.monitors for s in "mifb")
        assert all(wanted.counts_data(m.event, 0x123) for m in made.monitors)


def test_powerpc_has_no_qualifiers() -> None:
    model = pmu.get("ppc604e")
    wanted = Qualifier(model, {})
    assert wanted.data_ranges() is None
    assert all(wanted.counts_instruction(event, 0x10000250, "m", 0) for event in model.events)
