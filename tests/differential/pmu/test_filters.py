"""Qualification as data: filters evaluated alone, against a reading of random registers by the manuals' formulas."""

from collections.abc import Mapping
from random import Random

import pytest
from example_counts import examples
from hypothesis import example, given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.pmu.qualify.filters import EVERY_OPCODE, CodeFilter, OpcodeFilter, widened
from pfmon.pmu.qualify.qualifier import Qualifier

PMUS = [name if name == "itanium2" else pytest.param(name, marks=pytest.mark.slow) for name in pmu.IA64]
LOW_56 = (1 << 56) - 1
CHANNELS = {"itanium": 2, "itanium2": 4, "montecito": 4}
QUALIFYING = {
    "itanium": ("pmc8", "pmc9", "pmc11", "pmc13"),
    "itanium2": ("pmc8", "pmc9", "pmc13", "pmc14", "pmc15"),
    "montecito": ("pmc32", "pmc33", "pmc34", "pmc35", "pmc36", "pmc38", "pmc41"),
}
ADDRESSES = st.integers(0, 0x3FF).map(lambda bundle: bundle * 16)
MASKS = [LOW_56 & ~(size - 1) for size in (16, 0x40, 0x400, 0x1000)]
OPCODES = st.integers(0, (1 << 41) - 1)


def contents(name: str) -> st.SearchStrategy[dict[str, int]]:
    """Register contents that often match something: near addresses, matchers that ignore most bits. Drawn by a seed:
    forty values one by one take longer than all that is done with them."""
    return st.integers(0, (1 << 64) - 1).map(lambda seed: drawn(name, Random(seed)))


def drawn(name: str, pick: Random) -> dict[str, int]:
    registers = pmu.get(name).registers
    values = {}
    for one in QUALIFYING[name]:
        few = sum({1 << pick.randrange(64) for _ in range(pick.randrange(9))})
        values[one] = registers[one].accept(pick.choice((pick.getrandbits(64), few, few ^ (1 << 64) - 1)))
    for kind in ("ibr", "dbr"):
        for pair in range(4):
            values[f"{kind}{2 * pair}"] = pick.randrange(0x400) * 16
            level, debug = pick.choice((8, 8, 9, 1, 15, 0)), pick.choice((0, 0, 0, 1))
            values[f"{kind}{2 * pair + 1}"] = pick.choice((*MASKS, *MASKS, 0, 0, 0, 0)) | level << 56 | debug << 63
    return values


def bit(values: Mapping[str, int], register: str, position: int) -> int:
    return values[register] >> position & 1


def pair_matches(values: Mapping[str, int], pair: int, address: int, cpl: int) -> bool:
    """IA-64 manual volume 2, table 7-1: address, mask, level; x clear."""
    low, control = values[f"ibr{2 * pair}"], values[f"ibr{2 * pair + 1}"]
    level = control >> 56 >> cpl & 1
    return bool(level) and not control >> 63 and low & control & LOW_56 == address & control & LOW_56


def code_passes(name: str, values: Mapping[str, int], channel: int, address: int, cpl: int) -> bool:
    """The range tag of a channel: Itanium manual table 6-3; Montecito manual tables 3-9 to 3-11."""
    if name == "itanium":
        used = [pair for pair in range(4) if values[f"ibr{2 * pair + 1}"]]
        return bool(values["pmc13"] & 1) or any(pair_matches(values, pair, address, cpl) for pair in used)
    config, head, ignore, inverse = {
        "itanium2": ("pmc14", "pmc8", 0, 1),
        "montecito": ("pmc38", "pmc32", 57, 56),
    }[name]
    if bit(values, config, 1 + 3 * channel) or (channel == 0 and bit(values, head, ignore)):
        return True
    lower = channel & 1
    pairs = (lower, lower + 2) if bit(values, config, 13) else (channel,)
    if any(values[f"ibr{2 * n + 1}"] >> 63 for n in pairs):  # section 3.3.5.1: the range is not considered
        return True
    if bit(values, config, 13):
        at_level = all(values[f"ibr{2 * n + 1}"] >> 56 >> cpl & 1 for n in pairs)
        inside = at_level and values[f"ibr{2 * lower}"] // 16 <= address // 16 <= values[f"ibr{2 * lower + 4}"] // 16
    else:
        inside = pair_matches(values, channel, address, cpl)
    return inside != (channel == 0 and bool(bit(values, head, inverse)))


def opcode_passes(name: str, values: Mapping[str, int], channel: int, slot: str, opcode: int) -> bool:
    """The matcher of a channel, bit by bit: pfmon on Itanium 2, section 4.1; Montecito manual tables 3-11 to 3-13."""
    if name == "montecito":
        head, other = (("pmc32", "pmc33"), ("pmc34", "pmc35"))[channel & 1]
        if bit(values, "pmc36", channel):
            return True
        letters = dict(zip("bfim", range(48, 52), strict=True))
        places = [(n, n, n) for n in range(41)]
    else:
        head = other = f"pmc{8 + (channel & 1)}"
        if name == "itanium2" and bit(values, "pmc15", channel):
            return True
        letters = dict(zip("bfim", range(60, 64), strict=True))
        places = [(3 + n, 33 + n, n if n < 13 else n + 14) for n in range(27)]
    if not bit(values, head, letters[slot]):
        return False
    return all(bit(values, head, mask) or bit(values, other, match) == opcode >> at & 1 for mask, match, at in places)


def data_passes(name: str, values: Mapping[str, int], address: int) -> bool:
    """Data ranges: Itanium manual table 6-3; Montecito manual table 3-14."""
    if name == "itanium":
        if bit(values, "pmc11", 28):
            return True
        used = [pair for pair in range(4) if values[f"dbr{2 * pair + 1}"]]
    else:
        config = "pmc13" if name == "itanium2" else "pmc41"
        used = [n for n in range(4) if bit(values, config, 45 + n) and not bit(values, config, 3 + 8 * n)]
        if not used:
            return True
    return any(not (values[f"dbr{2 * n}"] ^ address) & values[f"dbr{2 * n + 1}"] & LOW_56 for n in used)


@pytest.mark.slow
@pytest.mark.parametrize("name", PMUS)
def test_code_filters_pass_what_the_registers_say(name: str) -> None:
    seen = set()

    @examples(300)
    @given(contents(name), st.integers(0, CHANNELS[name] - 1), ADDRESSES, st.integers(0, 3))
    def check(values: dict[str, int], channel: int, address: int, cpl: int) -> None:
        qualifier = Qualifier(pmu.get(name), values)
        passes = qualifier.code_filter(channel, cpl).passes(address)
        assert passes == code_passes(name, values, channel, address, cpl)
        assert passes == qualifier.in_code_range(channel, address, cpl)
        seen.add(passes)

    check()
    assert seen == {True, False}


@pytest.mark.parametrize(("name", "register"), [("itanium2", "pmc14"), ("montecito", "pmc38")])
@pytest.mark.parametrize("fine", [False, True])
def test_a_debuggers_breakpoint_pair_does_not_constrain(name: str, register: str, fine: bool) -> None:
    """Montecito manual section 3.3.5.1: a range is considered if the ignore bits and the pair's x bit are all 0."""
    head = {"itanium2": {"pmc8": 0}, "montecito": {"pmc32": 0}}[name]
    level = 8 << 56
    limits = {"ibr0": 0x1000, "ibr1": level | LOW_56 - 0xFFF, "ibr4": 0x1FF0, "ibr5": level | LOW_56 - 0xFFF}
    values = head | limits | {register: 0xDB6 & ~0x82 | fine << 13}
    debugged = "ibr5" if fine else "ibr1"
    for written, passes in ((values, False), (values | {debugged: values[debugged] | 1 << 63}, True)):
        qualifier = Qualifier(pmu.get(name), written)
        assert qualifier.in_code_range(0, 0x1010)
        assert qualifier.in_code_range(0, 0x5000) == passes


@pytest.mark.slow
@pytest.mark.parametrize("name", PMUS)
def test_opcode_filters_pass_what_the_registers_say(name: str) -> None:
    seen = set()

    @examples(300)
    @given(contents(name), st.integers(0, CHANNELS[name] - 1), st.sampled_from("mifb"), OPCODES)
    def check(values: dict[str, int], channel: int, slot: str, opcode: int) -> None:
        qualifier = Qualifier(pmu.get(name), values)
        chosen = qualifier.opcode_filter(channel)
        for bits in (opcode, (opcode & ~chosen.mask) | chosen.match):
            passes = chosen.passes(slot, bits)
            assert passes == opcode_passes(name, values, channel, slot, bits)
            assert passes == qualifier.opcode_matches(channel, slot, bits)
            seen.add(passes)

    check()
    assert seen == {True, False}


def ranges_at_0x1000(name: str) -> dict[str, int]:
    """Every data range is used, and is 16 bytes at 0x1000. Random contents seldom keep an access out of all four."""
    used = 0xF << 45  # PMC13 of Itanium 2, PMC41
    values = {
        one: used if one == {"itanium2": "pmc13", "montecito": "pmc41"}.get(name) else 0 for one in QUALIFYING[name]
    }
    for pair in range(4):
        values[f"dbr{2 * pair}"], values[f"dbr{2 * pair + 1}"] = 0x1000, (LOW_56 & ~0xF) | 8 << 56
    return values


@pytest.mark.slow
@pytest.mark.parametrize("name", PMUS)
def test_data_ranges_pass_what_the_registers_say(name: str) -> None:
    seen = set()
    event = pmu.get(name).events["LOADS_RETIRED"]

    @examples(300)
    @given(contents(name), st.integers(0, 0x4FFF))
    @example(ranges_at_0x1000(name), 0x1008)
    @example(ranges_at_0x1000(name), 0x1010)
    def check(values: dict[str, int], address: int) -> None:
        qualifier = Qualifier(pmu.get(name), values)
        passes = qualifier.counts_data(event, address)
        assert passes == data_passes(name, values, address)
        ranges = qualifier.data_ranges()
        assert passes == (ranges is None or any(not (first ^ address) & mask for first, mask in ranges))
        seen.add(passes)

    check()
    assert seen == {True, False}


@pytest.mark.parametrize("name", pmu.IA64)
def test_registers_after_reset_let_everything_pass(name: str) -> None:
    qualifier = Qualifier(pmu.get(name), {})
    for channel in range(CHANNELS[name]):
        assert qualifier.code_filter(channel).everything
        assert qualifier.opcode_filter(channel).everything
    assert qualifier.data_ranges() is None


def test_narrow_opcode_bits_stand_for_40_to_27_and_12_to_0() -> None:
    assert widened((1 << 27) - 1) == (1 << 41) - 1 - (((1 << 27) - 1) & ~0x1FFF)
    assert widened(1 << 13) == 1 << 27 and widened(1 << 26) == 1 << 40 and widened(1 << 12) == 1 << 12


def test_br_cloop_of_pfmons_page_compares_major_opcode_and_branch_type() -> None:
    """Pfmon on Itanium 2, section 4.3: :0x2000140:0x7ffe3f is opcode 4 in bits 40:37 and type 5 in bits 8:6."""
    match, mask = 0x2000140, 0x7FFE3F
    value = match << 33 | mask << 3 | 0xF << 60 | 4
    chosen = Qualifier(pmu.get("itanium2"), {"pmc8": value, "pmc15": 0xFFFFFFFE}).opcode_filter(0)
    assert chosen == OpcodeFilter(False, "mifb", 4 << 37 | 5 << 6, 0xF << 37 | 7 << 6)
    assert Qualifier(pmu.get("itanium2"), {"pmc8": value, "pmc15": 0xFFFFFFFF}).opcode_filter(0) == EVERY_OPCODE


def test_fine_range_of_pfmons_page_is_one_interval() -> None:
    """Pfmon on Itanium 2, section 8.2: [0x1000-0x1590) reaches 16 bytes further."""
    values = {"ibr0": 0x1000, "ibr1": 8 << 56 | 0xFFFFF000, "ibr4": 0x1590, "ibr5": 8 << 56 | 0xFFFFF000}
    values |= {"pmc8": 0xFFFFFFFF3FFFFFFC, "pmc14": 0xDB6 & ~(1 << 1) & ~(1 << 7) | 1 << 13}
    qualifier = Qualifier(pmu.get("itanium2"), values)
    assert qualifier.code_filter(0) == CodeFilter(False, intervals=((0x1000, 0x159F),))
    assert qualifier.code_filter(0, cpl=0).intervals == ()
