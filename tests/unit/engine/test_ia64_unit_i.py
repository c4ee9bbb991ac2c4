"""Shifts, bit fields, extensions and moves of the I and X units against Python integers (SDM volume 3)."""

from random import Random

import pytest
from enumerated import members
from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from ia64_forms import DONE, MASK, Model, check_result, forms, run, signed, words

from pfmon.engine.ia64._ia64 import step
from pfmon.isa.ia64._encodings import Fault
from pfmon.isa.ia64.assemble import encode

ILLEGAL_OPERATION, RESERVED_REGISTER_FIELD = members(Fault, "FAULT", "ILLEGAL_OPERATION RESERVED_REGISTER_FIELD")
FAULT, CUT, BREAK = 4, 5, 6  # cpu.pxd, Status


def field(value: int, position: int, length: int) -> int:
    """Bits of an unsigned 64-bit value; there are none above 63."""
    return value % 2**64 // 2**position % 2**length


def deposited(below: int, value: int, position: int, length: int) -> int:
    """``below`` with ``length`` bits from ``position`` on replaced by those of ``value``."""
    bits = [(below >> bit) & 1 for bit in range(64)]
    for bit in range(position, min(64, position + length)):
        bits[bit] = (value >> (bit - position)) & 1
    return sum(one << bit for bit, one in enumerate(bits))


def extracted_signed(value: int, position: int, length: int) -> int:
    length = min(length, 64 - position)
    return signed(field(value, position, length), length)


def first_zero(value: int, lanes: int, from_left: bool) -> int:
    width = 64 // lanes
    zero = [field(value, width * lane, width) == 0 for lane in range(lanes)]
    if from_left:
        zero.reverse()
    return zero.index(True) if any(zero) else lanes


MODELS: dict[str, Model] = {
    "shl r1=r2,r3": lambda v: v.r2 * 2 ** min(v.r3, 64),
    "shr r1=r3,r2": lambda v: signed(v.r3) // 2 ** min(v.r2, 64),
    "shr.u r1=r3,r2": lambda v: v.r3 // 2 ** min(v.r2, 64),
    "shl r1=r2,count6": lambda v: v.r2 * 2**v.count6,
    "shr r1=r3,count6": lambda v: signed(v.r3) // 2**v.count6,
    "shr.u r1=r3,count6": lambda v: v.r3 // 2**v.count6,
    "shrp r1=r2,r3,count6": lambda v: (v.r2 * 2**64 + v.r3) // 2**v.count6,
    "extr r1=r3,pos6,len6": lambda v: extracted_signed(v.r3, v.pos6, v.len6),
    "extr.u r1=r3,pos6,len6": lambda v: field(v.r3, v.pos6, v.len6),
    "dep.z r1=r2,pos6,len6": lambda v: deposited(0, v.r2, v.pos6, v.len6),
    "dep.z r1=imm8,pos6,len6": lambda v: deposited(0, v.imm8, v.pos6, v.len6),
    "dep r1=imm1,r3,pos6,len6": lambda v: deposited(v.r3, v.imm1, v.pos6, v.len6),
    "dep r1=r2,r3,pos6,len4": lambda v: deposited(v.r3, v.r2, v.pos6, v.len4),
    "popcnt r1=r3": lambda v: v.r3.bit_count(),
    "zxt1 r1=r3": lambda v: v.r3 % 2**8,
    "zxt2 r1=r3": lambda v: v.r3 % 2**16,
    "zxt4 r1=r3": lambda v: v.r3 % 2**32,
    "sxt1 r1=r3": lambda v: signed(v.r3, 8),
    "sxt2 r1=r3": lambda v: signed(v.r3, 16),
    "sxt4 r1=r3": lambda v: signed(v.r3, 32),
    "czx1.l r1=r3": lambda v: first_zero(v.r3, 8, True),
    "czx1.r r1=r3": lambda v: first_zero(v.r3, 8, False),
    "czx2.l r1=r3": lambda v: first_zero(v.r3, 4, True),
    "czx2.r r1=r3": lambda v: first_zero(v.r3, 4, False),
    "movl r1=imm64": lambda v: v.imm64,
}


def test_every_form_has_a_model() -> None:
    shifts = {"shl r1=r2,r3", "shr r1=r3,r2", "shr.u r1=r3,r2"}
    assert forms("I9", "I10", "I11", "I12", "I13", "I14", "I15", "I29", "X2") | shifts == set(MODELS)


@each("text", MODELS)
def test_result_is_the_models(text: str) -> None:
    check_result(text, MODELS[text])


@pytest.mark.parametrize("text", sorted(forms("I18", "X5")))
def test_nops_and_hints_change_nothing(text: str) -> None:
    done = run(Random(text), text, {"gr": {1: 5}, "br": {3: 7}, "pr": 9, "lc": 4})
    assert (done.status, done.after["gr"], done.after["br"]) == (DONE, {1: 5}, {3: 7})
    assert (done.after["pr"], done.after["lc"], done.after["fault"]) == (9, 4, 0)


@each(("text", "name"), [("break.i imm21", "imm21"), ("break.x imm62", "imm62")])
@each("seed", range(5))
def test_break_hands_over_its_immediate(text: str, name: str, seed: int) -> None:
    done = run(Random(seed), text)
    assert (done.status, done.after["fault_info"]) == (BREAK, done.operands[name])


@pytest.mark.parametrize("nat", [False, True])
@given(st.integers(-(1 << 20), (1 << 20) - 1).map(lambda bundles: bundles * 16))
@examples(10)
def test_chk_s_goes_to_its_target_when_the_nat_bit_is_set(nat: bool, distance: int) -> None:
    here = 0x4000000000001230
    unit, slot, _ = encode("chk.s.i r2,tgt25", bundle_address=here, r2=40, tgt25=here + distance)
    status, after = step(unit, slot, {"nat": {40} if nat else set()}, bundle_address=here)
    assert (status, after["ip"]) == ((CUT, here + distance) if nat else (DONE, 0))


@each("text", sorted(forms("I21")))
@given(value=words)
@examples(4)
def test_mov_to_a_branch_register_takes_all_bits(text: str, value: int) -> None:
    unit, slot, _ = encode(text, b1=5, r2=60, **({"tag13": -4096} if "tag13" in text else {}))
    status, after = step(unit, slot, {"gr": {60: value}, "br": {4: 1, 5: 2}})
    assert (status, after["br"]) == (DONE, {4: 1, 5: value} if value else {4: 1})


@given(words, st.integers(0, 7))
def test_mov_from_a_branch_register(value: int, number: int) -> None:
    unit, slot, _ = encode("mov r1=b2", r1=33, b2=number)
    _, after = step(unit, slot, {"br": {number: value}})
    assert after["gr"].get(33, 0) == value


@given(st.integers(0, (1 << 60) - 1).map(lambda n: n * 16))
def test_mov_from_ip_gives_the_address_of_the_bundle(address: int) -> None:
    unit, slot, _ = encode("mov r1=ip", r1=2)
    _, after = step(unit, slot, {}, bundle_address=address)
    assert after["gr"].get(2, 0) == address


rotations = st.one_of(st.just(0), st.integers(0, 47))
"""CFM.rrb.pr."""


def unrenamed(pr: int, rrb: int) -> int:
    """Predicates as a program sees them under rename base ``rrb``, without it: its p16 is p(16 + rrb)."""
    bits = [(pr >> n) & 1 for n in range(64)]
    rotating = [bits[16 + (n - rrb) % 48] for n in range(48)]
    return sum(bit << n for n, bit in enumerate(bits[:16] + rotating))


@pytest.mark.slow
@given(words, words, st.integers(-(1 << 16), (1 << 16) - 1).map(lambda n: n & ~1), rotations)
def test_mov_to_pr_writes_the_predicates_of_the_mask(pr: int, value: int, mask: int, rrb: int) -> None:
    unit, slot, _ = encode("mov pr=r2,mask17", r2=20, mask17=mask)
    _, after = step(unit, slot, {"gr": {20: value}, "pr": pr | 1, "rrb_pr": rrb})
    # Bit 16 of the mask stands for p16 to p63; p0 is always 1.
    chosen = {n for n in range(1, 16) if mask >> n & 1} | (set(range(16, 64)) if mask >> 16 & 1 else set())
    bits = [(value if n in chosen else unrenamed(pr, rrb)) >> n & 1 for n in range(64)]
    assert unrenamed(after["pr"], rrb) == sum(bit << n for n, bit in enumerate(bits)) | 1


@pytest.mark.slow
@given(words, st.integers(-(1 << 27), (1 << 27) - 1), rotations)
def test_mov_to_pr_rot_sets_the_rotating_predicates(pr: int, value: int, rrb: int) -> None:
    unit, slot, _ = encode("mov pr.rot=imm44", imm44=value << 16)
    _, after = step(unit, slot, {"pr": pr | 1, "rrb_pr": rrb})
    assert unrenamed(after["pr"], rrb) == pr % 2**16 + (value % 2**48) * 2**16 | 1


@pytest.mark.slow
@given(words, rotations)
def test_mov_from_pr_reads_without_renaming_and_p0_as_one(pr: int, rrb: int) -> None:
    unit, slot, _ = encode("mov r1=pr", r1=9)
    _, after = step(unit, slot, {"pr": pr | 1, "rrb_pr": rrb})
    assert after["gr"][9] == unrenamed(pr | 1, rrb)


def write_ar(name: str, value: int) -> tuple[int, dict[str, object]]:
    unit, slot, _ = encode(f"mov.i ar.{name}=r2", r2=8)
    return step(unit, slot, {"gr": {8: value}})


@given(words)
def test_loop_count_takes_all_bits_and_epilog_count_six(value: int) -> None:
    assert write_ar("lc", value)[1]["lc"] == value
    assert write_ar("ec", value)[1]["ec"] == value % 64


@given(words)
def test_pfs_takes_no_reserved_bits(value: int) -> None:
    reserved = field(value, 38, 14) or field(value, 58, 4)
    status, after = write_ar("pfs", value)
    if reserved:
        assert (status, after["fault"], after["pfs"]) == (FAULT, RESERVED_REGISTER_FIELD, 0)
    else:
        assert (status, after["pfs"]) == (DONE, value)


@pytest.mark.parametrize("name", ["lc", "ec"])
@given(value=st.integers(-128, 127))
@examples(10)
def test_immediates_to_application_registers_are_sign_extended(name: str, value: int) -> None:
    unit, slot, _ = encode(f"mov.i ar.{name}=imm8", imm8=value)
    _, after = step(unit, slot, {})
    assert after[name] == value % (64 if name == "ec" else 2**64)


@pytest.mark.parametrize(("name", "value"), [("pfs", 0xC000000000000793), ("lc", MASK), ("ec", 63)])
def test_mov_from_an_application_register(name: str, value: int) -> None:
    unit, slot, _ = encode(f"mov.i r1=ar.{name}", r1=31)
    _, after = step(unit, slot, {name: value})
    assert after["gr"] == {31: value}


def other_ar_is_legal(number: int) -> bool:
    """AR 48-63 and 112-127 are ignored by both units; the rest belong to the M unit or are reserved."""
    return 48 <= number <= 63 or 112 <= number <= 127


@each("number", sorted(set(range(128)) - {64, 65, 66}))
def test_application_registers_of_the_m_unit_are_illegal_here(number: int) -> None:
    for text, operands in (
        ("mov.i ar3=r2", {"r2": 3}),
        ("mov.i ar3=imm8", {"imm8": 1}),
        ("mov.i r1=ar3", {"r1": 4}),
    ):
        unit, slot, _ = encode(text, ar3=number, **operands)
        status, after = step(unit, slot, {"gr": {3: 1, 4: 5}})
        if other_ar_is_legal(number):
            assert (status, after["gr"].get(4, 0)) == (DONE, 0 if text.startswith("mov.i r1") else 5)
        else:
            assert (status, after["fault"], after["gr"]) == (FAULT, ILLEGAL_OPERATION, {3: 1, 4: 5})
