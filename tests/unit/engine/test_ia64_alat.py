"""The advanced load address table: checks, stores, replacement, calls and rotation (SDM volume 1, 4.4.5)."""

import pytest
from grids import each, sampled
from ia64_assembly import BREAK
from ia64_machine import DATA, PAGE, Machine

from pfmon.stream.marks import Mark

CHECKED = ["chk.a.nc r8,lost", "adds r20=1,r0", BREAK, "lost:", "adds r20=2,r0", BREAK]


def machine(*lines: str) -> Machine:
    """r6 is an address, r7 one 64 bytes on; the memory there is not zero."""
    m = Machine(lines).set({6: DATA, 7: DATA + 64, 8: 99, 9: 0x55})
    m.memory.write(DATA, bytes(range(1, 129)))
    return m


def kept(*lines: str, gr: dict[int, int] | None = None) -> bool:
    """Whether the entry for r8 is there after the lines."""
    m = machine(*lines, *CHECKED).set(gr).until_break()
    assert m.cpu.gr(20) in (1, 2)
    assert m.tally.marks(Mark.ALAT_MISS).by_value[2] == (m.cpu.gr(20) == 2)
    return m.cpu.gr(20) == 1


@each("load", ["ld1.a", "ld2.a", "ld4.a", "ld8.a", "ld8.sa", "ld8.c.nc", "ld8.a.nta"])
def test_advanced_load_enters_its_register(load: str) -> None:
    assert kept(f"{load} r8=[r6]")
    assert not kept(f"{load} r10=[r6]")


@each("load", ["ld8", "ld8.s", "ld8.c.clr", "ld8.c.clr.acq", "ld8.fill", "ld8.acq"])
def test_other_loads_enter_nothing(load: str) -> None:
    assert not kept(f"{load} r8=[r6]")


@sampled(60)
@each("size", [1, 2, 4, 8])
@each("store", [1, 2, 4, 8])
@each("distance", range(-9, 10))
def test_store_removes_entries_that_share_a_byte(size: int, store: int, distance: int) -> None:
    m_at, s_at = DATA + 64, DATA + 64 + distance
    shared = set(range(m_at, m_at + size)) & set(range(s_at, s_at + store))
    assert kept(f"ld{size}.a r8=[r7]", f"st{store} [r10]=r9", gr={10: s_at}) == (not shared)


STORES = """
st8.rel [r6]=r9 | st8.spill [r6]=r9 | st8 [r6]=r9,8 | stfd [r6]=f1 | stfe [r6]=f1 | stf.spill [r6]=f1 | stfs [r6]=f1
st16 [r6]=r9,ar.csd | xchg8 r10=[r6],r9 | fetchadd8.acq r10=[r6],1 | stf8 [r6]=f1,16
"""


@each("store", [text.strip() for text in STORES.replace("\n", "|").split("|") if text.strip()])
def test_every_kind_of_store_removes_entries(store: str) -> None:
    assert not kept("ld8.a r8=[r6]", store)


def test_failed_compare_and_exchange_is_no_store() -> None:
    assert kept("ld8.a r8=[r6]", "cmpxchg8.acq r10=[r6],r9,ar.ccv")


def test_store_far_into_a_long_floating_point_datum_removes_its_entry() -> None:
    for store, shared in (("st1 [r10]=r9", True), ("st2 [r11]=r9", False)):
        lines = ["ldfe.a f8=[r6]", store, "chk.a.clr f8,lost", "adds r20=1,r0", BREAK, "lost:", "adds r20=2,r0", BREAK]
        m = machine(*lines).set({10: DATA + 9, 11: DATA + 16}).until_break()
        assert m.cpu.gr(20) == (2 if shared else 1)


def test_check_load_keeps_the_register_while_the_entry_is_there() -> None:
    m = machine("ld8.a r8=[r6]", "adds r8=5,r0", "ld8.c.nc r8=[r6]", BREAK).until_break()
    assert m.cpu.gr(8) == 5  # the check does not look at memory
    m = machine("ld8.a r8=[r6]", "st8 [r6]=r9", "ld8.c.nc r8=[r6],8", BREAK).until_break()
    assert (m.cpu.gr(8), m.cpu.gr(6)) == (0x55, DATA + 8)


@pytest.mark.parametrize(("check", "there"), [("ld8.c.clr r8=[r6]", False), ("ld8.c.nc r8=[r6]", True)])
def test_check_load_clears_or_keeps_the_entry(check: str, there: bool) -> None:
    assert kept("ld8.a r8=[r6]", check) == there
    assert kept(check) == there


@pytest.mark.parametrize("clear", ["invala", "invala.e r8", "chk.a.clr r8,next"])
def test_entry_is_invalidated(clear: str) -> None:
    assert not kept("ld8.a r8=[r6]", clear, "next:")


def test_invalidating_another_register_keeps_the_entry() -> None:
    assert kept("ld8.a r8=[r6]", "invala.e r9", "invala.e f8")


def test_new_advanced_load_replaces_the_address() -> None:
    assert kept("ld8.a r8=[r6]", "ld8.a r8=[r7]", "st8 [r6]=r9")
    assert not kept("ld8.a r8=[r6]", "ld8.a r8=[r7]", "st8 [r7]=r9")


def test_deferred_advanced_load_removes_the_old_entry() -> None:
    assert not kept("ld8.a r8=[r6]", "ld8.sa r8=[r10]", "ld8 r8=[r6]")


@pytest.mark.parametrize(("others", "there"), [(31, True), (32, False), (40, False)])
def test_thirty_second_entry_after_it_pushes_out_the_oldest(others: int, there: bool) -> None:
    lines = [f"ld8.a r{40 + n}=[r7]" for n in range(others)]
    m = machine("alloc r3=ar.pfs,60,60,0", "ld8.a r8=[r6]", *lines, *CHECKED).until_break()
    assert (m.cpu.gr(20) == 1) == there
    assert m.tally.marks(Mark.ALAT_REPLACE).marks == max(0, others - 31)


@pytest.mark.parametrize("form", ["fs", "fd", "f8", "fe"])
def test_floating_point_check_loads(form: str) -> None:
    lines = [f"ld{form}.a f8=[r6]", "stf.spill [r6]=f1", f"ld{form}.c.nc f8=[r6]", "chk.a.nc f8,lost"]
    m = machine(*lines, "adds r20=1,r0", "lost:", BREAK).until_break()
    again = machine(f"ld{form} f8=[r6]", BREAK)
    again.memory.write(DATA, m.memory.read(DATA, 16))
    assert m.fr(8) == again.until_break().fr(8)
    assert m.cpu.gr(20) == 1
    assert m.tally.marks(Mark.ALAT_MISS).by_value[1] == 1


def test_load_pair_check_loads_both_again() -> None:
    lines = ["ldfpd.a f8,f9=[r6]", "stf.spill [r6]=f1", "ldfpd.c.clr f8,f9=[r6]", BREAK]
    m = machine(*lines).until_break()
    again = machine("ldfpd f8,f9=[r6]", BREAK)
    again.memory.write(DATA, m.memory.read(DATA, 16))
    again.until_break()
    assert (m.fr(8), m.fr(9)) == (again.fr(8), again.fr(9))


def test_entry_outlives_a_call() -> None:
    lines = ["alloc r3=ar.pfs,4,4,0", "ld8.a r33=[r6]", "br.call.sptk.few b1=function", "chk.a.nc r33,lost"]
    lines += ["adds r20=1,r0", BREAK, "lost:", "adds r20=2,r0", BREAK]
    lines += ["function:", "alloc r3=ar.pfs,4,4,0", "ld8.a r34=[r7]", "br.ret.sptk.few b1"]
    assert machine(*lines).until_break().cpu.gr(20) == 1


def test_entry_of_a_deep_callee_is_not_taken_for_the_callers() -> None:
    """Eight frames of 12 registers reuse the 96 physical ones: an entry must not pass from register to register."""
    calls = ["function:", "alloc r32=ar.pfs,12,12,0", "mov r33=b1", "adds r10=-1,r10", "ld8.a r35=[r7]"]
    calls += ["cmp.eq p6,p7=r10,r0", "(p7) br.call.sptk.few b1=function", "mov b1=r33", "mov.i ar.pfs=r32"]
    lines = ["alloc r32=ar.pfs,12,12,0", "br.call.sptk.few b1=function", "ld8.c.clr r35=[r6]", BREAK]
    m = machine(*lines, *calls, "br.ret.sptk.few b1").set({10: 12}).until_break()
    assert m.cpu.gr(35) == m.word(DATA)


def test_entry_moves_with_a_rotating_register() -> None:
    lines = ["alloc r3=ar.pfs,16,16,16", "ld8.a r34=[r6]", "ldfd.a f34=[r7]", "br.ctop.sptk.few next", "next:"]
    lines += ["chk.a.nc r35,lost", "chk.a.nc f35,lost", "adds r20=1,r0", BREAK, "lost:", "adds r20=2,r0", BREAK]
    assert machine(*lines).set(lc=9).until_break().cpu.gr(20) == 1
    lines[5] = "chk.a.nc r34,lost"
    assert machine(*lines).set(lc=9).until_break().cpu.gr(20) == 2


def test_other_backing_store_means_other_registers() -> None:
    lines = ["alloc r3=ar.pfs,8,8,0", "ld8.a r34=[r6]", "cover", "mov.m ar.bspstore=r12", "alloc r3=ar.pfs,8,8,0"]
    lines += ["chk.a.nc r34,lost", "adds r20=1,r0", BREAK, "lost:", "adds r20=2,r0", BREAK]
    assert machine(*lines).set({12: DATA + PAGE}, rsc=0).until_break().cpu.gr(20) == 2


def test_write_by_the_system_removes_entries() -> None:
    m = machine("ld8.a r8=[r6]", "break.i 1", "ld8.c.nc r8=[r6]", BREAK).until_break()
    m.memory.write(DATA + 7, b"\xff")
    assert m.until_break().cpu.gr(8) == 0xFF07060504030201


@pytest.mark.parametrize("qualified", [False, True])
def test_predicated_off_check_does_nothing(qualified: bool) -> None:
    m = machine("(p6) chk.a.nc r8,lost", "adds r20=1,r0", BREAK, "lost:", "adds r20=2,r0", BREAK)
    assert m.set(pr=qualified << 6).until_break().cpu.gr(20) == (2 if qualified else 1)
