"""A whole processor's code without an engine: runs of blocks at any privilege, played as an engine of system mode would
write them, with exact stops. They are those of an example, whose instructions are known one by one."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from guests import guest, quiet
from instruction_log import Step, logged_steps

from pfmon.stream._stream import BlockTable, Consumer, Cut, Mark, Recorder
from pfmon.stream.recording.block_records import BlockRecord

MASK = 0xFFFFFFFF
NOBODY = 255
OUTSIDE = 224
"""Of none of the instructions, at a privilege that is added (stream_words.pxd)."""


class BlockRun(NamedTuple):
    """A run of a block: its number, its conditions, the addresses of its accesses, the words of its marks."""

    block: int
    held: int
    addresses: tuple[int, ...]
    marks: tuple[int, ...]


class Played(NamedTuple):
    """An example that has run: its blocks, its runs, and what its instructions did."""

    blocks: dict[int, BlockRecord]
    runs: list[BlockRun]
    steps: list[Step]
    payload_bytes: int


def kind_of(mark: int) -> int:
    return mark >> 56 & 0x7F


def level_marks(left: int, entered: int) -> list[int]:
    """The marks of a change of level from one privilege to another; they name the one that is left."""
    if not (left ^ entered) & 3:
        return []
    return [
        1 << 63 | kind << 56 | OUTSIDE + left << 32 | level & 3
        for kind, level in ((Mark.LEVEL_LEFT, left), (Mark.LEVEL_ENTERED, entered))
    ]


def accesses_in(block: BlockRecord, held: int, end: int) -> int:
    """How many of the first instructions of a run make an access."""
    first = block.instructions[:end]
    return sum(bool(one.access) and (one.condition is None or bool(held >> one.condition & 1)) for one in first)


@cache
def played(name: str, *arguments: str) -> Played:
    """An example's run. Its calls of the operating system are interruptions here."""
    program, words = guest(name, arguments, trace=True), Recorder()
    slow, log = guest(name, arguments, slow=True, trace=True), Recorder()
    with quiet():
        program.run(words)
        slow.run(log)
    steps = list(logged_steps(iter(log.words()), slow))
    blocks: dict[int, BlockRecord] = {}
    runs: list[BlockRun] = []
    stream = iter(words.words())
    for word in stream:
        if word >> 63:
            last = runs.pop()
            called = kind_of(word) in (Mark.SYSTEM_CALL, Mark.FAULT)
            mark = 1 << 63 | Mark.INTERRUPTION << 56 | NOBODY << 32 | 0x2C00 if called else word
            runs.append(last._replace(marks=(*last.marks, mark)))
            continue
        number, held = word & MASK, word >> 32
        block = blocks.setdefault(number, program.table.block(number))
        count = accesses_in(block, held, len(block.instructions))
        runs.append(BlockRun(number, held, tuple(next(stream) for _ in range(count)), ()))
    program.close()
    slow.close()
    assert sum(len(blocks[run.block].instructions) for run in runs) == len(steps)
    return Played(blocks, runs, steps, program.table.payload_bytes)


def changing(code: Played, seed: object, choices: Sequence[int] = range(16)) -> list[int]:
    """A privilege for each run of a block: it changes now and then."""
    pick, found, now = random.Random(str(seed)), [], choices[0]
    for _ in code.runs:
        if pick.random() < 0.1:
            now = pick.choice(choices)
        found.append(now)
    return found


class PlayedSystem:
    """An engine (guest_pmu.CountedProgram) that plays the runs, each at a privilege."""

    traced = True

    def __init__(self, code: Played, privileges: Sequence[int]) -> None:
        self.code, self.privileges = code, privileges
        self.table = BlockTable(payload_bytes=code.payload_bytes)
        self.retired = 0
        self._numbers: dict[tuple[int, int, int, int], int] = {}
        self._next = 0
        self._offset = 0

    @property
    def over(self) -> bool:
        return self._next == len(self.code.runs)

    @property
    def ip(self) -> int:
        """The next instruction."""
        if self.over:
            return 0
        return self.code.blocks[self.code.runs[self._next].block].instructions[self._offset].address

    def step_privileges(self) -> Iterator[int]:
        """The privilege of each instruction."""
        for run, privilege in zip(self.code.runs, self.privileges, strict=True):
            yield from [privilege] * len(self.code.blocks[run.block].instructions)

    def play(self, consumer: Consumer, until: int | None = None) -> None:
        """Run, up to exactly so many retired instructions."""
        words: list[int] = []
        while not self.over and (until is None or self.retired < until):
            run = self.code.runs[self._next]
            length = len(self.code.blocks[run.block].instructions)
            end = length if until is None else min(length, self._offset + until - self.retired)
            words += self._part(run, self._offset, end)
            self.retired += end - self._offset
            self._next, self._offset = (self._next + 1, 0) if end == length else (self._next, end)
        recorder = Recorder()
        recorder.load(words)
        recorder.replay(consumer)

    def _part(self, run: BlockRun, start: int, end: int) -> Iterator[int]:
        """The words of some instructions of a run."""
        block = self.code.blocks[run.block]
        skipped = sum(one.condition is not None for one in block.instructions[:start])
        kept = sum(one.condition is not None for one in block.instructions[start:end])
        number = self._number(run.block, start, end, self.privileges[self._next])
        yield (run.held >> skipped & (1 << kept) - 1) << 32 | number
        yield from run.addresses[accesses_in(block, run.held, start) : accesses_in(block, run.held, end)]
        taken = False
        for mark in run.marks:
            if kind_of(mark) != Mark.RSE_ADDRESS:
                index = mark >> 32 & 0xFF
                taken = start <= index < end if index < len(block.instructions) else end == len(block.instructions)
                mark -= start << 32 if index != NOBODY else 0
            if taken:
                yield mark
        if end == len(block.instructions):
            yield from self._level_marks()

    def _level_marks(self) -> Iterator[int]:
        """The marks of a change of level behind the run."""
        if self._next + 1 == len(self.code.runs):
            return
        yield from level_marks(self.privileges[self._next], self.privileges[self._next + 1])

    def _number(self, number: int, start: int, end: int, privilege: int) -> int:
        """The block of some instructions at a privilege."""
        key = number, start, end, privilege
        if key not in self._numbers:
            block = self.code.blocks[number]
            instructions, conditions = [], 0
            for one in block.instructions[start:end]:
                condition = None if one.condition is None else conditions
                conditions += one.condition is not None
                instructions.append(one._replace(condition=condition, privilege=privilege))
            cut = block.cut if end == len(block.instructions) else Cut.EDGE
            made = block._replace(ip=instructions[0].address, instructions=tuple(instructions), cut=cut)
            self._numbers[key] = self.table.enter(made)
        return self._numbers[key]
