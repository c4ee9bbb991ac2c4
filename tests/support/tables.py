"""Made-up blocks, and streams of them."""

import random
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from pfmon.stream._stream import AccessKind, BranchKind, Cut
from pfmon.stream.recording.block_records import BlockRecord, InstructionRecord

PARTS_BANK = 1 << 23
NO_INSTRUCTION = 255


def record(length: int, *, payload: bytes = b"\1\2\3\4", ip: int = 0x4000) -> BlockRecord:
    """A block of so many instructions, every third of them a load."""
    instructions = [
        InstructionRecord(ip + 16 * i, 1 << i % 15, 0, 8, 16, None, int(i % 3 == 0), 0, 3, payload)
        for i in range(length)
    ]
    return BlockRecord(0, ip, tuple(instructions), Cut.WHOLE, 0, 0)


@st.composite
def blocks(draw: st.DrawFn, most: int = 12) -> BlockRecord:
    """Blocks as an engine may describe them: the conditions of a block are numbered in order."""
    found: list[InstructionRecord] = []
    ip = draw(st.integers(0, 2**59)) * 16
    conditions, privilege = 0, draw(st.integers(0, 15))
    for number in range(draw(st.integers(1, most))):
        conditional = draw(st.booleans())
        found.append(
            InstructionRecord(
                ip + number,
                draw(st.integers(0, 2**32 - 1)),
                draw(st.integers(0, 2**32 - 1)),
                draw(st.integers(0, 2**16 - 1)),
                draw(st.integers(0, 255)),
                conditions if conditional else None,
                draw(st.sampled_from(list(AccessKind))),
                draw(st.sampled_from(list(BranchKind))),
                privilege,
                draw(st.binary(min_size=4, max_size=4)),
            )
        )
        conditions += conditional
    return BlockRecord(0, ip, tuple(found), draw(st.sampled_from(list(Cut))), 0, 0)


def accesses(block: BlockRecord, held: int) -> int:
    """How many accesses a run of a block makes, when these conditions hold."""
    return sum(1 for one in block.instructions if one.access and (one.condition is None or held >> one.condition & 1))


def some_words(table: Sequence[BlockRecord], pick: random.Random, runs: int, *, traced: bool = True) -> list[int]:
    """A stream of so many runs of the table's blocks, with conditions, addresses and marks as an engine may write."""
    words: list[int] = []
    strides: dict[tuple[int, int], Any] = {}
    number = 0
    for _ in range(runs):
        number = pick.choice((number, (number + 1) % len(table), pick.randrange(len(table))))
        block = table[number]
        conditions = sum(one.condition is not None for one in block.instructions)
        held = pick.choice((0, (1 << conditions) - 1, pick.getrandbits(conditions) if conditions else 0))
        words.append(held << 32 | number)
        if traced:
            for access in range(accesses(block, held)):
                last, stride = strides.get((number, access), (pick.getrandbits(64), 8))
                at = pick.choice((last + stride, last + stride, pick.getrandbits(64))) & 2**64 - 1
                strides[number, access] = at, stride
                words.append(at)
        words += some_marks(len(block.instructions), pick, traced=traced)
    return words


def some_marks(length: int, pick: random.Random, *, traced: bool = True) -> list[int]:
    """A few marks of a block with so many instructions: mostly none."""
    found: list[int] = []
    while pick.random() < 0.2:
        kind = pick.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11))
        instruction = NO_INSTRUCTION if kind < 4 else pick.randrange(length)
        found.append(1 << 63 | kind << 56 | instruction << 32 | pick.choice((0, 1, 2, 3, pick.getrandbits(32))))
        if traced and kind in (4, 5):
            found.append(1 << 63 | 13 << 56 | pick.getrandbits(56))
        if instruction == NO_INSTRUCTION:
            break  # what no instruction did comes behind what the instructions of the block did
    return found
