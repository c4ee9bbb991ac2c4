"""What a short program retires, by single steps of the host's processor (x86_64_steps.c), and what these instructions
are by capstone."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import capstone
from capstone import x86

SOURCE = Path(__file__).resolve().with_name("x86_64_steps.c")


class Steps(NamedTuple):
    """Instructions that a program retired, and those of them that are branches, that load, that store."""

    instructions: int
    branches: int
    loads: int
    stores: int


def stepped(command: Sequence[str | Path], directory: Path) -> list[bytes]:
    """The instructions that a program retires, in order; the directory gets the program that steps."""
    stepper = directory / "steps"
    if not stepper.exists():
        subprocess.run(["cc", "-O1", "-o", stepper, SOURCE], check=True)
    done = subprocess.run([stepper, *command], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True)
    return [bytes.fromhex(line) for line in done.stdout.splitlines() if len(line) == 30]


BRANCHES = {capstone.CS_GRP_JUMP, capstone.CS_GRP_CALL, capstone.CS_GRP_RET}


def counted_by_steps(command: Sequence[str | Path], directory: Path) -> Steps:
    """What a program retires. Instructions without operands in memory that load or store (``push``, ``movsb``) count as
    capstone's implicit registers say: none is in the programs that are counted so."""
    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    disassembler.detail = True
    counts = [0, 0, 0, 0]
    for code in stepped(command, directory):
        one = next(disassembler.disasm(code, 0, 1))
        memory = [operand for operand in one.operands if operand.type == x86.X86_OP_MEM]
        signs = (
            True,
            bool(BRANCHES & set(one.groups)),
            any(operand.access & capstone.CS_AC_READ for operand in memory),
            any(operand.access & capstone.CS_AC_WRITE for operand in memory),
        )
        counts = [count + sign for count, sign in zip(counts, signs, strict=True)]
    return Steps(*counts)
