"""Executables made of assembler text: one segment of code, one of data, as a linker would write them."""

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from ia64_assembly import Line, assemble

TEXT = 0x4000000000010000
DATA = 0x6000000000010000
PAGE = 0x4000
EXIT = ["alloc r33=ar.pfs,8,0,0", "adds r32=0,r0", "adds r15=1025,r0", "break.m 0x100000"]  # exit(0)


def write_program(path: Path, lines: Iterable[Line], data: bytes = b"", debug: dict[str, bytes] | None = None) -> Path:
    """An executable for IA-64 Linux that begins with the first line; ``data`` lies at DATA, writable; ``debug``:
    sections by name."""
    code = assemble(lines, TEXT)
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = ident + struct.pack("<HHIQQQIHHHHHH", 2, 50, 1, TEXT, 64, 0, 0x10, 64, 56, 2, 64, 0, 0)
    segments = [(5, PAGE, TEXT, code), (6, PAGE * (2 + len(code) // PAGE), DATA, data)]
    for flags, offset, address, content in segments:
        header += struct.pack("<IIQQQQQQ", 1, flags, offset, address, address, len(content), max(len(content), 8), PAGE)
    text = header.ljust(PAGE, b"\0") + code
    path.write_bytes(with_sections(text.ljust(segments[1][1], b"\0") + data, debug or {}))
    path.chmod(0o755)
    return path


def with_sections(elf: bytes, sections: dict[str, bytes]) -> bytes:
    """An ELF file without sections, with these behind it."""
    if not sections:
        return elf
    names = b"\0"
    table = [bytes(64)]
    for name, content in {**sections, ".shstrtab": b""}.items():
        start = len(names)
        names += name.encode() + b"\0"
        content = content or names
        kind = {".symtab": 2}.get(name, 1 if name[1] == "d" else 3)
        link, entry = (len(table) + 1, 24) if kind == 2 else (0, 0)  # its names are in the section behind it
        table.append(struct.pack("<IIQQQQIIQQ", start, kind, 0, 0, len(elf), len(content), link, 0, 1, entry))
        elf += content
    header = bytearray(elf[:64])
    struct.pack_into("<Q", header, 40, len(elf))
    struct.pack_into("<HHH", header, 58, 64, len(table), len(table) - 1)
    return bytes(header) + elf[64:] + b"".join(table)


def symbols(functions: dict[str, tuple[int, int]]) -> dict[str, bytes]:
    """Sections that name functions, at (address, size)."""
    names, table = b"\0", bytes(24)
    for name, (address, size) in functions.items():
        table += struct.pack("<IBBHQQ", len(names), 0x12, 0, 1, address, size)
        names += name.encode() + b"\0"
    return {".symtab": table, ".strtab": names}


def uleb(value: int) -> bytes:
    """A number as DWARF has it: seven bits a byte, the lowest first."""
    more, low = value >> 7, value & 0x7F
    return bytes([low | 0x80]) + uleb(more) if more else bytes([low])


def debug_lines(files: Sequence[str], rows: Sequence[Sequence[tuple[int, int, int]]]) -> dict[str, bytes]:
    """DWARF 2 sections of one unit: sequences of (address, number of the file from 1, line); the last ends it."""
    program = b""
    for sequence in rows:
        line, file = 1, 1
        for number, (address, to_file, to_line) in enumerate(sequence):
            program += b"\0\x09\x02" + struct.pack("<Q", address)  # set_address
            if number == len(sequence) - 1:
                program += b"\0\x01\x01"  # end_sequence
                break
            if to_file != file:
                program += b"\x04" + uleb(to_file)
            distance = to_line - line
            # advance_line takes a signed number: one byte does for 6 bits and a sign.
            while distance:
                step = max(-64, min(63, distance))
                program += b"\x03" + bytes([step & 0x7F])
                distance -= step
            program += b"\x01"  # copy
            line, file = to_line, to_file
    folders = b"".join(f"{Path(name).parent}\0".encode() for name in files) + b"\0"
    entries = b"".join(f"{Path(name).name}\0".encode() + uleb(n + 1) + b"\0\0" for n, name in enumerate(files)) + b"\0"
    prologue = struct.pack("<BBbBB", 1, 1, -5, 14, 10) + bytes([0, 1, 1, 1, 1, 0, 0, 0, 1]) + folders + entries
    table = struct.pack("<HI", 2, len(prologue)) + prologue + program
    unit = struct.pack("<HIB", 2, 0, 8) + b"\x01" + struct.pack("<I", 0)  # version, abbreviations, address size
    return {
        ".debug_line": struct.pack("<I", len(table)) + table,
        ".debug_info": struct.pack("<I", len(unit)) + unit,
        ".debug_abbrev": bytes([1, 0x11, 0, 0x10, 0x06, 0, 0, 0]),  # compile unit: stmt_list, data4
    }
