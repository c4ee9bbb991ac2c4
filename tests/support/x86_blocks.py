"""Blocks of x86-64 code made up by hand, without any engine: for tests of what counts them."""

from collections.abc import Sequence

from pfmon.stream._stream import AccessKind, BlockTable, BranchKind, Cut, InstructionSet, Kind
from pfmon.stream.recording.block_records import BlockRecord, InstructionRecord

PLAIN, LOAD, STORE = 0, int(Kind.LOAD), int(Kind.STORE)
JUMP, CALL = int(Kind.BRANCH | Kind.RELATIVE), int(Kind.BRANCH | Kind.RELATIVE | Kind.CALL)
RETURN = int(Kind.BRANCH | Kind.RETURN | Kind.INDIRECT)
LENGTH = 3
"""Bytes of every instruction: odd, as x86's may be."""
OTHER_FLAGS = 0xFFFFFFFF
"""Every flag of instruction-set-specific kinds: none of them may decide."""


def branch_kind(kind: int) -> int:
    if kind & Kind.RETURN:
        return int(BranchKind.RETURN_BRANCH)
    if kind & Kind.CALL:
        return int(BranchKind.DIRECT_CALL)
    return int(BranchKind.DIRECT if kind & Kind.BRANCH else BranchKind.NO_BRANCH)


def instruction(address: int, kind: int, condition: int | None = None, isa_kind: int = 0) -> InstructionRecord:
    access = AccessKind.READ if kind & LOAD else AccessKind.WRITE if kind & STORE else AccessKind.NO_ACCESS
    size = 8 if access else 0
    return InstructionRecord(address, kind, isa_kind, size, LENGTH, condition, int(access), branch_kind(kind), 3, b"")


def block(ip: int, kinds: Sequence[int], conditional: bool = False, isa_kind: int = 0) -> BlockRecord:
    """A block of instructions of these kinds; ``conditional``: whether it is taken is in the block's word for its last
    one."""
    last = len(kinds) - 1
    made = [
        instruction(ip + LENGTH * i, kind, 0 if conditional and i == last else None, isa_kind)
        for i, kind in enumerate(kinds)
    ]
    return BlockRecord(0, ip, tuple(made), int(Cut.WHOLE), 0, 0)


def table_of(blocks: Sequence[BlockRecord]) -> BlockTable:
    """A table of blocks, numbered in their order."""
    table = BlockTable(InstructionSet.X86_64, 0)
    for number, one in enumerate(blocks):
        assert table.enter(one) == number
    return table
