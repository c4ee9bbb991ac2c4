"""A whole processor's code with a machine: assembled lines or images, from privilege level 0 on, and what a plain
reading of their stream says."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile
from ia64_assembly import CODE, Line, assemble

from pfmon.engine.ia64._ia64 import BREAK, AddressSpace, SystemProcessor
from pfmon.machine._machine import Cause, Machine, Occurrence
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import Consumer, Recorder
from pfmon.stream.marks import Mark

END = "break.m 0x80001"
PUT = 31
VECTORS = 0x8000
MEMORY = 64 << 20
MASK = 0xFFFFFFFF
IVA = 2
DT, IC = 1 << 17, 1 << 13
INSERTED = 3
"""The outcome of a walk that found its translation (stream_words.Walk)."""


def processor(memory: AddressSpace, entry: int, slow: bool) -> SystemProcessor:
    made = SystemProcessor(memory, max_block=1 if slow else 96, trace=True)
    made.set_reserved_breaks([0x80001])
    made.set_ip(entry)
    return made


def physical_memory() -> AddressSpace:
    memory = AddressSpace(1 << 30)
    memory.map(0, MEMORY, 7)
    return memory


def code(
    lines: Sequence[Line],
    vectors: Mapping[int, Sequence[Line]] | None = None,
    psr: int = 0,
    slow: bool = False,
    registers: Mapping[int, int] | None = None,
) -> SystemProcessor:
    """The processor at the first of some lines; ``vectors``: handlers by their offset from IVA."""
    memory = physical_memory()
    memory.write(CODE, assemble([*lines, END]))
    for offset, handler in (vectors or {}).items():
        memory.write(VECTORS + offset, assemble(handler, VECTORS + offset))
    made = processor(memory, CODE, slow)
    made.set_cr(IVA, VECTORS)
    made.set_psr(made.psr | psr)
    for number, value in (registers or {}).items():
        made.set_gr(number, value)
    return made


def image(path: Path, slow: bool = False) -> SystemProcessor:
    """The processor at the entry of an image."""
    memory = physical_memory()
    with path.open("rb") as file:
        found = ELFFile(file)
        for segment in found.iter_segments():
            if segment["p_type"] == "PT_LOAD":
                memory.write(segment["p_paddr"], segment.data())
        return processor(memory, found["e_entry"], slow)


def run(made: SystemProcessor, consumer: Consumer) -> str:
    """Runs it up to its exit; returns what it has printed."""
    text = ""
    while made.run(consumer) == BREAK:
        call = made.gr(15)
        if call != PUT:
            return text
        text += chr(made.gr(32) & 0xFF)
    raise AssertionError(made.machine_check)


def on_machine(made: SystemProcessor, machine: str = "montecito", memo: bool = True) -> Machine:
    """The machine after it has seen the run."""
    found = Machine(load(machine), made.table, (), memo)
    run(made, found)
    found.finish()
    assert not found.failure
    return found


def occurrences(machine: Machine) -> Counter[str]:
    found: Counter[str] = Counter()
    for (_, _, occurrence, _), times in machine.occurrences().items():
        found[Occurrence(occurrence).name] += times
    return found


def bubbles(machine: Machine) -> Counter[str]:
    found: Counter[str] = Counter()
    for _, _, cause, cycles in machine.bubbles():
        found[Cause(cause).name] += cycles
    return found


class Plain(NamedTuple):
    """What a plain reading of a stream says: walks of data and code by outcome, entries that walks read,
    instructions by mnemonic."""

    walks: Counter[tuple[bool, int]]
    entries: int
    executed: Counter[str]


def plainly(made: SystemProcessor) -> Plain:
    """Runs it, and reads its stream."""
    recorder = Recorder()
    run(made, recorder)
    walks: Counter[tuple[bool, int]] = Counter()
    executed: Counter[str] = Counter()
    entries = 0
    words = iter(recorder.words())
    for word in words:
        kind = word >> 56 & 0x7F
        if word >> 63:
            if kind == Mark.WALK:
                walks[bool(word & 1), word >> 1 & 3] += 1
            entries += kind == Mark.WALK_ADDRESS
            continue
        block = made.table.block(word & MASK)
        for place, one in enumerate(block.instructions):
            if one.condition is None or word >> 32 + one.condition & 1:
                executed[_texts(made, word & MASK)[place]] += 1
                for _ in range(bool(one.access)):
                    next(words)
    return Plain(walks, entries, executed)


@cache
def _texts(made: SystemProcessor, block: int) -> list[str]:
    return [one.row.text.split()[0] if one.row else "" for one in made.block(block).instructions]
