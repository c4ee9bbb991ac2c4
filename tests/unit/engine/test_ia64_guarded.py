"""Instructions whose handlers test the qualifying predicate themselves: what they write, and that it is counted."""

from grids import each
from ia64_assembly import BREAK, CODE
from ia64_machine import Machine, executions

from pfmon.isa.ia64.encoding_rows import GUARDED
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS

# r9 is 12, r10 is 10.
VALUES = {
    "add r1=r2,r3": ("add r8=r9,r10", 22),
    "sub r1=r2,r3": ("sub r8=r9,r10", 2),
    "and r1=r2,r3": ("and r8=r9,r10", 8),
    "shladd r1=r2,count2,r3": ("shladd r8=r9,2,r10", 58),
    "adds r1=imm14,r3": ("adds r8=-3,r9", 9),
    "addl r1=imm22,r3": ("addl r8=70000,r0", 70000),
    "mov r1=r3": ("mov r8=r9", 12),
    "mov r1=imm22": ("mov r8=-7", 2**64 - 7),
    "movl r1=imm64": ("movl r8=0x123456789abcdef0", 0x123456789ABCDEF0),
}


def test_every_such_instruction_is_tested() -> None:
    assert {row.text for row in INSTRUCTIONS if row.run in GUARDED} == set(VALUES)


@each("line, value", VALUES.values())
@each("qualified", [False, True])
@each("max_block", [1, 96])
def test_target_changes_and_counts_only_if_qualified(line: str, value: int, qualified: bool, max_block: int) -> None:
    m = Machine([f"(p6) {line}", BREAK], max_block=max_block).set({8: 99, 9: 12, 10: 10}, pr=1 | qualified << 6)
    m.until_break()
    assert m.cpu.gr(8) == (value if qualified else 99)
    slot = 1 if line.startswith("movl") else 0
    assert executions(m)[CODE | slot] == 1
    assert executions(m).get(-(CODE | slot), 0) == qualified


@each("line, value", VALUES.values())
def test_nat_bit_of_a_target_stays_under_a_false_predicate(line: str, value: int) -> None:
    m = Machine([f"(p6) {line}", f"(p7) {line}", BREAK]).set({9: 12, 10: 10}, pr=1)
    m.cpu.set_gr(8, 0, nat=True)
    m.until_break()
    assert m.cpu.nat(8)
    m = Machine([f"(p6) {line}", BREAK]).set({9: 12, 10: 10}, pr=1 | 1 << 6)
    m.cpu.set_gr(8, 0, nat=True)
    m.until_break()
    assert not m.cpu.nat(8)
    assert m.cpu.gr(8) == value
