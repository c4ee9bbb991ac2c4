"""Translation: what code may look like, and code that changes while it runs."""

import resource
from random import Random

import pytest
from grids import each
from ia64_assembly import BREAK, CODE, NUMBERS, assemble, bundle, instruction, join
from ia64_machine import DATA, FAULT, ILLEGAL_OPERATION, INST_NOT_PRESENT, PAGE, STOP, Machine

from pfmon.isa.ia64.bundle import TEMPLATES

ADD_ONE = int.from_bytes(assemble(["adds r8=1,r8"]), "little")
ADD_TWO = int.from_bytes(assemble(["adds r8=2,r8"]), "little")
FLUSH = ["fc.i r6", "sync.i", "srlz.i"]


def halves(bundle_: int) -> tuple[int, int]:
    return bundle_ & (1 << 64) - 1, bundle_ >> 64


# --- blocks


@each("template", sorted(set(range(32)) - set(TEMPLATES)))
def test_reserved_template_is_illegal(template: int) -> None:
    nop = instruction("nop.m 0")[1]
    Machine([join(template, (nop, nop, nop)), BREAK]).until_fault(ILLEGAL_OPERATION)


@pytest.mark.parametrize("count", [95, 96, 97, 200, 1500])
def test_long_straight_line_code_runs_through(count: int) -> None:
    lines = [("MII", *[f"adds r{8 + n % 3}=1,r{8 + n % 3}" for n in range(3)])] * count
    m = Machine([*lines, BREAK]).until_break()
    assert [m.cpu.gr(n) for n in (8, 9, 10)] == [count] * 3
    assert m.retired() == m.cpu.retired == 3 * count + 1


@pytest.mark.parametrize("count", [30, 31, 32, 63, 100])
def test_any_number_of_predicated_instructions(count: int) -> None:
    lines = [f"(p{6 + n % 5}) adds r{8 + n % 5}=1,r{8 + n % 5}" for n in range(count)]
    m = Machine([*lines, BREAK]).set(pr=0b10101 << 6).until_break()
    for n in range(5):
        assert m.cpu.gr(8 + n) == (len(range(n, count, 5)) if n % 2 == 0 else 0)


def test_code_runs_over_a_page_boundary() -> None:
    base = CODE + PAGE - 32
    m = Machine(["adds r8=1,r8"] * 5 + [BREAK], base=base).until_break()
    assert m.cpu.gr(8) == 5


def test_code_that_runs_off_its_mapping_faults_there() -> None:
    m = Machine([BREAK], base=CODE + PAGE - 16)
    m.memory.unmap(CODE + PAGE, PAGE)
    m.until_break()
    assert m.run() == FAULT
    assert (m.cpu.ip, m.cpu.fault, m.cpu.fault_address) == (CODE + PAGE, INST_NOT_PRESENT, CODE + PAGE)


@pytest.mark.parametrize("slot", [0, 1, 2])
def test_execution_may_begin_in_any_slot(slot: int) -> None:
    m = Machine([("MII", "adds r8=1,r0", "adds r9=1,r0", "adds r10=1,r0"), BREAK])
    m.cpu.set_ip(CODE | slot)
    m.until_break()
    assert [m.cpu.gr(n) for n in (8, 9, 10)] == [0] * slot + [1] * (3 - slot)
    assert m.cpu.retired == 4 - slot


def test_long_instruction_is_one_and_its_second_slot_none() -> None:
    m = Machine([("MLX", "adds r9=1,r0", "movl r8=0x8877665544332211"), BREAK]).until_break()
    assert (m.cpu.gr(8), m.cpu.gr(9), m.cpu.retired) == (0x8877665544332211, 1, 3)
    m.cpu.set_ip(CODE | 1)
    m.until_break()
    m.cpu.set_ip(CODE | 2)
    m.until_fault(ILLEGAL_OPERATION)


@pytest.mark.parametrize("slot", [0, 1])
def test_fault_names_its_slot_and_restarts_there(slot: int) -> None:
    texts = ["adds r8=1,r8"] * 3
    texts[slot] = "ld8 r9=[r6]"
    m = Machine([bundle("MMI", *texts), BREAK]).set({6: DATA - PAGE})
    assert m.run() == FAULT
    assert (m.cpu.ip, m.cpu.retired, m.retired()) == (CODE | slot, slot, slot)
    m.memory.map(DATA - PAGE, PAGE, 3)
    m.put(DATA - PAGE, 9)
    m.until_break()
    assert m.cpu.gr(9) == 9


def test_handlers_keep_no_host_stack() -> None:
    """One chain of operations of every common kind, as long as the stream's buffer lasts."""
    lines = [
        "loop:",
        "ld8.a r8=[r6]",
        "st8 [r7]=r8,0",
        "ldfd f8=[r6]",
        "fma.d.s0 f9=f8,f8,f1",
        "stfe [r7]=f9",
        "ld8.c.nc r8=[r6]",
    ]
    lines += ["setf.sig f10=r8", "getf.sig r9=f10", "extr.u r9=r9,3,5", "cmp.lt p6,p7=r9,r8", "(p6) adds r9=1,r9"]
    lines += ["tbit.z p8,p9=r9,1", "popcnt r10=r9", "padd2 r10=r10,r9", "mov b6=r9", "mov r11=b6", "lfetch [r6],0"]
    lines += ["xchg8 r12=[r7],r10", "ldfpd f12,f13=[r6]", "fcvt.fx.trunc.s0 f14=f8", "xma.l f15=f10,f10,f10"]
    lines += ["br.call.sptk.few b1=function", "back:", "br.cloop.sptk.few loop", BREAK]
    lines += ["function:", "alloc r32=ar.pfs,9,9,0", "mov.i ar.pfs=r32", "br.ret.sptk.few b1"]
    m = Machine(lines).set({6: DATA, 7: DATA + 64}, lc=150_000, fpsr=0x9804C0270033F)
    m.until_break()
    assert m.cpu.retired > 150_000 * 60


# --- code that changes


@pytest.mark.parametrize("max_block", [1, 96])
@pytest.mark.parametrize("flush", [[], FLUSH])
def test_rewritten_code_runs_from_the_next_branch_on(flush: list[str], max_block: int) -> None:
    low, high = halves(ADD_TWO)
    lines = ["again:", "code:", "adds r8=1,r8", f"movl r9={low}", f"movl r10={high}", "st8 [r6]=r9", "st8 [r7]=r10"]
    lines += [*flush, "br.cloop.sptk.few again", BREAK]
    m = Machine(lines, max_block=max_block).set({6: CODE, 7: CODE + 8}, lc=1).until_break()
    assert m.cpu.gr(8) == 3


def test_code_rewritten_thousands_of_times_takes_no_more_memory() -> None:
    """Two versions take turns; each run of the loop translates anew."""
    one, two = halves(ADD_ONE), halves(ADD_TWO)
    lines = ["again:", "code:", "adds r8=1,r8", "st8 [r6]=r14", "st8 [r7]=r15", *FLUSH]
    lines += ["adds r9=0,r14", "adds r10=0,r15", "adds r14=0,r16", "adds r15=0,r17", "adds r16=0,r9", "adds r17=0,r10"]
    m = Machine([*lines, "br.cloop.sptk.few again", BREAK])
    m.set({6: CODE, 7: CODE + 8, 14: two[0], 15: two[1], 16: one[0], 17: one[1]}, lc=5999)
    m.cpu.stop_when_retired(2000)
    assert m.run() == STOP
    blocks, before = m.cpu.block_count(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    m.cpu.stop_when_retired(None)
    m.until_break()
    assert m.cpu.gr(8) == 9000
    assert m.cpu.block_count() <= blocks + 3  # where it stopped and where it ended
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096


@pytest.mark.slow
def test_ever_new_code_takes_a_block_a_version_and_no_growing_time() -> None:
    """A counter in a nop's immediate makes every trip's code another one. (With time growing by the version, this
    would take minutes.)"""
    lines = ["again:", "adds r8=1,r8", "st8 [r6]=r14", "add r14=r14,r15", "srlz.i", "br.cloop.sptk.few again", BREAK]
    m = Machine(lines).set({6: CODE + 8, 14: ADD_ONE >> 64, 15: 1 << 29}, lc=29_999).until_break()
    assert m.cpu.gr(8) == 30_000
    assert m.cpu.block_count() < 30_010
    assert m.retired() == m.cpu.retired


def test_data_beside_code_may_be_written() -> None:
    lines = ["again:", "st8 [r6]=r8,8", "adds r8=1,r8", "br.cloop.sptk.few again", BREAK]
    at = CODE + 16 * len(lines)
    m = Machine([*lines, bytes(8 * 100)]).set({6: at}, lc=99).until_break()
    assert [m.word(at + 8 * n) for n in range(100)] == list(range(100))
    assert m.cpu.block_count() < 4


def test_unaligned_store_into_two_bundles_of_code_is_noticed() -> None:
    old = assemble(["adds r8=1,r8", "adds r9=1,r9"])
    new = assemble(["adds r8=5,r8", "adds r9=7,r9"])
    lines = ["again:", old, "st8 [r6]=r10", "st8 [r7]=r11", "st8 [r12]=r13", "br.cloop.sptk.few again", BREAK]
    m = Machine(lines).set(lc=1)
    at = (CODE + 2, CODE + 10, CODE + 18)
    values = [int.from_bytes((old[:2] + new[2:26] + old[26:])[n - CODE :][:8], "little") for n in at]
    m.set({6: at[0], 7: at[1], 12: at[2], 10: values[0], 11: values[1], 13: values[2]}).until_break()
    assert m.memory.read(CODE, 32) == new
    assert (m.cpu.gr(8), m.cpu.gr(9)) == (1 + 5, 1 + 7)


def test_code_written_by_the_system_is_noticed() -> None:
    m = Machine(["again:", "adds r8=1,r8", "break.i 1", "br.cond.sptk.few again"]).until_break()
    m.memory.write(CODE, assemble(["adds r8=7,r8"]))
    m.until_break()
    assert m.cpu.gr(8) == 8


@pytest.mark.parametrize("how", ["unmap", "map", "protect"])
def test_code_whose_mapping_changes_is_forgotten(how: str) -> None:
    m = Machine(["again:", "adds r8=1,r8", "break.i 1", "br.cond.sptk.few again"]).until_break()
    if how == "unmap":
        m.memory.unmap(CODE, PAGE)
    elif how == "protect":
        m.memory.protect(CODE, PAGE, 1)
    else:
        m.memory.map(CODE, PAGE, 5)
        m.memory.write_initial(CODE + 32, assemble(["adds r8=100,r8", "break.i 1"]))
    if how == "map":
        m.cpu.set_ip(CODE + 32)
        m.until_break()
        assert m.cpu.gr(8) == 101
    else:
        assert m.run() == FAULT
        assert m.cpu.fault == (10 if how == "unmap" else 11)
    assert m.retired() == m.cpu.retired


def test_code_at_address_zero_can_be_rewritten() -> None:
    low, high = halves(ADD_TWO)
    lines = ["adds r8=1,r8", f"movl r9={low}", f"movl r10={high}", "st8 [r6]=r9", "st8 [r7]=r10", *FLUSH]
    m = Machine([BREAK])
    m.memory.map(0, PAGE, 7)
    m.memory.write(0, assemble([*lines, "br.cloop.sptk.few 0", BREAK], 0))
    m.set({6: 0, 7: 8}, lc=1).cpu.set_ip(0)
    assert m.until_break().cpu.gr(8) == 3


def test_rse_spill_into_code_is_noticed() -> None:
    low, high = halves(ADD_TWO)
    lines = ["again:", "adds r8=1,r8", "alloc r3=ar.pfs,3,3,0", f"movl r32={low}", f"movl r33={high}", "cover"]
    lines += ["mov.m ar.bspstore=r6", "flushrs", "br.cloop.sptk.few again", BREAK]
    m = Machine(lines).set({6: CODE}, lc=1, rsc=0)
    m.put(CODE + 16, m.word(CODE + 16))
    before = m.memory.read(CODE + 16, 8)
    m.run()
    assert m.memory.read(CODE, 16) == ADD_TWO.to_bytes(16, "little")
    assert m.memory.read(CODE + 16, 8) != before


# --- random bits


@pytest.mark.slow
def test_random_bundles_are_decoded_and_executed_or_refused() -> None:
    random = Random(7)
    for _ in range(300):
        m = Machine([random.randbytes(16), BREAK])
        m.cpu.stop_when_retired(20)
        m.run()
        assert m.retired() == m.cpu.retired


def test_every_template_of_nops_runs() -> None:
    for units, number in NUMBERS.items():
        if units == "MLX":
            continue
        m = Machine([bundle(units, "", "", ""), BREAK]).until_break()
        assert m.cpu.retired == 4, number
