"""Symbols of a Linux kernel whose image has no symbol table: from its System.map, or from the tables in its memory out
of which it shows /proc/kallsyms.

They become the symbol table of an ELF file, as that of a separate debug file. Sizes are not known.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from pfmon.errors import PfmonError
from pfmon.program.elf import Elf
from pfmon.program.elf_sections import ElfSections
from pfmon.program.symbols import SHT_SYMTAB

REGION_SHIFT, KERNEL_REGION = 61, 5
FUNCTION, OBJECT = 2, 1
KINDS = {**dict.fromkeys("tTwW", FUNCTION), **dict.fromkeys("dDbBrRgGsSvV", OBJECT)}
"""By nm(1)'s letters."""
WEAK = "wWvV"
LOCAL, GLOBAL, WEAK_BINDING = 0, 1, 2
SOME_SECTION = 1
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
SHT_STRTAB = 3
MOST_SYMBOLS = 1 << 20
FEWEST_SYMBOLS = 256
"""Fewer ascending words are no table of addresses."""
TOKENS = 256
NAMES_A_MARKER = 256
SEQUENCE_BYTES = 3
"""Of an entry of kallsyms_seqs_of_names, which is there since Linux 6.2, and in some stable kernels before."""
LONG_NAME = 0x80
ALIGNMENT = 8


class KernelSymbol(NamedTuple):
    """``letter``: its kind as in nm(1)."""

    address: int
    letter: str
    name: str


def has_symbols(data: bytes) -> bool:
    """Whether an ELF file has a symbol table."""
    return any(section.kind == SHT_SYMTAB for section in ElfSections(data).all)


def system_map(text: bytes, path: str) -> list[KernelSymbol]:
    """Read a System.map: address, letter and name in each line. PfmonError: it is none."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split()
        try:
            address, letter, name = int(parts[0], 16), parts[1].decode("ascii"), parts[2].decode()
        except (ValueError, IndexError):
            raise PfmonError(f"--sysmap-file={path}: line {number} is not an address, a letter and a name") from None
        if len(letter) != 1 or address >> 64 or len(parts) not in (3, 4):
            raise PfmonError(f"--sysmap-file={path}: line {number} is not an address, a letter and a name")
        found.append(KernelSymbol(address, letter, name))
    if not found:
        raise PfmonError(f"--sysmap-file={path}: has no symbols")
    return found


def symbol_file(symbols: Iterable[KernelSymbol]) -> bytes:
    """An ELF file of nothing but a symbol table, with the code and the data of a kernel."""
    strings, entries = bytearray(b"\0"), bytearray(SYMBOL.size)
    for one in symbols:
        kind = KINDS.get(one.letter)
        if kind is None or one.address >> REGION_SHIFT != KERNEL_REGION:
            continue
        binding = WEAK_BINDING if one.letter in WEAK else GLOBAL if one.letter.isupper() else LOCAL
        entries += SYMBOL.pack(len(strings), binding << 4 | kind, 0, SOME_SECTION, one.address, 0)
        strings += one.name.encode() + b"\0"
    names = b"\0.symtab\0.strtab\0"
    contents = [bytes(entries), bytes(strings), names]
    places = list(accumulate((len(one) for one in contents), initial=HEADER.size))
    sections = [
        SECTION.pack(*[0] * 10),
        SECTION.pack(1, SHT_SYMTAB, 0, 0, places[0], len(entries), 2, 1, 8, SYMBOL.size),
        SECTION.pack(9, SHT_STRTAB, 0, 0, places[1], len(strings), 0, 0, 1, 0),
        SECTION.pack(9, SHT_STRTAB, 0, 0, places[2], len(names), 0, 0, 1, 0),
    ]
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    head = HEADER.pack(identity, 2, 50, 1, 0, 0, places[3], 0, HEADER.size, 0, 0, SECTION.size, len(sections), 3)
    return head + b"".join(contents + sections)


def kallsyms(data: bytes, elf: Elf) -> list[KernelSymbol]:
    """The symbols that a kernel's image has for /proc/kallsyms (Linux, kernel/kallsyms.c and scripts/kallsyms.c of 6.1,
    addresses as they are); none if there are no such tables, or if they do not agree with each other."""
    for segment in elf.segments:
        content = data[segment.offset : segment.offset + segment.file_size]
        for start, count in _address_tables(content):
            if names := _names(content, start + 8 * count, count):
                addresses = struct.unpack_from(f"<{count}Q", content, start)
                return [KernelSymbol(at, name[0], name[1:]) for at, name in zip(addresses, names, strict=True)]
    return []


def _address_tables(content: bytes) -> Iterator[tuple[int, int]]:
    """Offset and length of what may be kallsyms_addresses: ascending words, most of them the kernel's, with their
    number behind."""
    words = struct.unpack_from(f"<{len(content) // 8}Q", content)
    breaks = [place for place, (before, word) in enumerate(pairwise(words), 1) if word < before]
    edges = [0, *breaks, len(words)]
    for first, end in pairwise(edges):
        if end - first < FEWEST_SYMBOLS or end == len(words):
            continue
        count = words[end] & 0xFFFFFFFF
        middle = words[end - count // 2] if FEWEST_SYMBOLS <= count <= min(end - first, MOST_SYMBOLS) else 0
        if middle >> REGION_SHIFT == KERNEL_REGION:
            yield 8 * (end - count), count


def _names(content: bytes, at: int, count: int) -> list[str] | None:
    """The names behind kallsyms_num_syms, each with its letter; None: what follows is no such table."""
    at += ALIGNMENT
    parts: list[bytes] = []
    starts = []
    first = at
    for number in range(count):
        if at + 2 > len(content):
            return None
        if number % NAMES_A_MARKER == 0:
            starts.append(at - first)
        length = content[at]
        at += 1
        if length & LONG_NAME:
            length = length & LONG_NAME - 1 | content[at] << 7
            at += 1
        if length == 0:
            return None
        parts.append(content[at : at + length])
        at += length
    at = _aligned(at)
    markers = struct.pack(f"<{len(starts)}I", *starts)
    if content[at : at + len(markers)] != markers:
        return None
    at = _aligned(at + len(markers))
    tokens = _tokens(content, at) or _tokens(content, _aligned(at + SEQUENCE_BYTES * count))
    if tokens is None:
        return None
    found = [b"".join(tokens[one] for one in part).decode("ascii", "replace") for part in parts]
    return found if all(len(name) > 1 for name in found) else None


def _tokens(content: bytes, at: int) -> Sequence[bytes] | None:
    """kallsyms_token_table, if kallsyms_token_index behind it names its texts."""
    start, found, places = at, [], []
    for _ in range(TOKENS):
        end = content.find(b"\0", at, at + TOKENS)
        if end < 0:
            return None
        places.append(at - start)
        found.append(content[at:end])
        at = end + 1
    index = content[_aligned(at) : _aligned(at) + 2 * TOKENS]
    return found if index == struct.pack(f"<{TOKENS}H", *(place & 0xFFFF for place in places)) else None


def _aligned(at: int) -> int:
    return at + ALIGNMENT - 1 & -ALIGNMENT
