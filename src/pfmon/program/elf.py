"""ELF headers of IA-64 and x86-64 Linux executables: ELF64, little-endian (System V ABI, chapters 4 and 5).

Only headers are read here, with struct: this is on the path to a program's first instruction.
"""

from __future__ import annotations

import itertools
import struct

from pfmon.errors import PfmonError
from pfmon.light_typing import NamedTuple
from pfmon.program.machines import EM_IA_64, EM_X86_64, machine_name

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")

ET_EXEC, ET_DYN = 2, 3
PT_LOAD, PT_INTERP = 1, 3
PF_X, PF_W, PF_R = 1, 2, 4
TYPES = {0: "no file type", 1: "a relocatable object", 4: "a core file"}

LONGEST_INTERPRETER = 4096
# Five user regions, of which programs may use 2^44 bytes each less a page (Linux, 16 KB pages).
REGIONS = 5
REGION_LIMIT = (1 << 44) - (1 << 14)
# x86-64: the lower half of 48 bits of address, less a page.
X86_64_LIMIT = (1 << 47) - (1 << 12)


class Segment(NamedTuple):
    """A PT_LOAD segment: file_size bytes at offset of the file, then zeros up to memory_size."""

    address: int
    memory_size: int
    offset: int
    file_size: int
    flags: int


class Elf(NamedTuple):
    """What loading needs of an executable's headers; addresses are as linked, before any bias."""

    position_independent: bool
    entry: int
    segments: tuple[Segment, ...]
    interpreter: bytes | None
    program_headers: int  # address at which they are loaded, 0 if they are not
    program_header_count: int
    machine: int = EM_IA_64


def parse(data: bytes, name: str) -> Elf:
    """Read the headers of an IA-64 or x86-64 executable. Raises PfmonError, naming what is wrong with the file."""
    fields = _header(data, name)
    machine, file_type, entry, offset, entry_size, count = fields
    if count == 0:
        raise PfmonError(f"{name}: inconsistent ELF file: it has no program headers")
    if entry_size != PROGRAM_HEADER.size:
        raise PfmonError(f"{name}: inconsistent ELF file: program headers of {entry_size} bytes")
    if offset + count * entry_size > len(data):
        raise PfmonError(f"{name}: truncated ELF file: program headers end after the file does")
    headers = [PROGRAM_HEADER.unpack_from(data, offset + i * entry_size) for i in range(count)]
    segments = tuple(
        Segment(address, memory_size, at, file_size, flags)
        for kind, flags, at, address, _, file_size, memory_size, _ in headers
        if kind == PT_LOAD and memory_size > 0
    )
    _check_segments(segments, len(data), name, machine)
    if not any(s.flags & PF_X and s.address <= entry < s.address + s.memory_size for s in segments):
        raise PfmonError(f"{name}: inconsistent ELF file: entry point {entry:#x} is in no executable segment")
    return Elf(
        position_independent=file_type == ET_DYN,
        entry=entry,
        segments=segments,
        interpreter=_interpreter(data, headers, name),
        program_headers=_loaded_at(segments, offset, count * entry_size),
        program_header_count=count,
        machine=machine,
    )


def _header(data: bytes, name: str) -> tuple[int, int, int, int, int, int]:
    """Check the ELF header: machine, type, entry, and offset, entry size and count of the program headers."""
    if data[:4] != b"\x7fELF":
        raise PfmonError(f"{name}: not an ELF file")
    if len(data) < HEADER.size:
        raise PfmonError(f"{name}: truncated ELF file: {len(data)} bytes")
    ident, kind, machine, _, entry, offset, _, _, _, entry_size, count, _, _, _ = HEADER.unpack_from(data)
    elf_class, byte_order = ident[4], ident[5]
    if byte_order == 2:
        machine = int.from_bytes(data[18:20], "big")
    if elf_class not in (1, 2) or byte_order not in (1, 2) or ident[6] != 1:
        raise PfmonError(f"{name}: inconsistent ELF file: class {elf_class}, byte order {byte_order}")
    if machine not in (EM_IA_64, EM_X86_64):
        raise PfmonError(f"{name}: is {machine_name(machine)} program; IA-64 and x86-64 programs run")
    kind_of_program = machine_name(machine).partition(" ")[2]
    if elf_class == 1:
        raise PfmonError(f"{name}: is a 32-bit {kind_of_program} program; only 64-bit ones run")
    if byte_order == 2:
        raise PfmonError(f"{name}: is a big-endian {kind_of_program} program; only little-endian ones run")
    if kind not in (ET_EXEC, ET_DYN):
        raise PfmonError(f"{name}: is {TYPES.get(kind, f'ELF type {kind}')}, not an executable")
    return machine, kind, entry, offset, entry_size, count


def _check_segments(segments: tuple[Segment, ...], file_length: int, name: str, machine: int) -> None:
    """Segments lie in the file, in the user's address space, and do not overlap."""
    if not segments:
        raise PfmonError(f"{name}: inconsistent ELF file: it has nothing to load")
    for s in segments:
        where = f"segment at {s.address:#x}"
        if s.offset + s.file_size > file_length:
            raise PfmonError(f"{name}: truncated ELF file: {where} ends after the file does")
        if s.file_size > s.memory_size:
            raise PfmonError(f"{name}: inconsistent ELF file: {where} is larger in the file than in memory")
        if not _is_for_users(s, machine):
            raise PfmonError(f"{name}: inconsistent ELF file: {where} is outside the user's address space")
    ordered = sorted(segments)
    for low, high in itertools.pairwise(ordered):
        if low.address + low.memory_size > high.address:
            raise PfmonError(
                f"{name}: inconsistent ELF file: segments at {low.address:#x} and {high.address:#x} overlap"
            )


def _is_for_users(segment: Segment, machine: int) -> bool:
    if machine == EM_X86_64:
        return segment.address + segment.memory_size <= X86_64_LIMIT
    region, offset = segment.address >> 61, segment.address & ((1 << 61) - 1)
    return region < REGIONS and offset + segment.memory_size <= REGION_LIMIT


def _interpreter(data: bytes, headers: list[tuple[int, ...]], name: str) -> bytes | None:
    """The path in PT_INTERP of a dynamic executable."""
    for kind, _, offset, _, _, size, _, _ in headers:
        if kind == PT_INTERP:
            path = data[offset : offset + size]
            if not 2 <= size <= LONGEST_INTERPRETER or len(path) != size or path[-1] != 0:
                raise PfmonError(f"{name}: inconsistent ELF file: bad interpreter name")
            return path.split(b"\0", 1)[0]
    return None


def _loaded_at(segments: tuple[Segment, ...], offset: int, size: int) -> int:
    """The address at which file bytes [offset, offset + size) are loaded, or 0."""
    for s in segments:
        if s.offset <= offset and offset + size <= s.offset + s.file_size:
            return s.address + offset - s.offset
    return 0
