"""ELF headers of Linux executables for the supported machines (System V ABI, chapters 4 and 5).

Only headers are read here, with struct, to keep a program's start fast.
"""

from __future__ import annotations

import itertools
import struct
from typing import NamedTuple

from pfmon.errors import PfmonError
from pfmon.program.elf_machine import EM_386, EM_IA_64, EM_PPC, EM_PPC64, EM_X86_64, machine_name

HEADER = {32: "16sHHIIIIIHHHHHH", 64: "16sHHIQQQIHHHHHH"}
PROGRAM_HEADERS = {32: "IIIIIIII", 64: "IIQQQQQQ"}
"""Fields, by address size in bits."""

PROGRAM_HEADER = struct.Struct("<" + PROGRAM_HEADERS[64])

ET_EXEC, ET_DYN = 2, 3
PT_LOAD, PT_INTERP = 1, 3
PF_X, PF_W, PF_R = 1, 2, 4
TYPES = {0: "no file type", 1: "a relocatable object", 4: "a core file"}

MAX_INTERPRETER_BYTES = 4096
# Programs may use 2^44 bytes less a page of each of five user regions (Linux, 16 KB pages).
REGIONS = 5
REGION_LIMIT = (1 << 44) - (1 << 14)

LITTLE, BIG = 1, 2
WORDS = {LITTLE: "little", BIG: "big"}


class ElfForm(NamedTuple):
    """The form of a machine's files: address size in bits, byte orders, and the first address beyond user space."""

    bits: int
    orders: tuple[int, ...]
    limit: int = 1 << 32


FORMS = {
    EM_IA_64: ElfForm(64, (LITTLE,), REGIONS << 61),
    EM_X86_64: ElfForm(64, (LITTLE,), (1 << 47) - (1 << 12)),  # the lower half of 48 bits of address, less a page
    EM_386: ElfForm(32, (LITTLE,)),
    EM_PPC: ElfForm(32, (BIG,)),
    EM_PPC64: ElfForm(64, (BIG, LITTLE), 1 << 47),  # as on qemu's hosts
}
"""By machine."""

EF_PPC64_ABI = 3
DESCRIPTORS = 2
"""Before this version of the 64-bit PowerPC ABI (in the header's flags) a function's address is that of a descriptor,
whose first word is the address of the code (64-bit PowerPC ELF ABI Supplement 1.9, section 3.2.5)."""


class Segment(NamedTuple):
    """A PT_LOAD segment: file_size bytes at the file's offset, then zeros up to memory_size."""

    address: int
    memory_size: int
    offset: int
    file_size: int
    flags: int


class Elf(NamedTuple):
    """The parts of an executable's headers needed for loading; addresses are as linked, before any bias. ``physical``:
    of a system image (system_image.py) the physical address of each segment, and ``physical_entry`` that of the entry
    point."""

    position_independent: bool
    entry: int
    segments: tuple[Segment, ...]
    interpreter: bytes | None
    program_headers: int  # their address when loaded, 0 if not loaded
    program_header_count: int
    machine: int = EM_IA_64
    big_endian: bool = False
    physical: tuple[int, ...] = ()
    physical_entry: int = 0


def parse(data: bytes, name: str, is_program: bool = True) -> Elf:
    """Read the headers of an executable, or of a shared object, which has no entry point. Raises PfmonError, describing
    the error in the file."""
    header = read_header(data, name)
    headers = program_headers(data, header, name)
    segments = tuple(
        Segment(address, memory_size, at, file_size, flags)
        for kind, flags, at, address, _, file_size, memory_size, _ in headers
        if kind == PT_LOAD and memory_size > 0
    )
    _check_segments(segments, len(data), name, header.machine)
    entry = _described(data, segments, header) if header.descriptors else header.entry
    if is_program and not any(s.flags & PF_X and s.address <= entry < s.address + s.memory_size for s in segments):
        raise PfmonError(f"{name}: inconsistent ELF file: entry point {entry:#x} is in no executable segment")
    return Elf(
        position_independent=header.kind == ET_DYN,
        entry=entry,
        segments=segments,
        interpreter=_interpreter(data, headers, name),
        program_headers=_loaded_at(segments, header.offset, header.entries * header.entry_size),
        program_header_count=header.entries,
        machine=header.machine,
        big_endian=header.order == ">",
    )


class Header(NamedTuple):
    """The used fields of an ELF header. ``order``: struct's byte order; ``descriptors``: the entry is the address of a
    function descriptor."""

    machine: int
    kind: int
    entry: int
    offset: int
    entry_size: int
    entries: int
    bits: int
    order: str
    descriptors: bool


def read_header(data: bytes, name: str) -> Header:
    """Read and check the ELF header. Raises PfmonError."""
    if data[:4] != b"\x7fELF":
        raise PfmonError(f"{name}: not an ELF file")
    if len(data) < 52:
        raise PfmonError(f"{name}: truncated ELF file: {len(data)} bytes")
    elf_class, byte_order = data[4], data[5]
    if elf_class not in (1, 2) or byte_order not in WORDS or data[6] != 1:
        raise PfmonError(f"{name}: inconsistent ELF file: class {elf_class}, byte order {byte_order}")
    order = ">" if byte_order == BIG else "<"
    machine = int.from_bytes(data[18:20], "big" if byte_order == BIG else "little")
    _check_form(machine, 32 * elf_class, byte_order, name)
    layout = struct.Struct(order + HEADER[32 * elf_class])
    if len(data) < layout.size:
        raise PfmonError(f"{name}: truncated ELF file: {len(data)} bytes")
    _, kind, _, _, entry, offset, _, flags, _, entry_size, count, _, _, _ = layout.unpack_from(data)
    if kind not in (ET_EXEC, ET_DYN):
        raise PfmonError(f"{name}: is {TYPES.get(kind, f'ELF type {kind}')}, not an executable")
    descriptors = machine == EM_PPC64 and flags & EF_PPC64_ABI < DESCRIPTORS
    return Header(machine, kind, entry, offset, entry_size, count, 32 * elf_class, order, descriptors)


def program_headers(data: bytes, header: Header, name: str) -> list[tuple[int, ...]]:
    """The program headers, in the field order of 64-bit ones: type, flags, offset, virtual and physical address, size
    in the file and in memory, alignment. Raises PfmonError."""
    if header.entries == 0:
        raise PfmonError(f"{name}: inconsistent ELF file: it has no program headers")
    layout = struct.Struct(header.order + PROGRAM_HEADERS[header.bits])
    if header.entry_size != layout.size:
        raise PfmonError(f"{name}: inconsistent ELF file: program headers of {header.entry_size} bytes")
    table_size = header.entries * layout.size
    if header.offset + table_size > len(data):
        raise PfmonError(f"{name}: truncated ELF file: program headers end after the file does")
    rows = layout.iter_unpack(data[header.offset : header.offset + table_size])
    return [_as_64(row) for row in rows] if header.bits == 32 else list(rows)


def _check_form(machine: int, bits: int, byte_order: int, name: str) -> None:
    """Raise PfmonError for files that no engine executes."""
    form = FORMS.get(machine)
    if form is None:
        raise PfmonError(f"{name}: is {machine_name(machine)} program; IA-64, x86 and PowerPC programs run")
    kind_of_program = machine_name(machine).partition(" ")[2]
    if bits != form.bits:
        raise PfmonError(f"{name}: is a {bits}-bit {kind_of_program} program; only {form.bits}-bit ones run")
    if byte_order not in form.orders:
        orders = WORDS[byte_order], WORDS[form.orders[0]]
        raise PfmonError(f"{name}: is a {orders[0]}-endian {kind_of_program} program; only {orders[1]}-endian ones run")


def _as_64(row: tuple[int, ...]) -> tuple[int, ...]:
    """Return a 32-bit program header in the field order of a 64-bit one, which has its flags earlier."""
    kind, offset, address, physical, file_size, memory_size, flags, align = row
    return kind, flags, offset, address, physical, file_size, memory_size, align


def _described(data: bytes, segments: tuple[Segment, ...], header: Header) -> int:
    """Return the code address in the entry's function descriptor; the entry itself if there is none."""
    for s in segments:
        if s.address <= header.entry and header.entry + 8 <= s.address + s.file_size:
            (code,) = struct.unpack_from(header.order + "Q", data, s.offset + header.entry - s.address)
            return int(code)
    return header.entry


def _check_segments(segments: tuple[Segment, ...], file_length: int, name: str, machine: int) -> None:
    """Check that segments lie within the file and the user's address space, and do not overlap."""
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
    if machine != EM_IA_64:
        return segment.address + segment.memory_size <= FORMS[machine].limit
    region, offset = segment.address >> 61, segment.address & ((1 << 61) - 1)
    return region < REGIONS and offset + segment.memory_size <= REGION_LIMIT


def _interpreter(data: bytes, headers: list[tuple[int, ...]], name: str) -> bytes | None:
    """Return the path in PT_INTERP of a dynamic executable."""
    for kind, _, offset, _, _, size, _, _ in headers:
        if kind == PT_INTERP:
            path = data[offset : offset + size]
            if not 2 <= size <= MAX_INTERPRETER_BYTES or len(path) != size or path[-1] != 0:
                raise PfmonError(f"{name}: inconsistent ELF file: bad interpreter name")
            return path.split(b"\0", 1)[0]
    return None


def _loaded_at(segments: tuple[Segment, ...], offset: int, size: int) -> int:
    """Return the address at which file bytes [offset, offset + size) are loaded, or 0."""
    for s in segments:
        if s.offset <= offset and offset + size <= s.offset + s.file_size:
            return s.address + offset - s.offset
    return 0
