"""A system image: an ELF file for IA-64 that runs on the bare processor (System V ABI, chapters 4 and 5), or that is a
Linux kernel. It may be compressed, by xz or gzip.

Its segments are loaded at their physical addresses (p_paddr), and its symbols are virtual addresses (p_vaddr). Bits 61
to 63 of a physical address are left out: they are the region of a virtual address that a linker without AT() repeats,
and in physical mode bit 63 is a memory attribute (IA-64 manual, volume 2, 4.1 and 4.4.1).
"""

from __future__ import annotations

import itertools
import os
import zlib
from collections.abc import Sequence
from functools import lru_cache

from pfmon.errors import PfmonError
from pfmon.program import elf
from pfmon.program.elf import ET_DYN, PT_INTERP, PT_LOAD, Elf, Header, Segment
from pfmon.program.elf_machine import EM_IA_64, machine_name
from pfmon.program.image import Image, Program, read_file

PT_DYNAMIC, PT_TLS = 2, 7
ELF_ABI, ABI_LINUX = 7, 3
"""EI_OSABI, and its value for what uses extensions of Linux (System V ABI, chapter 4)."""
REGION_BITS = (1 << 61) - 1
"""Address bits below the region number."""
PHYSICAL_BITS = 50
"""Bits of a physical address, of the largest of the processors (Itanium 2)."""
BUNDLE = 16
REGION_SHIFT, PROGRAM_REGION, KERNEL_REGION = 61, 2, 5
BANNER = b"Linux version "
XZ, GZIP = b"\xfd7zXZ\0", b"\x1f\x8b"
MOST_BYTES, MOST_MEMORY = 1 << 28, 1 << 27
"""Of an image that was compressed, and of what unpacks it."""


def load(path: str, content: bytes | None = None) -> Program:
    """Read a system image; ``content``: that of the file, if it is known. PfmonError: it cannot be read, or is none."""
    data = _content(path) if content is None else content
    return Program(Image(path, data, parse(data, path), 0), None)


def _content(path: str) -> bytes:
    """The content of a file, unpacked; that of the last one is kept for as long as it does not change."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return read_file(path, executable=False)  # which says what is wrong
    return _kept_content(path, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1)
def _kept_content(path: str, *_: int) -> bytes:
    return unpacked(read_file(path, executable=False), path)


def is_linux_kernel(path: str) -> bool:
    """Whether an image is a Linux kernel: a part of it is linked in region 5, where the kernel maps itself (Linux,
    arch/ia64/include/asm/page.h), and it says its version. PfmonError: it cannot be read, or is no image."""
    image = load(path).image
    linked = any(one.address >> REGION_SHIFT == KERNEL_REGION for one in image.elf.segments)
    return linked and BANNER in image.data


def unpacked(data: bytes, path: str) -> bytes:
    """The content of a file without its compression. PfmonError: it is damaged, or too large."""
    if data.startswith(XZ):
        import lzma

        unpacker: lzma.LZMADecompressor | zlib._Decompress = lzma.LZMADecompressor(memlimit=MOST_MEMORY)
        errors: type[Exception] = lzma.LZMAError
    elif data.startswith(GZIP):
        unpacker, errors = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS), zlib.error
    else:
        return data
    try:
        content = unpacker.decompress(data, MOST_BYTES + 1)
    except errors as error:
        raise PfmonError(f"{path}: damaged compressed file: {error}") from None
    if len(content) > MOST_BYTES:
        raise PfmonError(f"{path}: is larger than {MOST_BYTES >> 20} MB when it is unpacked")
    if not unpacker.eof:
        raise PfmonError(f"{path}: truncated compressed file")
    return content


def parse(data: bytes, name: str) -> Elf:
    """Read the headers of a system image. Raises PfmonError."""
    _check_machine(data, name)
    header = elf.read_header(data, name)
    headers = elf.program_headers(data, header, name)
    if any(one[0] in (PT_INTERP, PT_DYNAMIC) for one in headers):
        raise PfmonError(f"{name}: is a dynamically linked program, no system: run it without --system")
    if header.kind == ET_DYN:
        raise PfmonError(
            f"{name}: is position-independent, and a system image is linked at fixed addresses; run a program without "
            "--system"
        )
    if data[ELF_ABI] == ABI_LINUX or any(one[0] == PT_TLS for one in headers) or _is_program(header, headers):
        raise PfmonError(f"{name}: is a Linux program, no system: run it without --system")
    loaded = [one for one in headers if one[0] == PT_LOAD and one[6] > 0]
    segments = tuple(Segment(one[3], one[6], one[2], one[5], one[1]) for one in loaded)
    physical = tuple(one[4] & REGION_BITS for one in loaded)
    _check_segments(segments, physical, len(data), name)
    return Elf(
        position_independent=False,
        entry=header.entry,
        segments=segments,
        interpreter=None,
        program_headers=0,
        program_header_count=header.entries,
        physical=physical,
        physical_entry=_physical_entry(header, segments, physical, name),
    )


def _is_program(header: Header, headers: Sequence[tuple[int, ...]]) -> bool:
    """Whether code is linked, and to be loaded, in the region of programs' code (Linux, psABI chapter 8)."""
    inside = [one for one in headers if one[0] == PT_LOAD and one[3] <= header.entry < one[3] + one[6]]
    return header.entry >> REGION_SHIFT == PROGRAM_REGION and any(one[4] == one[3] for one in inside)


def _check_machine(data: bytes, name: str) -> None:
    """PfmonError for an ELF file of another machine; what is no ELF file at all is reported later."""
    if data[:4] != b"\x7fELF" or len(data) < 20:
        return
    number = int.from_bytes(data[18:20], "big" if data[5] == elf.BIG else "little")
    if number != EM_IA_64:
        raise PfmonError(f"{name}: is {machine_name(number)} image; --system runs IA-64 ones").about("--system")


def _check_segments(segments: Sequence[Segment], physical: Sequence[int], file_length: int, name: str) -> None:
    """Check that segments lie within the file and the physical addresses, and that none is loaded over another one."""
    if not segments:
        raise PfmonError(f"{name}: inconsistent ELF file: it has nothing to load")
    for one, start in zip(segments, physical, strict=True):
        where = f"segment at physical address {start:#x}"
        if one.offset + one.file_size > file_length:
            raise PfmonError(f"{name}: truncated ELF file: {where} ends after the file does")
        if one.file_size > one.memory_size:
            raise PfmonError(f"{name}: inconsistent ELF file: {where} is larger in the file than in memory")
        if start + one.memory_size > 1 << PHYSICAL_BITS or one.address + one.memory_size > 1 << 64:
            raise PfmonError(f"{name}: inconsistent ELF file: {where} ends beyond the address space")
    ordered = sorted((start, start + one.memory_size) for one, start in zip(segments, physical, strict=True))
    for low, high in itertools.pairwise(ordered):
        if low[1] > high[0]:
            raise PfmonError(
                f"{name}: inconsistent ELF file: segments at physical addresses {low[0]:#x} and {high[0]:#x} overlap"
            )


def _physical_entry(header: Header, segments: Sequence[Segment], physical: Sequence[int], name: str) -> int:
    """The physical address of the entry point, which is a virtual address in a segment, or a physical one."""
    if header.entry % BUNDLE:
        raise PfmonError(f"{name}: inconsistent ELF file: entry point {header.entry:#x} is not that of a bundle")
    for one, start in zip(segments, physical, strict=True):
        if one.address <= header.entry < one.address + one.memory_size:
            return start + header.entry - one.address
    entry = header.entry & REGION_BITS
    for one, start in zip(segments, physical, strict=True):
        if start <= entry < start + one.memory_size:
            return entry
    raise PfmonError(f"{name}: inconsistent ELF file: entry point {header.entry:#x} is in no segment")
