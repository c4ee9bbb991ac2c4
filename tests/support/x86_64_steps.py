"""What a short program retires, by single steps of the host's processor (x86_64_steps.c), and what these instructions
are by capstone."""

import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import capstone
from capstone import x86

SOURCE = Path(__file__).resolve().with_name("x86_64_steps.c")


class Step(NamedTuple):
    """An instruction that retired: its address, and its bytes with those behind them."""

    ip: int
    code: bytes


class Counts(NamedTuple):
    """Retired instructions, and those of them that are branches, that load, that store."""

    instructions: int
    branches: int
    loads: int
    stores: int


@cache
def stepper() -> "TemporaryDirectory[str]":
    """A directory with the program that steps, which is compiled once."""
    directory = TemporaryDirectory()
    subprocess.run(["cc", "-O1", "-o", Path(directory.name, "steps"), SOURCE], check=True)
    return directory


def stepped(command: Sequence[str | Path], directory: Path) -> list[Step]:
    """The instructions that a program retires, in order; the directory gets the file that says them."""
    made, nothing = directory / "stepped", subprocess.DEVNULL
    words = [Path(stepper().name, "steps"), made, *command]
    subprocess.run(words, stdin=nothing, stdout=nothing, stderr=nothing, check=True)
    lines = (line.split() for line in made.read_text().splitlines())
    return [Step(int(ip, 16), bytes.fromhex(code)) for ip, code in lines]


BRANCHES = {capstone.CS_GRP_JUMP, capstone.CS_GRP_CALL, capstone.CS_GRP_RET, capstone.CS_GRP_BRANCH_RELATIVE}
PUSHES, POPS = ("push", "call", "enter"), ("pop", "ret", "leave")
NO_ACCESS = ("lea", "nop", "prefetch")
"""Beginnings of mnemonics: of instructions that store to the stack, that load from it, and whose operand in memory is
not accessed (SDM volume 2)."""


def counts(steps: Iterable[Step]) -> Counts:
    """What capstone says of the instructions."""
    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    disassembler.detail = True
    known: dict[bytes, Counts] = {}
    total = [0, 0, 0, 0]
    for step in steps:
        if step.code not in known:
            known[step.code] = _count(next(disassembler.disasm(step.code, step.ip, 1)))
        total = [count + more for count, more in zip(total, known[step.code], strict=True)]
    return Counts(*total)


def _count(one: capstone.CsInsn) -> Counts:
    name = one.mnemonic.split()[-1]
    memory = [] if name.startswith(NO_ACCESS) else [part for part in one.operands if part.type == x86.X86_OP_MEM]
    loads = name.startswith(POPS) or any(part.access & capstone.CS_AC_READ for part in memory)
    stores = name.startswith(PUSHES) or any(part.access & capstone.CS_AC_WRITE for part in memory)
    if name.startswith("set"):  # capstone has some of them for loads
        loads, stores = False, bool(memory)
    return Counts(1, bool(BRANCHES & set(one.groups)), loads, stores)
