"""A program that loads from a table, one load after the other, each alone."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from elftools.elf.elffile import ELFFile
from qemu_guests import assemble

TIMES, BEFORE, LINES = 500, 3, 1 << 14
"""Loads of the program, the instructions before its loop, and the bytes that they spread over."""
LOOP = 5
"""Instructions of the loop, of which the second one loads."""


def program(stride: int) -> str:
    """Loads one after the other, each alone: lfence waits for it."""
    return f"""
.bss
.balign 4096
table: .skip {TIMES * stride + 4096}
.text
_start:
    lea table(%rip), %rsi
    xor %ecx, %ecx
    mov $231, %eax
again:
    mov %rcx, %rdx
load:
    mov (%rsi), %rbx
    lfence
    add ${stride}, %rsi
    inc %ecx
    cmp ${TIMES}, %ecx
    jne again
    xor %edi, %edi
    syscall
"""


@cache
def built(stride: int) -> "tuple[TemporaryDirectory[str], Path, int, int]":
    """The program, the address of its loads, and that of the first one's data."""
    directory = TemporaryDirectory()
    made = assemble(Path(directory.name), program(stride), "-no-pie")
    with made.open("rb") as file:
        symbols = {one.name: one["st_value"] for one in ELFFile(file).get_section_by_name(".symtab").iter_symbols()}
    return directory, made, symbols["load"], symbols["table"]
