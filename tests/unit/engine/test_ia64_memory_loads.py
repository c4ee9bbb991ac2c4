"""Integer loads: sizes, byte orders, alignment, base updates, faults (SDM volume 3, ld)."""

import pytest
from grids import each
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

SIZES = (1, 2, 4, 8)
END = DATA + DATA_PAGES * PAGE
BYTES = bytes(range(0x81, 0x81 + 48))
TYPES = ("", ".bias", ".acq", ".s", ".a", ".sa", ".c.clr", ".c.nc", ".c.clr.acq")
HINTS = ("", ".nt1", ".nta")


def machine(*lines: str, at: int = DATA, um: int = 0, trace: bool = False) -> Machine:
    """r6 is the address, with BYTES there."""
    m = Machine([*lines, BREAK], trace=trace)
    m.memory.write(at, BYTES)
    return m.set({5: 0xBAD, 6: at}, um=um)


def expected(size: int, offset: int = 0, big: bool = False) -> int:
    return int.from_bytes(BYTES[offset : offset + size], "big" if big else "little")


@each("size", SIZES)
@each("kind", TYPES)
@each("big", [False, True])
def test_load_zero_extends_the_bytes_at_the_address(size: int, kind: str, big: bool) -> None:
    m = machine(f"ld{size}{kind} r5=[r6]", um=UM_BE if big else 0).until_break()
    assert m.cpu.gr(5) == expected(size, big=big)
    assert m.cpu.gr(6) == DATA
    assert not m.cpu.nat(5)


@each("size", SIZES)
@each("kind", TYPES)
@each("step", [-256, -1, 0, 8, 255])
def test_load_adds_the_immediate_to_its_base_afterwards(size: int, kind: str, step: int) -> None:
    m = machine(f"ld{size}{kind} r5=[r6],{step}").until_break()
    assert (m.cpu.gr(5), m.cpu.gr(6)) == (expected(size), DATA + step)


@each("size", SIZES)
@each("kind", TYPES)
@each("step", [0, 24, MASK])
def test_load_adds_the_register_to_its_base_afterwards(size: int, kind: str, step: int) -> None:
    m = machine(f"ld{size}{kind} r5=[r6],r7").set({7: step}).until_break()
    assert (m.cpu.gr(5), m.cpu.gr(6)) == (expected(size), (DATA + step) & MASK)


@each("kind", ["ld8", "ld8.s", "ld8.a", "ld8.sa", "ld8.c.clr", "ld8.c.nc", "ld8.fill", "ld1"])
def test_increment_register_may_be_the_target(kind: str) -> None:
    m = machine(f"{kind} r5=[r6],r5").set({5: 40}).until_break()
    assert m.cpu.gr(5) == expected(int(kind[2]))
    assert m.cpu.gr(6) == DATA + 40


@each("hint", HINTS)
@each("kind", TYPES)
def test_locality_hints_change_nothing(kind: str, hint: str) -> None:
    m = machine(f"ld4{kind}{hint} r5=[r6],4").until_break()
    assert (m.cpu.gr(5), m.cpu.gr(6)) == (expected(4), DATA + 4)


@each("size", (2, 4, 8))
@each("kind", ["", ".a", ".c.nc", ".acq"])
@each("big", [False, True])
def test_unaligned_load_succeeds_and_is_marked(size: int, kind: str, big: bool) -> None:
    m = machine(f"ld{size}{kind} r5=[r6]", um=UM_BE if big else 0).set({6: DATA + 1}).until_break()
    assert m.cpu.gr(5) == expected(size, 1, big)
    assert m.tally.marks(Mark.MISALIGNED_LOAD).marks == 1


@each("size", (2, 4, 8))
@each("big", [False, True])
def test_unaligned_load_reaches_over_a_page_boundary(size: int, big: bool) -> None:
    at = DATA + PAGE - 1
    m = machine(f"ld{size} r5=[r6]", at=at, um=UM_BE if big else 0).until_break()
    assert m.cpu.gr(5) == expected(size, big=big)


@each("size", (2, 4, 8))
@each("kind", ["", ".a", ".c.clr", ".acq", ".bias"])
def test_unaligned_load_faults_under_alignment_check(size: int, kind: str) -> None:
    m = machine("adds r9=1,r0", f"ld{size}{kind} r5=[r6],8", um=UM_AC).set({6: DATA + 1})
    m.until_fault(UNALIGNED)
    assert (m.cpu.fault_address, m.cpu.gr(5), m.cpu.gr(6), m.cpu.gr(9)) == (DATA + 1, 0xBAD, DATA + 1, 1)
    assert m.tally.marks(Mark.MISALIGNED_LOAD).marks == 0


@each("kind", ["ld1", "ld8", "ld4.a", "ld2.c.nc", "ld8.fill", "ld8.acq"])
def test_load_from_nowhere_faults_and_changes_nothing(kind: str) -> None:
    m = machine(f"{kind} r5=[r6],8").set({6: UNMAPPED}).until_fault(NOT_PRESENT)
    assert (m.cpu.fault_address, m.cpu.gr(5), m.cpu.gr(6)) == (UNMAPPED, 0xBAD, UNMAPPED)


def test_unmapped_address_takes_precedence_over_its_alignment() -> None:
    machine("ld8 r5=[r6]", um=UM_AC).set({6: UNMAPPED + 1}).until_fault(NOT_PRESENT)
    machine("ld16 r5,ar.csd=[r6]").set({6: UNMAPPED + 1}).until_fault(NOT_PRESENT)
    machine("xchg8 r5=[r6],r7").set({6: UNMAPPED + 1}).until_fault(NOT_PRESENT)


def test_load_over_the_end_of_memory_faults_there_without_a_mark() -> None:
    m = machine("ld8 r5=[r6]").set({6: END - 4}).until_fault(NOT_PRESENT)
    assert m.cpu.fault_address == END
    assert m.tally.marks(Mark.MISALIGNED_LOAD).marks == 0


def test_load_from_a_page_without_read_permission_faults() -> None:
    m = machine("ld8 r5=[r6]")
    m.memory.protect(DATA, PAGE, 2)
    m.until_fault(ACCESS_RIGHTS)


def test_load_reads_a_read_only_page() -> None:
    m = machine("ld8 r5=[r6]").set({6: READ_ONLY})
    m.put(READ_ONLY, 77)
    assert m.until_break().cpu.gr(5) == 77


@pytest.mark.parametrize("register", [1, 31, 32, 38])
def test_load_reaches_every_register_of_the_frame(register: int) -> None:
    m = Machine(["alloc r2=ar.pfs,7,0,0", f"ld8 r{register}=[r6]", BREAK]).set({6: DATA})
    m.put(DATA, 4711)
    assert m.until_break().cpu.gr(register) == 4711


@each("big", [False, True])
@each("completer", ["", ".acq", ".nta", ".acq.nt1"])
def test_ld16_takes_the_first_word_and_csd_the_second(big: bool, completer: str) -> None:
    m = machine(f"ld16{completer} r5,ar.csd=[r6]", um=UM_BE if big else 0).until_break()
    assert (m.cpu.gr(5), m.cpu.ar("csd")) == (expected(8, 0, big), expected(8, 8, big))


@pytest.mark.parametrize("offset", [1, 4, 8])
def test_ld16_never_works_unaligned(offset: int) -> None:
    machine("ld16 r5,ar.csd=[r6]").set({6: DATA + offset}).until_fault(UNALIGNED)


def test_predicated_off_load_touches_nothing() -> None:
    m = machine("(p6) ld8 r5=[r6],8").set({6: UNMAPPED}).until_break()
    assert (m.cpu.gr(5), m.cpu.gr(6)) == (0xBAD, UNMAPPED)


@pytest.mark.parametrize("text", ["ld8 r0=[r6]", "ld8 r5=[r5],8", "ld8 r5=[r0],8", "ld8 r5=[r5],r7", "ld8.s r0=[r6]"])
def test_load_with_impossible_targets_is_illegal(text: str) -> None:
    machine(text).until_fault(1)


def test_load_from_r0_reads_address_zero() -> None:
    machine("ld8 r5=[r0]").until_fault(NOT_PRESENT)
