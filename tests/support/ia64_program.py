"""Executables made of assembler text: one segment of code, one of data, as a linker would write them."""

import struct
from collections.abc import Iterable
from pathlib import Path

from ia64_assembly import Line, assemble

TEXT = 0x4000000000010000
DATA = 0x6000000000010000
PAGE = 0x4000
EXIT = ["alloc r33=ar.pfs,8,0,0", "adds r32=0,r0", "adds r15=1025,r0", "break.m 0x100000"]  # exit(0)


def write_program(path: Path, lines: Iterable[Line], data: bytes = b"") -> Path:
    """An executable for IA-64 Linux that begins with the first line; ``data`` lies at DATA, writable."""
    code = assemble(lines, TEXT)
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = ident + struct.pack("<HHIQQQIHHHHHH", 2, 50, 1, TEXT, 64, 0, 0x10, 64, 56, 2, 64, 0, 0)
    segments = [(5, PAGE, TEXT, code), (6, PAGE * (2 + len(code) // PAGE), DATA, data)]
    for flags, offset, address, content in segments:
        header += struct.pack("<IIQQQQQQ", 1, flags, offset, address, address, len(content), max(len(content), 8), PAGE)
    text = header.ljust(PAGE, b"\0") + code
    path.write_bytes(text.ljust(segments[1][1], b"\0") + data)
    path.chmod(0o755)
    return path
