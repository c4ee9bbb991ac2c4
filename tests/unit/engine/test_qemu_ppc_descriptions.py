"""What PowerPC instructions are, as the block table has it: by hand, from the Power ISA."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from grids import each, sampled
from ppc_programs import CODE, DATA, ENTRY, PPC_ASSEMBLER, QEMU_PPC, TARGETS, Target, machine_codes, write_elf
from qemu_guests import instructions, run

from pfmon.engine.qemu.describe import ppc_mnemonics
from pfmon.stream._stream import AccessKind, BranchKind, Kind, PpcKind
from pfmon.stream.recording.block_records import InstructionRecord

pytestmark = [
    pytest.mark.slow,
    PPC_ASSEMBLER,
    QEMU_PPC,
]

L, S, F, OP, B = Kind.LOAD, Kind.STORE, Kind.FLOAT, Kind.FP_OPERATION, Kind.BRANCH
REL, IND, CALL, RET = Kind.RELATIVE, Kind.INDIRECT, Kind.CALL, Kind.RETURN
INTEGER = PpcKind.INTEGER
NOTHING = PpcKind(0)


BEFORE, BEHIND = f"lis 9, {DATA >> 16}", "nop\n li 0, 1\n sc"


def described(directory: Path, code: str, target: Target, beside: Iterable[str] = ()) -> InstructionRecord:
    """The instruction, behind one that gives r9 the address of zeros. It need not be one that qemu's processor has.
    ``beside``: others for that target, which are assembled with it."""
    codes = machine_codes((BEFORE, BEHIND, *(beside or [code])), target)
    program = write_elf(directory / "program", codes[BEFORE] + codes[code] + codes[BEHIND], target)
    return instructions(run([program]))[ENTRY + 4]


INSTRUCTIONS = {
    "lbz 4, 0(9)": (L, 1), "lhau 4, 2(9)": (L, 2), "lwzx 4, 0, 9": (L, 4), "lwarx 4, 0, 9": (L, 4),
    "lwz 4, 0(9)": (L, 4), "lhbrx 4, 0, 9": (L, 2), "lmw 28, 0(9)": (L, 16), "lswi 4, 9, 10": (L, 10),
    "lswi 4, 9, 0": (L, 32), "stb 4, 0(9)": (S, 1), "sthux 4, 9, 9": (S, 2), "stwbrx 4, 0, 9": (S, 4),
    "stwcx. 4, 0, 9": (S, 4), "stmw 24, 0(9)": (S, 32), "stswi 4, 9, 7": (S, 7), "lfs 1, 0(9)": (L | F, 4),
    "lfdux 1, 9, 9": (L | F, 8), "stfd 1, 0(9)": (S | F, 8), "stfiwx 1, 0, 9": (S | F, 4), "fadd 1, 1, 1": (F | OP, 0),
    "fmadds 1, 2, 3, 4": (F | OP, 0), "fctiwz 1, 1": (F | OP, 0), "fcmpu 0, 1, 1": (F | OP, 0),
    "fcmpo 0, 1, 1": (F | OP, 0), "frsp 1, 1": (F | OP, 0), "fmr 1, 2": (F, 0), "fneg. 1, 2": (F, 0), "mffs 1": (F, 0),
    "mtfsf 255, 1": (F, 0), "mcrfs 0, 1": (F, 0), "dcbt 0, 9": (Kind.PREFETCH, 1), "dcbtst 0, 9": (Kind.PREFETCH, 1),
    "isync": (Kind.SERIALIZE, 0), "sc": (Kind.SYSTEM, 0), "dcbf 0, 9": (0, 0), "crxor 1, 2, 3": (0, 0),
    "mcrf 0, 1": (0, 0), "lvx 1, 0, 9": (L, 16), "vadduwm 1, 2, 3": (0, 0), "vaddfp 1, 2, 3": (F | OP, 0),
    "xvadddp 1, 2, 3": (F | OP, 0), "lxsdx 1, 0, 9": (L | F, 8), "lxvd2x 1, 0, 9": (L, 16), "xxlxor 1, 2, 3": (0, 0),
}  # fmt: skip
WIDE = {
    "ld 4, 0(9)": (L, 8), "ldarx 4, 0, 9": (L, 8), "lwa 4, 0(9)": (L, 4), "stdu 4, 8(9)": (S, 8),
    "stdcx. 4, 0, 9": (S, 8), "dcbz 0, 9": (S, 128), ".long 0xe0890000": (L, 16), ".long 0xf8890002": (S, 16),
    ".long 0x7c89042a": (L, 4), ".long 0x7c89052a": (S, 4),
}  # fmt: skip
"""The last are lq, stq, and lswx and stswx, which move some bytes: at least a register, as far as is known."""

UNTOLD = ("lmw", "stmw", "lswi", "stswi", "dcbz", ".long 0x7c89042a", ".long 0x7c89052a")
"""Those of which qemu does not say where they go."""

INTEGERS = [
    "addi 4, 4, 1", "li 4, 1", "lis 4, 1", "add. 4, 5, 6", "subfic 4, 4, 1", "neg 4, 4", "mullw 4, 4, 4",
    "divwu 4, 4, 4", "mr 4, 5", "ori 4, 4, 1", "andis. 4, 4, 1", "nand 4, 4, 4", "rlwinm 4, 4, 1, 2, 3",
    "slwi 4, 4, 2", "clrlwi 4, 4, 2", "srawi 4, 4, 2", "extsb 4, 4", "cntlzw 4, 4", "cmpwi 4, 1",
    "cmplw 1, 4, 5", "mflr 4", "mtctr 4", "mfcr 4",
    "mtcrf 255, 4", "mfxer 4", "mftb 4", "twi 4, 4, 5", "isel 4, 5, 6, 2", ".long 0x7c842614", "addze 4, 4",
]  # fmt: skip
"""Of the integer units; the .long is addo, which capstone does not decode."""


OF_UNITS = {
    **dict.fromkeys(("lwarx", "ldarx"), PpcKind.RESERVES),
    **dict.fromkeys(("dcbt", "dcbtst", "dcbf", "dcbz"), PpcKind.CACHE),
    **dict.fromkeys(("isync", "sc"), PpcKind.FLUSHES),
    **dict.fromkeys(("mullw", "divwu"), PpcKind.MULTIPLE_CYCLE),
    "mflr": PpcKind.MFSPR | PpcKind.MULTIPLE_CYCLE,
    "mtctr": PpcKind.MTSPR | PpcKind.MULTIPLE_CYCLE,
    "mfxer": PpcKind.MFSPR | PpcKind.MULTIPLE_CYCLE,
}
"""What is told besides of those above."""


def check(code: str, one: InstructionRecord, kinds: Kind | int, size: int) -> None:
    assert (Kind(one.kind), one.size) == (Kind(kinds), size)
    if not kinds & Kind.PREFETCH:
        told = AccessKind.READ if kinds & L else AccessKind.WRITE if kinds & S else AccessKind.NO_ACCESS
        assert one.access == (AccessKind.NO_ACCESS if code.startswith(UNTOLD) else told)
    assert one.branch == BranchKind.NO_BRANCH and one.condition is None


def target_of(code: str) -> Target:
    """Multiple registers and strings are for big-endian programs."""
    return TARGETS["ppc"] if "sw" in code or "mw" in code else TARGETS["ppc64le"]


@each("code", INSTRUCTIONS)
def test_instruction_is_described(code: str, tmp_path: Path) -> None:
    target = target_of(code)
    one = described(tmp_path, code, target, [other for other in INSTRUCTIONS if target_of(other) == target])
    check(code, one, *INSTRUCTIONS[code])
    assert PpcKind(one.isa_kind) == OF_UNITS.get(code.split()[0], NOTHING)
    assert one.length == 4 and not any(one.payload[4:])


@each("code", WIDE)
def test_instruction_of_64_bits_is_described(code: str, tmp_path: Path) -> None:
    check(code, described(tmp_path, code, TARGETS["ppc64"], WIDE), *WIDE[code])


@each("code", INTEGERS)
def test_integer_instruction_is_described(code: str, tmp_path: Path) -> None:
    one = described(tmp_path, code, TARGETS["ppc64"], INTEGERS)
    check(code, one, 0, 0)
    assert PpcKind(one.isa_kind) == INTEGER | OF_UNITS.get(code.split()[0], NOTHING)


@pytest.mark.parametrize(
    ("code", "kind", "isa_kind"),
    [
        ("nop", Kind.NOP, INTEGER),
        ("sync", 0, PpcKind.SYNC | PpcKind.CACHE),
        ("lwsync", 0, PpcKind.SYNC | PpcKind.CACHE),
        ("eieio", 0, PpcKind.EIEIO | PpcKind.CACHE),
        ("icbi 0, 9", 0, PpcKind.ICBI | PpcKind.CACHE),
    ],
)
def test_synchronizing_instruction_is_described(code: str, kind: Kind, isa_kind: PpcKind, tmp_path: Path) -> None:
    one = described(tmp_path, code, TARGETS["ppc64"])
    assert (Kind(one.kind), PpcKind(one.isa_kind)) == (Kind(kind), isa_kind)


BRANCHES = {
    "b .+8": (B | REL, BranchKind.DIRECT, False),
    "ba 0x10000": (B, BranchKind.DIRECT, False),
    "bl .+8": (B | REL | CALL, BranchKind.DIRECT_CALL, False),
    "bl .+4": (B | REL, BranchKind.DIRECT, False),
    "bcl 20, 31, .+4": (B | REL, BranchKind.DIRECT, False),
    "bcl 20, 31, .+8": (B | REL | CALL, BranchKind.DIRECT_CALL, False),
    "beq .+8": (B | REL, BranchKind.DIRECT, True),
    "beql .+8": (B | REL | CALL, BranchKind.DIRECT_CALL, True),
    "bdnz .+8": (B | REL, BranchKind.DIRECT, True),
    "bdzf 2, .+8": (B | REL, BranchKind.DIRECT, True),
    "bc 20, 0, .+8": (B | REL, BranchKind.DIRECT, False),
    "blr": (B | IND | RET, BranchKind.RETURN_BRANCH, False),
    "beqlr": (B | IND | RET, BranchKind.RETURN_BRANCH, True),
    "bdnzlr": (B | IND | RET, BranchKind.RETURN_BRANCH, True),
    "bclr 20, 0, 1": (B | IND, BranchKind.INDIRECT_JUMP, False),
    "blrl": (B | IND | CALL, BranchKind.INDIRECT_CALL, False),
    "bctr": (B | IND, BranchKind.INDIRECT_JUMP, False),
    "bctrl": (B | IND | CALL, BranchKind.INDIRECT_CALL, False),
    "bnectr": (B | IND, BranchKind.INDIRECT_JUMP, True),
}


@sampled(24)
@each("code", BRANCHES)
@each("name", TARGETS)
def test_branch_is_described(code: str, name: str, tmp_path: Path) -> None:
    one = described(tmp_path, code, TARGETS[name], BRANCHES)
    kinds, branch, conditional = BRANCHES[code]
    assert (Kind(one.kind), one.branch, one.condition) == (Kind(kinds), branch, 0 if conditional else None)
    assert (one.isa_kind, one.access) == (0, AccessKind.NO_ACCESS)


def test_an_instruction_is_of_one_sort_alone() -> None:
    """Of the mnemonics that the tables name: what accesses memory is no integer instruction, nor what computes."""
    for names in ppc_mnemonics.UNDECODED.values():
        for name in names.values():
            kind, _, _, access, size, isa_kind = ppc_mnemonics.facts(name)
            sorts = [bool(kind & (L | S)), bool(isa_kind & INTEGER), name == "fcmpo"]
            assert sum(sorts) == 1, name
            assert bool(kind & (L | S)) == (access != AccessKind.NO_ACCESS)
            assert size or not kind & (L | S) or name in ppc_mnemonics.MULTIPLE


def test_code_that_is_not_known_has_no_kinds(tmp_path: Path) -> None:
    one = described(tmp_path, ".long 0", TARGETS["ppc64"])
    assert (one.kind, one.isa_kind, one.access, one.address) == (0, 0, AccessKind.NO_ACCESS, CODE + 0x204)
