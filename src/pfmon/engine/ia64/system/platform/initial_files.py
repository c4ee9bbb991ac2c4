"""The initial file system in the memory of a Linux kernel."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.engine.ia64.system.physical_memory import PhysicalMemory
from pfmon.engine.ia64.system.platform.layout import GRANULE
from pfmon.engine.ia64.system.platform.packed_files import first_archive
from pfmon.engine.system_settings import BootSettings
from pfmon.errors import PfmonError
from pfmon.program.image import Image, read_file
from pfmon.program.system_image import unpacked

PAGE = 64 << 10
"""The largest page of a kernel."""
NEWC = (b"070701", b"070702")
COMPRESSED = (b"BZh", b"\x28\xb5\x2f\xfd", b"\x89LZO", b"\x02\x21\x4c\x18", b"\x5d\x00\x00")
"""How archives begin; those of bzip2, zstd, lzo, lz4 and lzma are left to the kernel."""
HEADER_BYTES = 110
SIZE, NAME_LENGTH = slice(54, 62), slice(94, 102)
TRAILER = b"TRAILER!!!\0"
NOTHING = 0


class InitialFiles(NamedTuple):
    """Physical address and length of the initial RAM disk, in bytes; both 0: there is none."""

    address: int = NOTHING
    length: int = NOTHING


def place_initial_files(memory: PhysicalMemory, image: Image, boot: BootSettings, files: int = NOTHING) -> InitialFiles:
    """Put the user's initial file system, or that of programs, behind the kernel. ``files``: bytes that a program's
    have, which the system is given later. PfmonError: it cannot be read, is none, or does not fit."""
    if boot.takes_programs:
        content, what = first_archive(), "the program with its files"
    elif boot.initrd:
        content, what = unpacked(read_file(boot.initrd, executable=False), boot.initrd), boot.initrd
        _check(content, boot.initrd)
    else:
        return InitialFiles()
    segments = zip(image.elf.segments, image.elf.physical, strict=True)
    start = max(start + segment.memory_size for segment, start in segments) + PAGE - 1 & -PAGE
    end = memory.firmware & -GRANULE
    if start + len(content) + files > end:
        raise PfmonError(
            f"{what}: {len(content) + files} bytes do not fit behind the kernel, where {max(0, end - start)} are;"
            f" give more --memory than {memory.size >> 20}M"
        ).about("--memory")
    memory.write(start, content)
    return InitialFiles(start, len(content))


def _check(content: bytes, name: str) -> None:
    """PfmonError: a file is no archive that a kernel could unpack, or is damaged."""
    if content.startswith(COMPRESSED):
        return
    if not content.startswith(NEWC):
        raise PfmonError(f"--initrd={name}: is no cpio archive (newc), nor a compressed one").about("--initrd")
    at = 0
    while True:
        head = content[at : at + HEADER_BYTES]
        size, length = _number(head[SIZE]), _number(head[NAME_LENGTH])
        if len(head) < HEADER_BYTES or not head.startswith(NEWC) or size < 0 or length < 1:
            raise PfmonError(f"--initrd={name}: damaged cpio archive: no entry at byte {at}").about("--initrd")
        if content[at + HEADER_BYTES : at + HEADER_BYTES + length] == TRAILER:
            return
        at = (at + HEADER_BYTES + length + 3 & -4) + (size + 3 & -4)
        if at > len(content):
            raise PfmonError(f"--initrd={name}: damaged cpio archive: its last file is not whole").about("--initrd")


def _number(digits: bytes) -> int:
    """A hexadecimal number of eight digits; -1: it is none."""
    try:
        return int(digits, 16)
    except ValueError:
        return -1
