"""Integer stores, 16-byte stores and semaphores (SDM volume 3: st, cmpxchg, cmp8xchg16, fetchadd, xchg)."""

import pytest
from example_counts import examples
from grids import each, sampled
from hypothesis import given
from hypothesis import strategies as st
from ia64_assembly import BREAK
from ia64_machine import (
    ACCESS_RIGHTS,
    DATA,
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

SIZES = (1, 2, 4, 8)
VALUE = 0x8123456789ABCDEF
FILL = 0xAA


def machine(*lines: str, um: int = 0) -> Machine:
    """r6 is an address amid bytes FILL, r5 holds VALUE."""
    m = Machine([*lines, BREAK])
    m.memory.write(DATA, bytes([FILL]) * 64)
    return m.set({5: VALUE, 6: DATA + 16, 7: 0x55}, um=um)


def written(m: Machine, at: int, data: bytes) -> bool:
    """Whether these bytes, and no others of the 64, are not FILL."""
    whole = bytearray([FILL]) * 64
    whole[at - DATA : at - DATA + len(data)] = data
    return m.memory.read(DATA, 64) == bytes(whole)


@each("size", SIZES)
@each("kind", ["", ".rel", ".nta", ".rel.nta"])
@each("big", [False, True])
@each("step", ["", ",-256", ",255"])
def test_store_writes_the_low_bytes(size: int, kind: str, big: bool, step: str) -> None:
    m = machine(f"st{size}{kind} [r6]=r5{step}", um=UM_BE if big else 0).until_break()
    assert written(m, DATA + 16, (VALUE % 2 ** (8 * size)).to_bytes(size, "big" if big else "little"))
    assert m.cpu.gr(6) == DATA + 16 + int(step[1:] or 0)


@each("size", (2, 4, 8))
@each("big", [False, True])
def test_unaligned_store_succeeds_and_is_marked(size: int, big: bool) -> None:
    m = machine(f"st{size} [r6]=r5", um=UM_BE if big else 0).set({6: DATA + 17}).until_break()
    assert written(m, DATA + 17, (VALUE % 2 ** (8 * size)).to_bytes(size, "big" if big else "little"))
    assert m.tally.marks(Mark.MISALIGNED_STORE).marks == 1


@pytest.mark.parametrize("size", (2, 4, 8))
def test_unaligned_store_faults_under_alignment_check(size: int) -> None:
    m = machine(f"st{size} [r6]=r5,8", um=UM_AC).set({6: DATA + 17}).until_fault(UNALIGNED)
    assert written(m, DATA, b"")
    assert (m.cpu.fault_address, m.cpu.gr(6)) == (DATA + 17, DATA + 17)


@each("split", range(1, 8))
def test_unaligned_store_reaches_over_a_page_boundary(split: int) -> None:
    at = DATA + PAGE - split
    m = machine("st8 [r6]=r5").set({6: at}).until_break()
    assert m.word(at) == VALUE


@each("split", range(1, 8))
def test_store_over_the_end_of_memory_writes_nothing(split: int) -> None:
    at = READ_ONLY - split
    m = machine("st8 [r6]=r5").set({6: at})
    m.memory.map(READ_ONLY - PAGE, PAGE, 3)
    m.until_fault(ACCESS_RIGHTS)
    assert m.memory.read(at, split) == bytes(split)
    assert m.cpu.fault_address == READ_ONLY
    assert m.tally.marks(Mark.MISALIGNED_STORE).marks == 0


@each("text", ["st1 [r6]=r5,1", "st8.rel [r6]=r5", "st8.spill [r6]=r5,8", "st16 [r6]=r5,ar.csd"])
@each(("address", "vector"), [(UNMAPPED, NOT_PRESENT), (READ_ONLY, ACCESS_RIGHTS)])
def test_store_where_it_may_not_faults(text: str, address: int, vector: int) -> None:
    m = machine(text).set({6: address}, unat=6).until_fault(vector)
    assert (m.cpu.fault_address, m.cpu.gr(6), m.cpu.ar("unat")) == (address, address, 6)


def test_store_to_its_own_base_stores_the_old_value() -> None:
    m = machine("st8 [r6]=r6,8").until_break()
    assert (m.word(DATA + 16), m.cpu.gr(6)) == (DATA + 16, DATA + 24)


@each("big", [False, True])
@each("completer", ["", ".rel", ".nta", ".rel.nta"])
def test_st16_writes_the_source_and_csd(big: bool, completer: str) -> None:
    m = machine(f"st16{completer} [r6]=r5,ar.csd", um=UM_BE if big else 0).set(csd=0x1122334455667788).until_break()
    way = "big" if big else "little"
    assert written(m, DATA + 16, VALUE.to_bytes(8, way) + (0x1122334455667788).to_bytes(8, way))


@pytest.mark.parametrize("offset", [1, 4, 8])
def test_st16_never_works_unaligned(offset: int) -> None:
    machine("st16 [r6]=r5,ar.csd").set({6: DATA + offset}).until_fault(UNALIGNED)


# --- semaphores

CELLS = st.sampled_from([0, 1, 0x7F, 0x80, 0xFFFF, 0x12345678, VALUE, MASK])


@pytest.mark.slow
@examples(60)
@given(
    size=st.sampled_from(SIZES),
    kind=st.sampled_from(["acq", "rel"]),
    cell=CELLS,
    compare=CELLS,
    match=st.booleans(),
    big=st.booleans(),
)
def test_cmpxchg_stores_when_the_whole_of_ccv_is_equal(
    size: int, kind: str, cell: int, compare: int, match: bool, big: bool
) -> None:
    way = "big" if big else "little"
    cell %= 2 ** (8 * size)
    compare = cell if match else compare
    m = machine(f"cmpxchg{size}.{kind} r8=[r6],r5,ar.ccv", um=UM_BE if big else 0).set(ccv=compare)
    m.memory.write(DATA + 16, cell.to_bytes(size, way))
    m.until_break()
    assert m.cpu.gr(8) == cell
    new = VALUE % 2 ** (8 * size) if cell == compare else cell
    assert written(m, DATA + 16, new.to_bytes(size, way))


@each("size", SIZES)
@each("hint", ["", ".nt1", ".nta"])
@each("big", [False, True])
def test_xchg_exchanges(size: int, hint: str, big: bool) -> None:
    m = machine(f"xchg{size}{hint} r8=[r6],r5", um=UM_BE if big else 0).until_break()
    assert m.cpu.gr(8) == int.from_bytes(bytes([FILL]) * size, "big")
    assert written(m, DATA + 16, (VALUE % 2 ** (8 * size)).to_bytes(size, "big" if big else "little"))


@sampled(60)
@each("size", (4, 8))
@each("kind", ["acq", "rel", "acq.nta"])
@each("increment", [-16, -8, -4, -1, 1, 4, 8, 16])
@each("cell", [0, 5, MASK, 2**31 - 1, 2**32 - 1])
def test_fetchadd_adds_and_returns_the_old_value(size: int, kind: str, increment: int, cell: int) -> None:
    m = machine(f"fetchadd{size}.{kind} r8=[r6],{increment}")
    cell %= 2 ** (8 * size)
    m.put(DATA + 16, cell, size)
    m.until_break()
    assert m.cpu.gr(8) == cell
    assert written(m, DATA + 16, ((cell + increment) % 2 ** (8 * size)).to_bytes(size, "little"))


def test_fetchadd_counts_in_big_endian_memory() -> None:
    m = machine("fetchadd4.acq r8=[r6],1", um=UM_BE)
    m.memory.write(DATA + 16, bytes([0, 0, 0, 0xFF]))
    assert m.until_break().cpu.gr(8) == 0xFF
    assert m.memory.read(DATA + 16, 4) == bytes([0, 0, 1, 0])


@each("kind", ["acq", "rel"])
@each("offset", [0, 8])
@each("equal", [False, True])
@each("big", [False, True])
def test_cmp8xchg16_compares_eight_bytes_and_writes_sixteen(kind: str, offset: int, equal: bool, big: bool) -> None:
    way = "big" if big else "little"
    m = machine(f"cmp8xchg16.{kind} r8=[r6],r5,ar.csd,ar.ccv", um=UM_BE if big else 0)
    m.memory.write(DATA + 16 + offset, (99).to_bytes(8, way))
    m.set({6: DATA + 16 + offset}, csd=0x77, ccv=99 if equal else 98).until_break()
    assert m.cpu.gr(8) == 99
    if equal:
        assert written(m, DATA + 16, VALUE.to_bytes(8, way) + (0x77).to_bytes(8, way))
    else:
        assert written(m, DATA + 16 + offset, (99).to_bytes(8, way))


SEMAPHORES = (
    "xchg8 r8=[r6],r5",
    "cmpxchg8.acq r8=[r6],r5,ar.ccv",
    "fetchadd8.rel r8=[r6],1",
    "cmp8xchg16.acq r8=[r6],r5,ar.csd,ar.ccv",
)


@pytest.mark.parametrize("text", SEMAPHORES)
def test_semaphore_never_works_unaligned(text: str) -> None:
    m = machine(text).set({6: DATA + 20}).until_fault(UNALIGNED)
    assert m.cpu.fault_address == DATA + 20


@pytest.mark.parametrize("text", SEMAPHORES)
def test_semaphore_wants_a_writable_page_even_if_it_would_not_write(text: str) -> None:
    machine(text).set({6: READ_ONLY}, ccv=12345).until_fault(ACCESS_RIGHTS)


@pytest.mark.parametrize("text", SEMAPHORES)
def test_semaphore_wants_a_readable_page(text: str) -> None:
    m = machine(text)
    m.memory.protect(DATA, PAGE, 2)
    m.until_fault(ACCESS_RIGHTS)


@pytest.mark.parametrize("text", SEMAPHORES)
def test_semaphore_faults_at_an_unmapped_address(text: str) -> None:
    machine(text).set({6: UNMAPPED}).until_fault(NOT_PRESENT)


@pytest.mark.parametrize("text", ["xchg8 r5=[r6],r5", "cmpxchg8.acq r5=[r6],r5,ar.ccv"])
def test_semaphore_stores_its_source_before_it_is_overwritten(text: str) -> None:
    m = machine(text).set(ccv=7)
    m.put(DATA + 16, 7)
    m.until_break()
    assert (m.cpu.gr(5), m.word(DATA + 16)) == (7, VALUE)
