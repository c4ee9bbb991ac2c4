"""Records of basic blocks: what a block number in the stream stands for."""

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple, Protocol


class Encoding(Protocol):
    """What an engine knows of an instruction's encoding."""

    @property
    def text(self) -> str:
        """Assembler form with operand names."""

    @property
    def mnemonic(self) -> str:
        """Mnemonic with completers."""

    @property
    def units(self) -> tuple[str, ...]:
        """Slot types it goes into."""


class Cut(IntEnum):
    """Whether a block is the beginning of another one that was left in its middle."""

    WHOLE = 0
    FAILED_CHECK = 1
    """Its last instruction is a chk or fchkf that branched to recovery code."""
    FAULT = 2
    """The instruction after it faulted."""
    EDGE = 3
    """It was left for a stop, a data trigger or a read of performance data."""


class InstructionRecord(NamedTuple):
    """One instruction of a block.

    ``address``: bundle address | slot. ``slots``: 2 for the long instructions of MLX bundles, else 1. ``number``:
    of its row among ``rows``, None for a reserved encoding. ``condition``: bit of the block's mask that says that it
    executed (for a branch: was taken); None: it always does.
    """

    address: int
    encoding: int
    extension: int
    slots: int
    number: int | None
    rows: Callable[[int], Encoding]
    condition: int | None
    qp: int
    stop: bool
    multiway: bool
    """Its bundle holds more than one branch."""
    kind: int
    """Kind flags (stream.kinds.Kind)."""
    isa_kind: int
    """Kind flags of its instruction set (stream.ia64.Ia64Kind)."""
    unit: str
    """Type of its slot: M, I, F, B, X for the two of a long instruction, none in a reserved template."""

    @property
    def row(self) -> Encoding | None:
        """What the engine knows of its encoding, None when it is reserved."""
        return None if self.number is None else self.rows(self.number)

    @property
    def slot(self) -> int:
        """Its slot in the bundle."""
        return self.address & 3


class BlockRecord(NamedTuple):
    """A basic block: ``number`` in the stream, ``ip`` of its first instruction."""

    number: int
    ip: int
    instructions: tuple[InstructionRecord, ...]
    cut: Cut
