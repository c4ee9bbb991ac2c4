"""x86-64 instructions from text to bytes, and what the describer of blocks makes of them."""

from __future__ import annotations

import itertools
import platform
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pfmon.engine.qemu._qemu import X86Describer
from pfmon.engine.qemu.describe.x86_mnemonics import describer as made
from pfmon.engine.qemu.qemu_binary import capstone_library
from pfmon.engine.qemu.qemu_targets import MODE_64, PAYLOAD_BYTES, X86
from pfmon.stream._stream import BlockTable, InstructionSet

ASSEMBLES = pytest.mark.skipif(
    shutil.which("objcopy") is None or platform.machine() != "x86_64", reason="no assembler for x86-64 is here"
)


def machine_code(instructions: Sequence[str]) -> list[bytes]:
    """The bytes of each instruction, from the assembler, in Intel's syntax."""
    lines = [f".globl i{number}\ni{number}: {text}" for number, text in enumerate([*instructions, "hlt"])]
    with TemporaryDirectory() as directory:
        code, raw = Path(directory, "code.o"), Path(directory, "code")
        text = ".intel_syntax noprefix\n" + "\n".join(lines) + "\n"
        subprocess.run(["as", "-o", code, "-"], input=text, text=True, check=True)
        subprocess.run(["objcopy", "-O", "binary", "-j", ".text", code, raw], check=True)
        named = subprocess.run(["nm", code], capture_output=True, text=True, check=True).stdout
        places = sorted((int(name[1:]), int(place, 16)) for place, _, name in map(str.split, named.splitlines()))
        read = raw.read_bytes()
    starts = [place for _, place in places]
    return [read[start:end] for start, end in itertools.pairwise(starts)]


@cache
def describer(mode: int = MODE_64) -> X86Describer:
    """A describer of instructions of a mode (qemu_targets.py), for a table of its own."""
    instruction_set = InstructionSet.X86_64 if mode == MODE_64 else InstructionSet.I386
    return made(BlockTable(instruction_set, PAYLOAD_BYTES), capstone_library(), X86, mode)


@cache
def names() -> list[str]:
    """capstone's names of instructions, by its numbers less one."""
    return describer().names(b"cs_insn_name", 4096)


def name_of(form: int) -> str:
    """The mnemonic of a form."""
    return names()[(form & 0xFFF) - 1]
