"""PowerPC programs: assembled by LLVM, and put into ELF files here, as no linker for them may be there; and what qemu
itself says of what they execute."""

import re
import shutil
import struct
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile
from host_programs import needs

PPC_ASSEMBLER = needs("llvm-mc")
CODE, DATA, READ_ONLY = 0x10000000, 0x10020000, 0x10040000
"""Where a program's segments are: its code, which it may write; 64 KB of zeros; a page that it may only read."""

HEADERS = 0x200
"""Bytes before the code."""


class Target(NamedTuple):
    """One of qemu's: its name, the triple of LLVM, the machine in ELF, order of bytes, bits."""

    name: str
    triple: str
    machine: int
    order: str
    bits: int


PPC64 = Target("ppc64", "powerpc64", 21, ">", 64)
PPC64LE = Target("ppc64le", "powerpc64le", 21, "<", 64)
PPC = Target("ppc", "powerpc", 20, ">", 32)
TARGETS = {target.name: target for target in (PPC64, PPC64LE, PPC)}
QEMU_PPC64 = needs("qemu-ppc64")
QEMU_PPC = needs(*(f"qemu-{name}" for name in TARGETS))
ENTRY = CODE + HEADERS


def has_qemu(name: str) -> bool:
    """Whether the emulator is here."""
    return shutil.which(f"qemu-{name}") is not None


def machine_code(text: str, target: Target) -> bytes:
    """The code of an assembly source, which has nothing that is left to a linker."""
    return machine_codes((text,), target)[text]


@cache
def machine_codes(texts: tuple[str, ...], target: Target) -> dict[str, bytes]:
    """The code of each of several sources: to start the assembler takes longer than what it does."""
    source = "".join(f"code_{number}:\n{text}\n" for number, text in enumerate(texts))
    assembler = ["llvm-mc", f"-triple={target.triple}", "-filetype=obj"]
    made = ELFFile(BytesIO(subprocess.run(assembler, input=source.encode(), check=True, capture_output=True).stdout))
    code, symbols = made.get_section_by_name(".text").data(), made.get_section_by_name(".symtab")
    begins = [symbols.get_symbol_by_name(f"code_{number}")[0]["st_value"] for number in range(len(texts))]
    return {text: code[begin:end] for text, begin, end in zip(texts, begins, [*begins[1:], len(code)], strict=True)}


def write_elf(path: Path, code: bytes, target: Target, *, fixed: bool = True, interpreter: str = "") -> Path:
    """An executable of three segments that begins with its code; its ABI is one without function descriptors.
    ``fixed``: it is at CODE, else at 0 and position-independent."""
    wide = target.bits == 64
    base = 0 if fixed else CODE
    named = interpreter.encode() + b"\0" if interpreter else b""
    rows = [(1, 7, 0, CODE - base, HEADERS + len(code)), (1, 6, 0, DATA - base, 0), (1, 4, 0, READ_ONLY - base, 0x200)]
    rows += [(3, 4, HEADERS + len(code), 0, len(named))] if interpreter else []
    ident = b"\x7fELF" + bytes([2 if wide else 1, 2 if target.order == ">" else 1, 1]) + bytes(9)
    sizes = (64, 56) if wide else (52, 32)
    words = (
        2 if fixed else 3,
        target.machine,
        1,
        ENTRY - base,
        sizes[0],
        0,
        2 if wide else 0,
        *sizes,
        len(rows),
        0,
        0,
        0,
    )
    header = ident + struct.pack(target.order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"), *words)
    for kind, flags, offset, address, size in rows:
        memory = size or 0x10000
        if wide:
            header += struct.pack(target.order + "IIQQQQQQ", kind, flags, offset, address, address, size, memory, 4096)
        else:
            header += struct.pack(target.order + "8I", kind, offset, address, address, size, memory, flags, 4096)
    path.write_bytes(header.ljust(HEADERS, b"\0") + code + named)
    path.chmod(0o755)
    return path


def ppc_program(directory: Path, text: str, target: Target = PPC64) -> Path:
    """An executable of this assembly source."""
    return write_elf(directory / "program", machine_code(text, target), target)


def executed(command: Sequence[str | Path], directory: Path, target: Target = PPC64) -> Iterator[list[tuple[int, int]]]:
    """Addresses and words of the instructions of every block that qemu says it executes, in a run on its own. A block
    that faults is said as a whole."""
    log = directory / "executed.log"
    options = ["-d", "in_asm,exec,nochain", "-D", log]
    subprocess.run([f"qemu-{target.name}", *options, *command], check=False, stdout=subprocess.DEVNULL)
    blocks: dict[int, list[tuple[int, int]]] = {}
    words: list[tuple[int, int]] = []
    with log.open() as lines:
        for line in lines:
            if line.startswith("IN:"):
                words = []
            elif shown := re.match(r"0x([0-9a-f]+):\s+([0-9a-f]{8})\s", line):
                if not words:
                    blocks[int(shown[1], 16)] = words
                words.append((int(shown[1], 16), int(shown[2], 16)))
            elif begun := re.match(r"Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/", line):
                yield blocks[int(begun[1], 16)]


# Extended opcodes of 31 (Power ISA, appendix: opcode maps), as far as the examples have them.
LOADS_31 = {
    20: "lwarx", 21: "ldx", 23: "lwzx", 53: "ldux", 55: "lwzux", 84: "ldarx", 87: "lbzx", 119: "lbzux", 279: "lhzx",
    311: "lhzux", 341: "lwax", 343: "lhax", 373: "lwaux", 535: "lfsx", 567: "lfsux", 599: "lfdx", 631: "lfdux",
}  # fmt: skip
STORES_31 = {
    149: "stdx", 151: "stwx", 181: "stdux", 183: "stwux", 215: "stbx", 247: "stbux", 407: "sthx", 439: "sthux",
    663: "stfsx", 695: "stfsux", 727: "stfdx", 759: "stfdux", 983: "stfiwx",
}  # fmt: skip


def is_load(word: int) -> bool:
    """lwz ... lbzu, lhz ... lhau, lmw, lfs ... lfdu, ld and lwa; and by extended opcode."""
    primary = word >> 26
    return primary in (*range(32, 36), *range(40, 44), 46, *range(48, 52), 58) or (
        primary == 31 and word >> 1 & 1023 in LOADS_31
    )


def is_store(word: int) -> bool:
    """stw ... stbu, sth, sthu, stmw, stfs ... stfdu, std; and by extended opcode."""
    primary = word >> 26
    return primary in (*range(36, 40), 44, 45, 47, *range(52, 56), 62) or (
        primary == 31 and word >> 1 & 1023 in STORES_31
    )
