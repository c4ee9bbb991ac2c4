"""The log of a run on the slow path, instruction by instruction: what independent recounts read.

Addresses come from the traced stream, opcodes from the code in memory, slot types from its templates, and what an
instruction is from its disassembly; nothing of it comes from the counting path.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.isa.ia64.disassemble import disassemble

# Unit of each slot by template (SDM volume 3, table 4-1); A5 and the like go to the unit of their slot.
TEMPLATES = ["MII", "MII", "MLX", "", "MMI", "MMI", "MFI", "MMF", "MIB", "MBB", "", "BBB", "MMB", "", "MFB", ""]
SEMAPHORES = ("xchg", "cmpxchg", "cmp8xchg16", "fetchadd")
ADDRESS = (1 << 56) - 1


class Step(NamedTuple):
    """One retired instruction, or what the register stack engine did for it (``registers``)."""

    bundle: int
    slot: str
    opcode: int
    text: str
    head: str
    """The mnemonic without its completers."""
    qp: int
    executed: bool
    address: int | None = None
    spilled: tuple[int, ...] = ()
    filled: tuple[int, ...] = ()
    misses: int = 0
    number: int = 0
    """Of its slot; of one that fills two, the first."""


def logged_steps(words: Iterator[int], program: Ia64Guest) -> Iterator[Step]:
    """Steps from the words of a traced run in which every block is one instruction."""
    known: dict[int, tuple[Step, bool, bool]] = {}
    current: Step | None = None
    registers = last = 0
    for word in words:
        if word >> 63:
            assert current is not None
            kind, value = word >> 56 & 0x7F, word & 0xFFFFFFFF
            if kind in (4, 5):
                registers = value & 0xFFFF
            elif kind == 13:
                packed = word & ADDRESS
                base = (packed >> 53) << 61 | packed & (1 << 53) - 1
                stack = tuple(_backing_store(base, registers))
                current = current._replace(**{"spilled" if last == 4 else "filled": stack})
            elif kind == 6:
                current = current._replace(misses=1)
            last = kind
            continue
        if current:
            yield current
        number = word & 0xFFFFFFFF
        if number not in known:
            known[number] = _decoded(program, number)
        step, conditional, accesses = known[number]
        executed = not conditional or bool(word >> 32 & 1)
        current = step._replace(executed=executed)
        if accesses and executed:
            current = current._replace(address=next(words))
    if current:
        yield current


def _backing_store(base: int, registers: int) -> Iterator[int]:
    """Addresses of registers in the backing store: every 64th word is a collection of NaT bits (SDM 2, 6.1)."""
    while registers:
        if base >> 3 & 63 != 63:
            yield base
            registers -= 1
        base += 8


def _decoded(program: Ia64Guest, number: int) -> tuple[Step, bool, bool]:
    """An instruction read from memory; whether it is conditional; whether it makes an access when it executes."""
    block = program.processor.block(number)
    (instruction,) = block.instructions
    bundle, slot = instruction.address & ~15, instruction.address & 3
    raw = int.from_bytes(program.memory.read(bundle, 16), "little")
    units = TEMPLATES[raw >> 1 & 15]
    unit = units[slot]
    extension = 0
    if unit == "L":
        unit, slot, extension = "X", 2, raw >> 46 & (1 << 41) - 1
    opcode = raw >> 5 + 41 * slot & (1 << 41) - 1
    text = disassemble(unit, opcode, extension, bundle) or ""
    predicated = text.startswith("(p")
    text = text.partition(") ")[2] if predicated else text
    head = text.split(".")[0].split(" ")[0]
    memory = head[:2] in ("ld", "st") or head.startswith(("lfetch", *SEMAPHORES))
    letter = "i" if unit == "X" else unit.lower()
    qp = opcode & 63 if predicated else 0
    return (
        Step(bundle, letter, opcode, text, head, qp, True, number=instruction.address & 3),
        instruction.condition is not None,
        memory,
    )


def is_check_load(step: Step) -> bool:
    return step.head[:2] == "ld" and ".c." in step.text.split(" ")[0]


def is_load(step: Step) -> bool:
    return is_semaphore(step) or (step.executed and step.head[:2] == "ld" and not is_check_load(step))


def is_store(step: Step) -> bool:
    return is_semaphore(step) or (step.executed and step.head[:2] == "st")


def is_branch(step: Step) -> bool:
    return step.head in ("br", "brl")


def is_semaphore(step: Step) -> bool:
    return step.executed and step.head.startswith(SEMAPHORES)


Inside = Callable[[int | None], bool]

# Event signals by mnemonic: what a step adds, when `inside` says which data addresses count.
SIGNALS: dict[str, Callable[[Step, Inside], int]] = {
    "inst_retired": lambda s, _: 1,
    "nops_retired": lambda s, _: int(s.executed and s.head in ("nop", "hint")),
    "predicate_squashed": lambda s, _: int(not s.executed and s.qp != 0 and not is_branch(s) and s.slot != "b"),
    "branches.all": lambda s, _: int(is_branch(s)),
    "loads_retired": lambda s, inside: (
        int((is_load(s) or bool(s.misses and is_check_load(s))) and inside(s.address)) + sum(map(inside, s.filled))
    ),
    "stores_retired": lambda s, inside: int(is_store(s) and inside(s.address)) + sum(map(inside, s.spilled)),
    "data_references": lambda s, inside: (
        int(s.address is not None and inside(s.address)) + sum(map(inside, s.spilled + s.filled))
    ),
    "rse_references.all": lambda s, inside: sum(map(inside, s.spilled + s.filled)),
    "inst_failed_chka_ldc.all": lambda s, inside: int(s.misses and inside(s.address)),
}
SIGNALS.update({f"inst_tagged.{channel}": SIGNALS["inst_retired"] for channel in range(4)})
