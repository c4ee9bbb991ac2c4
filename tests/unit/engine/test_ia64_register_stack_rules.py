"""alloc, cover, flushrs, loadrs, branch returns and the backing store: rules and faults (SDM volume 2, 6.5)."""

import pytest
from grids import each
from ia64_assembly import BREAK, CODE, instruction, join
from ia64_machine import (
    BACKING_STORE,
    DATA,
    ILLEGAL_OPERATION,
    MASK,
    PAGE,
    REGISTER_NAT_CONSUMPTION,
    RESERVED_REGISTER_FIELD,
    STORE,
    STORE_PAGES,
    UM_BE,
    UNMAPPED,
    Machine,
)

from pfmon.engine.ia64._ia64 import Processor
from pfmon.stream.marks import Mark

LEVEL_3 = 3 << 62


@pytest.mark.parametrize(("sof", "sol", "sor"), [(97, 0, 0), (8, 9, 0), (7, 0, 8), (127, 127, 0), (96, 97, 96)])
def test_impossible_frames_are_illegal(sof: int, sol: int, sor: int) -> None:
    m = Machine([f"alloc r3=ar.pfs,{sof},{sol},{sor}", BREAK], frame=3).until_fault(ILLEGAL_OPERATION)
    assert m.cpu.cfm == 3


def test_alloc_under_a_predicate_is_illegal() -> None:
    code = join(0, (instruction("alloc r3=ar.pfs,4,4,0")[1] | 6, *[instruction("nop.i 0")[1]] * 2))
    Machine([code, BREAK]).set(pr=1 << 6).until_fault(ILLEGAL_OPERATION)


@pytest.mark.parametrize("base", [1 << 18, 5 << 25, 7 << 32])
def test_alloc_cannot_resize_the_rotating_region_while_registers_are_renamed(base: int) -> None:
    frame = 16 | 1 << 14 | base
    Machine(["alloc r3=ar.pfs,16,0,16", BREAK], frame=frame).until_fault(RESERVED_REGISTER_FIELD)
    m = Machine(["alloc r3=ar.pfs,20,9,8", BREAK], frame=frame).until_break()
    assert m.cpu.cfm == 20 | 9 << 7 | 1 << 14 | base


def test_alloc_target_is_judged_by_the_new_frame() -> None:
    Machine(["alloc r36=ar.pfs,4,4,0", BREAK], frame=96).until_fault(ILLEGAL_OPERATION)
    assert Machine(["alloc r35=ar.pfs,4,4,0", BREAK]).set(pfs=99).until_break().cpu.gr(35) == 99


@each("text", ["adds r36=1,r0", "ld8 r36=[r6]", "ld8 r5=[r36],8", "movl r36=1", "(p0) adds r127=0,r0"])
@each("in_block", [False, True])
def test_writing_outside_the_frame_is_illegal(text: str, in_block: bool) -> None:
    lines = ["alloc r3=ar.pfs,4,4,0"] + ([] if in_block else ["br.cond.sptk.few next", "next:"])
    m = Machine([*lines, text, BREAK]).set({6: DATA}).until_fault(ILLEGAL_OPERATION)
    assert m.cpu.cfm == 4 | 4 << 7


def test_predicated_off_write_outside_the_frame_is_none() -> None:
    Machine(["(p6) adds r60=1,r0", BREAK]).until_break()
    Machine(["alloc r3=ar.pfs,4,4,0", "(p6) adds r60=1,r0", BREAK]).until_break()


@pytest.mark.parametrize("rse_big", [False, True])
@pytest.mark.parametrize("data_big", [False, True])
def test_rse_has_a_byte_order_of_its_own(rse_big: bool, data_big: bool) -> None:
    lines = ["alloc r3=ar.pfs,1,1,0", "movl r32=0x123456789abcdef", "cover", "flushrs", "br.ret.sptk.few b0"]
    m = Machine(lines).set(um=UM_BE if data_big else 0, rsc=0x1C if rse_big else 0xC)
    m.run()  # an empty PFS: it returns nowhere
    assert m.memory.read(STORE, 8) == (0x123456789ABCDEF).to_bytes(8, "big" if rse_big else "little")
    m.memory.write(STORE, (0x1122334455667788).to_bytes(8, "big" if rse_big else "little"))
    m.cpu.set_ar("bspstore", STORE + 8)
    m.set(pfs=1 | 1 << 7 | LEVEL_3).cpu.set_br(0, CODE + 16 * 9)
    m.cpu.set_ip(CODE + 16 * 4)
    m.run()
    assert m.cpu.gr(32) == 0x1122334455667788


def test_frames_are_counted_past_nat_collections() -> None:
    lines = [
        "alloc r3=ar.pfs,63,63,0",
        "cover",
        "mov.m r8=ar.bsp",
        "alloc r3=ar.pfs,62,62,0",
        "cover",
        "mov.m r9=ar.bsp",
    ]
    m = Machine([*lines, BREAK]).until_break()
    assert (m.cpu.gr(8), m.cpu.gr(9)) == (STORE + 64 * 8, STORE + (64 + 62) * 8)


def deep(levels: int, locals_: int) -> list[str]:
    """A function that calls itself, and sums on its way back what it kept in its last local."""
    last = 31 + locals_
    return [
        "alloc r3=ar.pfs,0,0,0",
        "br.call.sptk.few b1=function",
        BREAK,
        "function:",
        f"alloc r32=ar.pfs,{locals_},{locals_},0",
        "mov r33=b1",
        f"adds r{last}=0,r8",
        "adds r8=-1,r8",
        "cmp.eq p6,p7=r8,r0",
        "(p7) br.call.sptk.few b1=function",
        f"add r9=r9,r{last}",
        "mov b1=r33",
        "mov.i ar.pfs=r32",
        "br.ret.sptk.few b1",
    ]


@pytest.mark.parametrize(("levels", "size"), [(3, 8), (100, 7), (300, 63), (200, 96), (5000, 3)])
def test_deep_recursion_comes_back_with_its_locals(levels: int, size: int) -> None:
    m = Machine(deep(levels, size)).set({8: levels}).until_break()
    assert m.cpu.gr(9) == levels * (levels + 1) // 2
    spilled, filled = m.tally.marks(Mark.SPILL), m.tally.marks(Mark.FILL)
    assert spilled.low == filled.low == max(0, levels * size - 96)


def test_recursion_beyond_the_backing_store_faults() -> None:
    m = Machine(deep(0, 96)).set({8: MASK}).until_fault(BACKING_STORE)
    assert m.cpu.fault_address == STORE + STORE_PAGES * PAGE


def test_alloc_goes_on_when_its_backing_store_was_mapped_after_the_fault() -> None:
    end = STORE + STORE_PAGES * PAGE
    m = Machine(deep(0, 96)).set({8: 200}, bspstore=end - 808).until_fault(BACKING_STORE)
    m.memory.map(end, 32 * PAGE, 3)
    assert m.until_break().cpu.gr(9) == 200 * 201 // 2


def test_return_to_unreadable_frames_faults_and_changes_nothing() -> None:
    pfs = 20 | 20 << 7 | LEVEL_3 | 5 << 52
    m = (
        Machine(["br.ret.sptk.few b1"], frame=7 | 3 << 7)
        .set(pfs=pfs, ec=9, bspstore=STORE + 40)
        .until_fault(BACKING_STORE)
    )
    assert (m.cpu.cfm, m.cpu.ar("ec"), m.cpu.ar("bsp"), m.cpu.ip) == (7 | 3 << 7, 9, STORE + 40, CODE | 2)
    assert m.cpu.fault_address == STORE - 16  # above it, a NaT collection


@pytest.mark.parametrize("pfs", [97 | 8 << 7, 5 | 6 << 7, 127 | 127 << 7 | 3 << 14 | 77 << 18])
def test_return_to_a_frame_that_cannot_be_leaves_an_empty_one(pfs: int) -> None:
    m = Machine(["br.ret.sptk.few b1", BREAK], frame=7 | 3 << 7).set(pfs=pfs | LEVEL_3, bspstore=STORE + 8 * 1000)
    m.cpu.set_br(1, CODE + 16)
    m.until_break()
    assert m.cpu.cfm == 0
    assert m.cpu.ar("bsp") < STORE + 8 * 1000


def test_return_that_would_push_out_dirty_registers_leaves_an_empty_frame() -> None:
    lines = ["alloc r3=ar.pfs,90,90,0", "cover", "alloc r3=ar.pfs,4,0,0", "br.ret.sptk.few b1", BREAK]
    m = Machine(lines).set(pfs=60 | LEVEL_3)
    m.cpu.set_br(1, CODE + 16 * 4)
    m.until_break()
    assert (m.cpu.cfm, m.cpu.ar("bsp")) == (0, STORE + 91 * 8)


@pytest.mark.parametrize(("rsc", "frame"), [(3 | 8 << 16, 0), (1, 0), (8 << 16, 1), (97 * 8 + 16 << 16, 0)])
def test_loadrs_wants_lazy_mode_an_empty_frame_and_no_more_than_there_are(rsc: int, frame: int) -> None:
    m = Machine(["loadrs", BREAK], frame=frame).set(rsc=rsc, bspstore=STORE + 4096).until_fault(ILLEGAL_OPERATION)
    assert m.cpu.ar("bspstore") == STORE + 4096


def test_loadrs_of_nothing_drops_dirty_registers() -> None:
    lines = ["alloc r3=ar.pfs,9,9,0", "cover", "loadrs", "mov.m r8=ar.bspstore", "mov.m r9=ar.bsp", BREAK]
    m = Machine(lines).set(rsc=0).until_break()
    assert m.cpu.gr(8) == m.cpu.gr(9) == STORE + 72
    assert m.memory.read(STORE, 72) == bytes(72)


@each("text", ["mov.m r8=ar.bspstore", "mov.m r8=ar.rnat", "mov.m ar.bspstore=r0", "mov.m ar.rnat=r0"])
@each("mode", [0, 1, 2, 3])
def test_backing_store_registers_want_lazy_mode(text: str, mode: int) -> None:
    m = Machine([text, BREAK]).set(rsc=mode)
    if mode:
        m.until_fault(ILLEGAL_OPERATION)
    else:
        m.until_break()


def test_dirty_registers_move_to_a_new_backing_store() -> None:
    lines = ["alloc r3=ar.pfs,70,70,0", "movl r32=11", "movl r101=22", "cover", "mov.m ar.bspstore=r6", "flushrs"]
    m = Machine([*lines, "mov.m r8=ar.bsp", BREAK]).set({6: DATA + 512}, rsc=0).until_break()
    assert m.word(DATA + 512) == 11
    assert m.word(DATA + 512 + 8 * 70) == 22  # one collection in between
    assert m.cpu.gr(8) == DATA + 512 + 8 * 71
    assert m.memory.read(STORE, 600) == bytes(600)


def test_nat_bits_are_in_the_collection_and_in_rnat() -> None:
    lines = ["alloc r3=ar.pfs,66,66,0", "ld8.s r33=[r6]", "ld8.s r96=[r6]", "cover", "flushrs", "mov.m r8=ar.rnat"]
    m = Machine([*lines, BREAK]).set({6: UNMAPPED}, rsc=0).until_break()
    assert m.word(STORE + 63 * 8) == 1 << 1
    assert m.cpu.gr(8) & 7 == 1 << 1  # r95, r96, r97 stand above the collection


def test_nat_of_a_register_beyond_a_shrunk_frame_does_not_come_back() -> None:
    lines = ["alloc r3=ar.pfs,9,0,0", "ld8.s r40=[r6]", "alloc r3=ar.pfs,8,0,0", "alloc r3=ar.pfs,9,0,0"]
    m = Machine([*lines, "adds r40=0,r0", "mov.m ar.ccv=r40", BREAK]).set({6: UNMAPPED}).until_break()
    assert not m.cpu.nat(40)


def test_consuming_an_output_that_came_with_its_nat_faults() -> None:
    lines = ["alloc r3=ar.pfs,2,1,0", "ld8.s r33=[r6]", "br.call.sptk.few b1=next", "next:", "mov.m ar.ccv=r32"]
    Machine([*lines, BREAK]).set({6: UNMAPPED}).until_fault(REGISTER_NAT_CONSUMPTION)


# --- what the system-call layer does with frames


def test_covered_frame_is_restored_as_it_was() -> None:
    cfm = 40 | 30 << 7 | 2 << 14 | 5 << 18 | 9 << 25 | 3 << 32
    m = Machine([BREAK], frame=cfm)
    for number in range(32, 72):
        m.cpu.set_gr(number, number, number == 50)
    m.set(pr=1 | 5 << 20)
    bsp = m.cpu.cover_and_flush()
    assert bsp == m.cpu.ar("bspstore") == STORE + 320
    m.cpu.set_cfm(3)
    assert m.cpu.restore_frame(bsp, cfm)
    assert m.cpu.cfm == cfm
    assert [m.cpu.gr(n) for n in range(32, 72) if n != 50] == [n for n in range(32, 72) if n != 50]
    assert [n for n in range(128) if m.cpu.nat(n)] == [50]
    assert m.cpu.pr == 1 | 5 << 20


@pytest.mark.parametrize("cfm", [127, 5 | 100 << 7, 96 | 97 << 7, MASK])
def test_frame_marker_that_no_frame_has_is_refused(cfm: int) -> None:
    cpu: Processor = Machine([BREAK]).cpu
    with pytest.raises(ValueError, match="marker"):
        cpu.set_cfm(cfm)
    assert cpu.restore_frame(STORE + 4096, cfm)
    assert cpu.cfm & 0x3FFF == 0


def test_frame_in_unmapped_memory_is_not_restored() -> None:
    m = Machine([BREAK])
    assert not m.cpu.restore_frame(UNMAPPED, 10 | 10 << 7)
    assert m.cpu.cfm & 0x3FFF == 0
