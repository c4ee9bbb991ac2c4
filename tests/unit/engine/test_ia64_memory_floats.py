"""Floating-point loads, stores, pairs and transfers (SDM volume 1, 5.3; volume 3: ldf, ldfp, stf, setf, getf)."""

import struct

import pytest
from example_counts import examples
from grids import each, sampled
from hypothesis import given
from hypothesis import strategies as st
from ia64_assembly import BREAK
from ia64_machine import (
    ACCESS_RIGHTS,
    DATA,
    DATA_PAGES,
    MASK,
    NOT_PRESENT,
    PAGE,
    READ_ONLY,
    UM_AC,
    UM_BE,
    UNALIGNED,
    UNMAPPED,
    Machine,
)

from pfmon.stream.marks import Mark

END = DATA + DATA_PAGES * PAGE
NATVAL = (0, 0x1FFFE, 0)
SIZES = {"s": 4, "d": 8, "8": 8, "e": 10}
DATA_BITS = bytes([0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF1, 0x42, 0xC3, 0x77, 0x55, 0x33, 0x11, 0x99, 0x88])


def register(form: str, data: bytes) -> tuple[int, int, int]:
    """Sign, exponent and significand of little-endian data, by the tables of volume 1, 5.3.1."""
    bits = int.from_bytes(data, "little")
    if form == "8":
        return 0, 0x1003E, bits
    if form == "e":
        significand, sign, exponent = bits % 2**64, bits >> 79, bits >> 64 & 0x7FFF
        if exponent == 0x7FFF:
            return sign, 0x1FFFF, significand
        return sign, exponent + 0xC000 if exponent else 0, significand
    width, fraction_bits, low = (8, 23, 0xFF80) if form == "s" else (11, 52, 0xFC00)
    sign, fraction = bits >> (width + fraction_bits), bits % 2**fraction_bits << 63 - fraction_bits
    exponent = bits >> fraction_bits & 2**width - 1
    if exponent == 0:
        return sign, low + 1 if fraction else 0, fraction
    return sign, 0x1FFFF if exponent == 2**width - 1 else exponent + low, fraction | 1 << 63


def machine(*lines: str, um: int = 0, data: bytes = DATA_BITS, at: int = DATA) -> Machine:
    m = Machine([*lines, BREAK])
    m.memory.write(at, data)
    return m.set({6: at, 7: 24}, um=um)


@sampled(60)
@each("form", SIZES)
@each("kind", ["", ".s", ".a", ".sa", ".c.clr", ".c.nc", ".nta"])
@each("big", [False, True])
@each(("tail", "step"), [("", 0), (",-17", -17), (",r7", 24)])
def test_load(form: str, kind: str, big: bool, tail: str, step: int) -> None:
    m = machine(f"ldf{form}{kind} f9=[r6]{tail}", um=UM_BE if big else 0).until_break()
    data = DATA_BITS[: SIZES[form]]
    assert m.fr(9) == register(form, data[::-1] if big else data)
    assert m.cpu.gr(6) == DATA + step


@pytest.mark.slow
@examples(80)
@given(form=st.sampled_from(list(SIZES)), data=st.binary(min_size=16, max_size=16), big=st.booleans())
def test_what_is_loaded_is_stored_again(form: str, data: bytes, big: bool) -> None:
    size = SIZES[form]
    m = machine(f"ldf{form} f9=[r6]", f"stf{form} [r8]=f9,{size}", um=UM_BE if big else 0, data=data)
    m.set({8: DATA + 64}).until_break()
    stored = m.memory.read(DATA + 64, 16)
    assert stored[:size] == data[:size]
    assert stored[size:] == bytes(16 - size)
    assert m.cpu.gr(8) == DATA + 64 + size


@each("big", [False, True])
@each("value", [(1, 0x1ABCD, 0x123456789ABCDEF0), (0, 3, MASK), NATVAL])
def test_spill_and_fill_keep_all_82_bits(big: bool, value: tuple[int, int, int]) -> None:
    m = machine("stf.spill [r6]=f9,16", "adds r8=-16,r6", "ldf.fill f10=[r8]", um=UM_BE if big else 0)
    m.set_fr(9, *value)
    m.until_break()
    assert m.fr(10) == value
    whole = value[2] | value[1] << 64 | value[0] << 81
    assert m.memory.read(DATA, 16) == whole.to_bytes(16, "big" if big else "little")


@each("form", SIZES)
@each("big", [False, True])
def test_unaligned_accesses_succeed_and_are_marked_once(form: str, big: bool) -> None:
    size = SIZES[form]
    m = machine(f"ldf{form} f9=[r6]", f"stf{form} [r8]=f9", um=UM_BE if big else 0, at=DATA + 1)
    m.set({8: DATA + PAGE - 3}).until_break()
    assert m.memory.read(DATA + PAGE - 3, size) == DATA_BITS[:size]
    assert m.tally.marks(Mark.MISALIGNED_LOAD).marks == m.tally.marks(Mark.MISALIGNED_STORE).marks == 1


@pytest.mark.parametrize("text", ["ldfd f9=[r6]", "ldfe f9=[r6]", "stfs [r6]=f1", "stfe [r6]=f1", "stf.spill [r6]=f1"])
def test_unaligned_accesses_fault_under_alignment_check(text: str) -> None:
    machine(text, um=UM_AC).set({6: DATA + 2}).until_fault(UNALIGNED)


def test_extended_data_needs_ten_bytes_only() -> None:
    m = machine("ldfe f9=[r6]", "stfe [r6]=f9", at=END - 10, data=DATA_BITS[:10]).until_break()
    assert m.fr(9) == register("e", DATA_BITS[:10])
    assert m.memory.read(END - 10, 10) == DATA_BITS[:10]


@each("split", range(1, 10))
def test_extended_store_over_the_end_of_memory_writes_nothing(split: int) -> None:
    m = machine("stfe [r6]=f1").set({6: END - split}).until_fault(NOT_PRESENT)
    assert m.memory.read(END - 16, 16) == bytes(16)


@pytest.mark.parametrize("text", ["stfd [r6]=f1", "stfe [r6]=f1,16", "stf.spill [r6]=f1"])
def test_store_to_a_read_only_page_faults(text: str) -> None:
    m = machine(text).set({6: READ_ONLY}).until_fault(ACCESS_RIGHTS)
    assert m.cpu.gr(6) == READ_ONLY


@each("form", ["s", "d", "8"])
@each("kind", ["", ".s", ".a", ".sa", ".c.clr", ".c.nc"])
@each("big", [False, True])
@each("update", [False, True])
def test_load_pair(form: str, kind: str, big: bool, update: bool) -> None:
    size = SIZES[form]
    m = machine(f"ldfp{form}{kind} f9,f10=[r6]{f',{2 * size}' if update else ''}", um=UM_BE if big else 0).until_break()
    for number in (0, 1):
        data = DATA_BITS[number * size :][:size]
        assert m.fr(9 + number) == register(form, data[::-1] if big else data)
    assert m.cpu.gr(6) == DATA + (2 * size if update else 0)


@each("pair", ["f8,f10", "f9,f11", "f8,f8", "f0,f9", "f8,f1", "f33,f35"])
def test_load_pair_wants_an_odd_and_an_even_register(pair: str) -> None:
    machine(f"ldfpd {pair}=[r6]").until_fault(1)


@pytest.mark.parametrize("text", ["ldfd.s f9=[r6],8", "ldfe.sa f9=[r6],8", "ldfps.s f9,f10=[r6],8"])
def test_speculative_load_from_nowhere_delivers_natval(text: str) -> None:
    m = machine(text).set({6: UNMAPPED}).until_break()
    assert (m.fr(9), m.cpu.gr(6)) == (NATVAL, UNMAPPED + 8)
    assert m.fr(10) == (NATVAL if "p" in text else (0, 0, 0))
    assert m.tally.marks(Mark.DEFERRED).marks == 1


@pytest.mark.parametrize("text", ["ldfd f9=[r6],8", "ldfs.a f9=[r6],8", "ldf8.c.nc f9=[r6],8", "ldfpd f9,f10=[r6],16"])
def test_load_from_nowhere_faults_and_changes_nothing(text: str) -> None:
    m = machine(text).set({6: UNMAPPED}).until_fault(NOT_PRESENT)
    assert (m.fr(9), m.cpu.gr(6)) == ((0, 0, 0), UNMAPPED)


@examples(60)
@given(value=st.integers(0, MASK))
def test_transfers_from_general_registers(value: int) -> None:
    m = machine("setf.sig f9=r8", "setf.exp f10=r8", "setf.s f11=r8", "setf.d f12=r8").set({8: value}).until_break()
    assert m.fr(9) == (0, 0x1003E, value)
    assert m.fr(10) == (value >> 17 & 1, value & 0x1FFFF, 1 << 63)
    assert m.fr(11) == register("s", value.to_bytes(8, "little")[:4])
    assert m.fr(12) == register("d", value.to_bytes(8, "little"))


@pytest.mark.slow
@examples(60)
@given(number=st.floats(width=32, allow_nan=False))
def test_transfers_to_general_registers(number: float) -> None:
    double = struct.unpack("<Q", struct.pack("<d", number))[0]
    single = struct.unpack("<I", struct.pack("<f", number))[0]
    lines = ["setf.d f9=r8", "getf.d r9=f9", "setf.s f10=r10", "getf.s r11=f10", "getf.sig r12=f9", "getf.exp r13=f9"]
    m = machine(*lines).set({8: double, 10: single}).until_break()
    assert (m.cpu.gr(9), m.cpu.gr(11)) == (double, single)
    sign, exponent, significand = register("d", double.to_bytes(8, "little"))
    assert (m.cpu.gr(12), m.cpu.gr(13)) == (significand, sign << 17 | exponent)


@pytest.mark.parametrize("text", ["ldfd f0=[r6]", "ldfd f1=[r6]", "setf.sig f0=r8", "setf.d f1=r8", "ldf.fill f1=[r6]"])
def test_constants_cannot_be_written(text: str) -> None:
    machine(text).until_fault(1)
