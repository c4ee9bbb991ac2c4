"""Records of IA-64 blocks with the engine's decoding of their instructions, for tests and tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pfmon.stream._stream import Cut

if TYPE_CHECKING:
    from pfmon.isa.ia64.instruction import Row


class DecodedInstruction(NamedTuple):
    """One instruction of a block.

    ``address``: bundle address | slot. ``slots``: 2 for the long instructions of MLX bundles, else 1.
    ``row``: None for a reserved encoding. ``condition``: bit of the block's mask that says that it executed
    (for a branch: was taken); None: it always does. ``multiway``: its bundle holds more than one branch. ``kind`` and
    ``isa_kind`` are flags of stream.kinds.Kind and stream.ia64.Ia64Kind. ``unit``: type of its slot: M, I, F, B, X for
    the two of a long instruction, none in a reserved template. ``begins_pair``: one handler executes it and the next
    instruction that is no nop (units/fused_pairs.pyx).
    """

    address: int
    encoding: int
    extension: int
    slots: int
    row: Row | None
    condition: int | None
    qp: int
    stop: bool
    multiway: bool
    kind: int
    isa_kind: int
    unit: str
    begins_pair: bool

    @property
    def slot(self) -> int:
        """The slot number in the bundle."""
        return self.address & 3


class DecodedBlock(NamedTuple):
    """A basic block: ``number`` in the stream, ``ip`` of its first instruction."""

    number: int
    ip: int
    instructions: tuple[DecodedInstruction, ...]
    cut: Cut
