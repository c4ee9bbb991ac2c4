from enum import IntFlag

from pfmon.stream.block_records import BlockRecord
from pfmon.stream.failure import Failure

class InstructionSet(IntFlag):
    IA64 = 1
    X86_64 = 2
    I386 = 3
    PPC64 = 4
    PPC = 5
    PPC64LE = 6

class Cut(IntFlag):
    WHOLE = 0
    FAILED_CHECK = 1
    FAULT = 2
    EDGE = 3
    PART = 4

class AccessKind(IntFlag):
    NO_ACCESS = 0
    READ = 1
    WRITE = 2
    READ_WRITE = 3
    FETCH_LINE = 4

class BranchKind(IntFlag):
    NO_BRANCH = 0
    DIRECT = 1
    INDIRECT = 2
    DIRECT_CALL = 3
    INDIRECT_CALL = 4
    RETURN_BRANCH = 5

class BlockTable:
    """Descriptions of blocks in memory that several threads and processes can share."""

    descriptor: int

    def __init__(
        self, instruction_set: int = ..., payload_bytes: int = 0, *, capacity: int = ..., attach: int | None = None
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def instruction_set(self) -> InstructionSet: ...
    @property
    def payload_bytes(self) -> int: ...
    @property
    def failure(self) -> Failure: ...
    def block(self, number: int) -> BlockRecord: ...
    def numbers(self) -> list[int]: ...
    def enter(self, record: BlockRecord, bank: int = 0) -> int: ...
