"""What instructions of x86 programs are, as the block table has it: by hand, from Intel's instruction reference."""

from pathlib import Path

from grids import each, sampled
from qemu_guests import ASSEMBLER, QEMU, assemble, instructions, run

from pfmon.engine.qemu.qemu_targets import PAYLOAD_BYTES
from pfmon.stream._stream import AccessKind, BranchKind, Kind

pytestmark = [QEMU, ASSEMBLER]

L, S, F, OP = Kind.LOAD, Kind.STORE, Kind.FLOAT, Kind.FP_OPERATION
B, REL, IND, CALL, RET = Kind.BRANCH, Kind.RELATIVE, Kind.INDIRECT, Kind.CALL, Kind.RETURN

INSTRUCTIONS = {
    "push %rax": (S, 8), "pop %rax": (L, 8), "pushq 8(%rsp)": (L | S, 8), "popq 8(%rsp)": (L | S, 8),
    "pushfq": (S, 8), "enter $8, $0": (S, 8), "lea 8(%rsp), %rax": (0, 0), "nopl 8(%rax)": (Kind.NOP, 0),
    "nop": (Kind.NOP, 0), "pause": (Kind.NOP, 0), "lock incl (%rsp)": (L | S | Kind.ATOMIC, 4),
    "xchg %eax, (%rsp)": (L | S | Kind.ATOMIC, 4), "xchg %eax, %ebx": (0, 0), "cmpxchg %eax, (%rsp)": (L | S, 4),
    "cmpxchg8b (%rsp)": (L | S, 8), "xadd %eax, (%rsp)": (L | S, 4), "add %eax, (%rsp)": (L | S, 4),
    "add (%rsp), %eax": (L, 4), "cmp %eax, (%rsp)": (L, 4), "test %eax, (%rsp)": (L, 4), "mov (%rsp), %al": (L, 1),
    "mov %rax, (%rsp)": (S, 8), "movzbl (%rsp), %eax": (L, 1), "movnti %eax, (%rsp)": (S, 4), "sete (%rsp)": (S, 1),
    "cmove (%rsp), %eax": (L, 4), "imul $3, (%rsp), %eax": (L, 4), "mull (%rsp)": (L, 4), "shll (%rsp)": (L | S, 4),
    "negl (%rsp)": (L | S, 4), "btl $3, (%rsp)": (L, 4), "btsl $3, (%rsp)": (L | S, 4),
    "movsd (%rsp), %xmm0": (L | F, 8), "movsd %xmm0, (%rsp)": (S | F, 8), "mulsd (%rsp), %xmm0": (L | F | OP, 8),
    "movups %xmm0, (%rsp)": (S | F, 16), "movlps %xmm0, (%rsp)": (S | F, 8), "movhps (%rsp), %xmm0": (L | F, 8),
    "cvtsi2sd %eax, %xmm0": (F | OP, 0), "comisd %xmm1, %xmm0": (F | OP, 0), "movdqu (%rsp), %xmm1": (L, 16),
    "movdqu %xmm1, (%rsp)": (S, 16), "paddd %xmm1, %xmm1": (0, 0), "fldl (%rsp)": (L | F, 8),
    "fstpl (%rsp)": (S | F, 8), "fnstcw (%rsp)": (S | F, 2), "fldcw (%rsp)": (L | F, 2), "fildl (%rsp)": (L | F, 4),
    "stmxcsr (%rsp)": (S, 4), "prefetcht0 (%rsp)": (Kind.PREFETCH, 1), "movsb": (L | S, 1), "movsl": (L | S, 4),
    "stosb": (S, 1), "lodsb": (L, 1), "scasb": (L, 1), "cmpsl": (L, 4), "rep stosb": (S, 1),
    "cpuid": (Kind.SERIALIZE, 0), "leave": (L, 8), "rdtsc": (0, 0),
}  # fmt: skip
BRANCHES = {
    "jmp 1f": (B | REL, BranchKind.DIRECT),
    "je 1f": (B | REL, BranchKind.DIRECT),
    "call 1f": (B | REL | CALL | S, BranchKind.DIRECT_CALL),
    "call *%rax": (B | IND | CALL | S, BranchKind.INDIRECT_CALL),
    "call *(%rdx)": (B | IND | CALL | S | L, BranchKind.INDIRECT_CALL),
    "jmp *%rax": (B | IND, BranchKind.INDIRECT_JUMP),
    "jmp *(%rdx)": (B | IND | L, BranchKind.INDIRECT_JUMP),
    "push %rax\n ret": (B | IND | RET | L, BranchKind.RETURN_BRANCH),
}
EXIT = "mov $60, %eax\n xor %edi, %edi\n syscall"
FROM_TO = AccessKind.READ, AccessKind.WRITE
TWO_ADDRESSES = {
    "pushq 8(%rsp)": FROM_TO,
    "popq 8(%rsp)": FROM_TO,
    "movsb": FROM_TO,
    "movsl": FROM_TO,
    "cmpsl": (AccessKind.READ, AccessKind.READ),
}
ACCESS = {0: AccessKind.NO_ACCESS, L: AccessKind.READ, S: AccessKind.WRITE, L | S: AccessKind.READ_WRITE}


@sampled(8)
@each("code", INSTRUCTIONS)
def test_instruction_is_described(code: str, tmp_path: Path) -> None:
    before = "sub $2048, %rsp\n mov %rsp, %rbp\n mov %rsp, %rsi\n mov %rsp, %rdi\n mov $1, %ecx\n fnstcw (%rsp)"
    ran = run([assemble(tmp_path, f"_start: {before}\n here: {code}\n {EXIT}")])
    assert ran.ending is not None and ran.ending.status == 0
    one = sorted(instructions(ran).items())[6][1]
    kinds, size = INSTRUCTIONS[code]
    assert (Kind(one.kind), one.size) == (Kind(kinds), size)
    if code in TWO_ADDRESSES:
        assert (AccessKind(one.access), AccessKind(one.second)) == TWO_ADDRESSES[code]
    else:
        expected = AccessKind.FETCH_LINE if kinds & Kind.PREFETCH else ACCESS[kinds & (L | S)]
        assert (one.access, one.second) == (expected, AccessKind.NO_ACCESS)


@each("code", BRANCHES)
def test_branches_are_described(code: str, tmp_path: Path) -> None:
    start = "lea 1f(%rip), %rax\n lea 2f(%rip), %rdx"
    ran = run([assemble(tmp_path, f"_start: {start}\n {code}\n 1: {EXIT}\n 2: .quad 1b")])
    last = ran.guest.table.block(0).instructions[-1]
    assert (Kind(last.kind), last.branch) == (Kind(BRANCHES[code][0]), BRANCHES[code][1])
    assert last.condition == (0 if code == "je 1f" else None)


def test_system_call_is_described(tmp_path: Path) -> None:
    ran = run([assemble(tmp_path, f"_start: {EXIT}")])
    block = ran.guest.table.block(0)
    assert [one.kind for one in block.instructions] == [0, 0, Kind.SYSTEM]
    assert [one.length for one in block.instructions] == [5, 2, 2]
    assert block.instructions[0].payload == bytes.fromhex("b83c000000").ljust(PAYLOAD_BYTES, b"\0")
