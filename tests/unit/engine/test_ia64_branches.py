"""Branches: targets, conditions, loops (SDM volume 3, br; volume 1, 4.5.1), against the manual's figures."""

from dataclasses import dataclass

import pytest
from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from ia64_assembly import BREAK, CODE, bundle
from ia64_machine import FAULT, ILLEGAL_OPERATION, MASK, STORE, Machine

HINTS = ("sptk.few", "spnt.many.clr", "dptk.few.clr", "dpnt.many")
MISSED = ["adds r8=1,r0", BREAK]  # what follows a branch
HIT = ["target:", "adds r8=2,r0", BREAK]


def after(*lines: str | bytes | tuple[str, ...]) -> Machine:
    return Machine([*lines, *MISSED, *HIT])


def taken(m: Machine) -> bool:
    m.until_break()
    assert m.cpu.gr(8) in (1, 2)
    return m.cpu.gr(8) == 2


@each("hint", HINTS)
@each("form", ["br.cond", "brl.cond"])
@each("holds", [False, True])
def test_relative_branch_follows_its_predicate(hint: str, form: str, holds: bool) -> None:
    m = after(f"(p6) {form}.{hint} target").set(pr=holds << 6)
    assert taken(m) == holds


@each("hint", HINTS)
@each("holds", [False, True])
@each("low", [0, 5, 15])
def test_indirect_branch_ignores_the_low_bits_of_its_target(hint: str, holds: bool, low: int) -> None:
    m = after(f"(p6) br.cond.{hint} b6").set(pr=holds << 6)
    m.cpu.set_br(6, CODE + 16 * 3 + low)
    assert taken(m) == holds


@each("hint", HINTS)
@each("form", ["br.call", "brl.call"])
@each("holds", [False, True])
def test_call_saves_its_return_address_only_when_taken(hint: str, form: str, holds: bool) -> None:
    m = after(f"(p6) {form}.{hint} b3=target").set(pr=holds << 6, pfs=5)
    m.cpu.set_br(3, 77)
    assert taken(m) == holds
    assert m.cpu.br(3) == (CODE + 16 if holds else 77)
    assert m.cpu.ar("pfs") == (3 << 62 if holds else 5)


@pytest.mark.parametrize("holds", [False, True])
def test_indirect_call_may_overwrite_the_register_it_goes_through(holds: bool) -> None:
    m = after("(p6) br.call.sptk.few b6=b6").set(pr=holds << 6)
    m.cpu.set_br(6, CODE + 16 * 3)
    assert taken(m) == holds
    assert m.cpu.br(6) == (CODE + 16 if holds else CODE + 48)


@pytest.mark.parametrize("slot", [0, 1, 2])
def test_call_returns_to_the_next_bundle_from_every_slot(slot: int) -> None:
    texts = ["", "", ""]
    texts[slot] = "br.call.sptk.few b1=target"
    m = after(("BBB", *texts))
    assert taken(m)
    assert m.cpu.br(1) == CODE + 16


def test_first_taken_branch_of_a_bundle_wins() -> None:
    texts = ("(p6) br.cond.sptk.few one", "(p7) br.cond.sptk.few two", "br.cond.sptk.few three")
    lines = [("BBB", *texts), "one:", "adds r8=1,r0", BREAK, "two:", "adds r8=2,r0", BREAK]
    lines += ["three:", "adds r8=3,r0", BREAK]
    for predicates, way in ((1 << 6 | 1 << 7, 1), (1 << 6, 1), (1 << 7, 2), (0, 3)):
        assert Machine(lines).set(pr=predicates).until_break().cpu.gr(8) == way


@pytest.mark.parametrize("holds", [False, True])
def test_return_restores_ec_and_the_frame_marker(holds: bool) -> None:
    cfm = 7 | 4 << 7 | 0 << 14 | 9 << 25 | 11 << 32
    m = after("(p6) br.ret.sptk.few b2").set(pr=holds << 6, pfs=cfm | 33 << 52 | 3 << 62, ec=4)
    m.set(bspstore=STORE + 512)
    m.cpu.set_br(2, CODE + 48)
    assert taken(m) == holds
    assert m.cpu.ar("ec") == (33 if holds else 4)
    assert m.cpu.cfm == (cfm if holds else 0)


# --- loops: the figures "Operation of br.ctop and br.cexit" and "... br.wtop and br.wexit"


@dataclass(frozen=True)
class Loop:
    lc: int
    ec: int
    rotations: int
    p63: bool
    on: bool


def counted(lc: int, ec: int) -> Loop:
    if lc:
        return Loop(lc - 1, ec, 1, True, True)
    if ec > 1:
        return Loop(lc, ec - 1, 1, False, True)
    if ec == 1:
        return Loop(lc, 0, 1, False, False)
    return Loop(lc, 0, 0, False, False)


def whiled(qp: bool, lc: int, ec: int) -> Loop:
    if qp:
        return Loop(lc, ec, 1, False, True)
    if ec > 1:
        return Loop(lc, ec - 1, 1, False, True)
    if ec == 1:
        return Loop(lc, 0, 1, False, False)
    return Loop(lc, 0, 0, False, False)


def rotated(pr: int, times: int) -> int:
    rotating = [(pr >> n) & 1 for n in range(16, 64)]
    for _ in range(times):
        rotating = rotating[-1:] + rotating[:-1]
    return pr & 0xFFFF | sum(bit << 16 + n for n, bit in enumerate(rotating))


LC = st.sampled_from([0, 1, 2, 5, MASK])
EC = st.integers(0, 63)


@pytest.mark.slow
@examples(150)
@given(
    form=st.sampled_from(["ctop", "cexit", "wtop", "wexit"]),
    lc=LC,
    ec=st.one_of(st.integers(0, 2), EC),
    pr=st.integers(0, MASK),
    qp=st.sampled_from([0, 5, 6, 16, 17, 63]),
    hint=st.sampled_from(HINTS),
    sor=st.integers(0, 12),
    rrb=st.tuples(st.integers(0, 95), st.integers(0, 95), st.integers(0, 47)),
)
def test_modulo_scheduled_branch(
    form: str, lc: int, ec: int, pr: int, qp: int, hint: str, sor: int, rrb: tuple[int, int, int]
) -> None:
    pr |= 1
    counting = form[0] == "c"
    text = f"br.{form}.{hint} target" if counting else f"(p{qp}) br.{form}.{hint} target"
    m = after(text)
    rrb_gr = rrb[0] % (sor * 8) if sor else 0
    m.cpu.set_cfm(96 | sor << 14 | rrb_gr << 18 | rrb[1] << 25 | rrb[2] << 32)
    for n in range(32, 128):
        m.cpu.set_gr(n, n)
        m.set_fr(n, 0, 0x1003E, n)
    m.set(pr=pr, lc=lc, ec=ec)
    expected = counted(lc, ec) if counting else whiled(bool(pr >> qp & 1), lc, ec)
    assert taken(m) == (expected.on if form.endswith("top") else not expected.on)
    assert (m.cpu.ar("lc"), m.cpu.ar("ec")) == (expected.lc, expected.ec)
    with_p63 = pr & ~(1 << 63) | expected.p63 << 63
    assert m.cpu.pr == rotated(with_p63, expected.rotations)
    size = sor * 8
    for n in range(32, 128):
        was = n
        if n < 32 + size:
            was = 32 + (n - 32 - expected.rotations) % size
        assert m.cpu.gr(n) == was
        assert m.fr(n)[2] == 32 + (n - 32 - expected.rotations) % 96
    k = expected.rotations
    bases = ((rrb_gr - k) % size if size else 0) << 18 | (rrb[1] - k) % 96 << 25 | (rrb[2] - k) % 48 << 32
    assert m.cpu.cfm == 96 | sor << 14 | bases


@each("hint", HINTS)
@each("lc", [0, 1, 7, MASK])
def test_cloop_counts_lc_down_to_zero(hint: str, lc: int) -> None:
    m = after(f"br.cloop.{hint} target").set(lc=lc, ec=3)
    assert taken(m) == (lc != 0)
    assert (m.cpu.ar("lc"), m.cpu.ar("ec")) == (max(lc - 1, 0), 3)


@each("form", ["cloop", "ctop", "cexit", "wtop", "wexit"])
@each("slot", [0, 1])
def test_loop_branch_outside_slot_2_is_illegal(form: str, slot: int) -> None:
    texts = ["", "", ""]
    texts[slot] = f"br.{form}.sptk.few {CODE:#x}"
    m = Machine([("BBB", *texts), BREAK]).set(lc=5, ec=5).until_fault(ILLEGAL_OPERATION)
    assert m.cpu.ip == CODE | slot


@each("trips", [1, 2, 5, 40])
@each("stages", [1, 2, 3, 5])
def test_software_pipeline_runs_every_stage_once_per_trip(trips: int, stages: int) -> None:
    """A counter per stage under its stage predicate, as compilers write such loops."""
    lines = ["mov.i ar.lc=r4", "mov.i ar.ec=r5", "mov pr.rot=0x10000", "loop:"]
    lines += [f"(p{16 + n}) adds r{8 + n}=1,r{8 + n}" for n in range(stages)]
    m = Machine([*lines, "br.ctop.sptk.few loop", BREAK]).set({4: trips - 1, 5: stages, **{8 + n: 0 for n in range(5)}})
    m.until_break()
    assert [m.cpu.gr(8 + n) for n in range(stages)] == [trips] * stages
    assert (m.cpu.ar("lc"), m.cpu.ar("ec")) == (0, 0)


def test_values_travel_up_the_rotating_registers() -> None:
    lines = ["alloc r2=ar.pfs,8,8,8", "adds r32=0,r4", "loop:", "adds r4=1,r4", "br.ctop.sptk.few next", "next:"]
    lines += ["adds r32=0,r4", "adds r4=1,r4", "br.ctop.sptk.few then", "then:", "adds r32=0,r4", BREAK]
    m = Machine(lines).set({4: 100}, lc=9).until_break()
    assert [m.cpu.gr(n) for n in (32, 33, 34)] == [102, 101, 100]


def test_clrrrb_shows_the_registers_as_they_are() -> None:
    lines = ["alloc r2=ar.pfs,16,16,16", "adds r32=7,r0", "br.ctop.sptk.few next", "next:", "clrrrb", BREAK]
    m = Machine(lines).set(lc=5, pr=1 | 1 << 20)
    m.set_fr(40, 0, 0x1003E, 5)
    m.until_break()
    assert m.cpu.gr(32) == 7  # it moved to r33 and back
    assert m.cpu.cfm == 16 | 16 << 7 | 2 << 14
    assert m.cpu.pr == 1 | 1 << 20 | 1 << 63
    assert m.fr(40)[2] == 5


def test_clrrrb_pr_leaves_the_other_rename_bases() -> None:
    lines = ["alloc r2=ar.pfs,16,16,16", "adds r32=7,r0", "br.ctop.sptk.few next", "next:", "clrrrb.pr", BREAK]
    m = Machine(lines).set(lc=5, pr=1 | 1 << 20).until_break()
    assert m.cpu.gr(33) == 7
    assert m.cpu.cfm == 16 | 16 << 7 | 2 << 14 | 15 << 18 | 95 << 25
    assert m.cpu.pr == 1 | 1 << 20 | 1 << 63


@pytest.mark.parametrize("text", ["brp.sptk.imp 0x100020,0x100010", "brp.ret.dptk b2,0x100010", "brp.dptk b2,0x100010"])
def test_branch_predict_does_nothing(text: str) -> None:
    m = Machine([text, BREAK]).until_break()
    assert m.retired() == 4


def test_br_ia_faults() -> None:
    Machine(["br.ia.sptk.few b6", BREAK]).until_fault(ILLEGAL_OPERATION)


def test_branch_to_unmapped_memory_faults_there() -> None:
    m = Machine(["br.cond.sptk.few b6"])
    m.cpu.set_br(6, 0x5000000)
    assert m.run() == FAULT
    assert (m.cpu.fault, m.cpu.ip, m.cpu.fault_address) == (10, 0x5000000, 0x5000000)
    assert m.retired() == 3


def test_branch_to_data_faults_for_its_rights() -> None:
    m = Machine(["br.cond.sptk.few b6"])
    m.cpu.set_br(6, 0x200000)
    assert m.run() == FAULT
    assert (m.cpu.fault, m.cpu.ip) == (11, 0x200000)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_epc_wants_a_previous_level_not_above_the_current(level: int) -> None:
    m = Machine(["epc", BREAK]).set(pfs=level << 62)
    if level == 3:
        m.until_break()
    else:
        m.until_fault(ILLEGAL_OPERATION)


@pytest.mark.parametrize("text", ["rfi", "bsw.0", "bsw.1"])
def test_privileged_branch_unit_instructions_fault(text: str) -> None:
    Machine([text, BREAK]).until_fault(2)


BREAKS = (("break.m 0x1abcd", 0x1ABCD), ("break.i 0x12345", 0x12345), ("break.f 0x7", 7), ("break.b 0x55", 0))


@pytest.mark.parametrize(("text", "number"), [*BREAKS, ("break.x 0x123456789abcde", 0x123456789ABCDE)])
def test_break_reports_its_immediate(text: str, number: int) -> None:
    m = Machine([text, "adds r8=1,r0", BREAK]).until_break()
    assert m.cpu.fault_info == number
    m.until_break()
    assert m.cpu.gr(8) == 1


@pytest.mark.parametrize("text", [text for text, _ in BREAKS])
def test_predicated_off_break_does_not_happen(text: str) -> None:
    if text.startswith("break.b"):
        return  # has no predicate
    m = Machine([f"(p6) {text}", "adds r8=1,r0", "break.i 0x99"]).until_break()
    assert (m.cpu.fault_info, m.cpu.gr(8)) == (0x99, 1)


def test_middle_slot_runs_on_after_a_break() -> None:
    code = bundle("MII", "adds r8=1,r0", "break.i 0x3", "adds r9=2,r0")
    m = Machine([code, BREAK]).until_break()
    assert (m.cpu.ip, m.cpu.gr(8), m.cpu.gr(9)) == (CODE | 2, 1, 0)
    assert m.until_break().cpu.gr(9) == 2
