"""Records of basic blocks for Python: the descriptions of block numbers in the stream (block_table.pxd)."""

from __future__ import annotations

from typing import NamedTuple


class InstructionRecord(NamedTuple):
    """One instruction of a block, whatever its instruction set.

    ``address`` is the instruction set's (IA-64: bundle address | slot); ``kind`` are flags of instruction_kinds.Kind,
    ``isa_kind`` those of the instruction set (ia64_kinds.Ia64Kind); ``size``: bytes of its memory access; ``length``:
    bytes of code; ``condition``: bit of the block's mask that is set when it executed (for a branch: was taken), None:
    it always does; ``access``, ``second``: block_table.AccessKind of its first and its second access, from bit 3 of
    the second on how many of its kind follow; ``branch``: block_table.BranchKind; ``privilege``: at which it
    runs, bits 0 and 1 the level, in system mode bit 2 PSR.up and bit 3 PSR.pp, the same for the whole block;
    ``payload``: details that only its instruction set knows.
    """

    address: int
    kind: int
    isa_kind: int
    size: int
    length: int
    condition: int | None
    access: int
    branch: int
    privilege: int
    payload: bytes
    second: int = 0


class BlockRecord(NamedTuple):
    """A basic block: ``number`` in the stream, ``ip`` of its first instruction, ``cut`` (block_table.Cut).

    A part of a block that a reader split names the ``whole`` block and its first instruction in it (``offset``).
    ``file``: the number of the mapped file that holds it, among those of the program (engine.api.Engine.mapped).
    """

    number: int
    ip: int
    instructions: tuple[InstructionRecord, ...]
    cut: int
    whole: int
    offset: int
    file: int = 0
