"""The initial file system in the memory of a Linux kernel."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.engine.ia64.system.physical_memory import PhysicalMemory
from pfmon.engine.ia64.system.platform.layout import GRANULE
from pfmon.engine.ia64.system.platform.packed_files import packed
from pfmon.engine.system_settings import BootSettings
from pfmon.errors import PfmonError
from pfmon.program.image import Image, read_file

PAGE = 64 << 10
"""The largest page of a kernel."""
NEWC, COMPRESSED = (b"070701", b"070702"), {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x89LZO": "lzo",
    b"\x02\x21\x4c\x18": "lz4",
    b"\x5d\x00\x00": "lzma",
}
"""How archives begin; a kernel may be able to unpack the others."""
NOTHING = 0


class InitialFiles(NamedTuple):
    """Where they are in physical memory; both 0: there are none."""

    address: int = NOTHING
    length: int = NOTHING


def place_initial_files(memory: PhysicalMemory, image: Image, boot: BootSettings) -> InitialFiles:
    """Put the user's initial file system, or that of the program, behind the kernel. PfmonError: it cannot be read, is
    none, or does not fit."""
    if boot.program:
        content, what = packed(boot.program), "the program with its files"
    elif boot.initrd:
        content, what = read_file(boot.initrd, executable=False), boot.initrd
        _check(content, boot.initrd)
    else:
        return InitialFiles()
    segments = zip(image.elf.segments, image.elf.physical, strict=True)
    start = max(start + segment.memory_size for segment, start in segments) + PAGE - 1 & -PAGE
    end = memory.firmware & -GRANULE
    if start + len(content) > end:
        raise PfmonError(
            f"{what}: {len(content)} bytes do not fit behind the kernel, where {max(0, end - start)} are; give more"
            f" --memory than {memory.size >> 20}M"
        ).about("--memory")
    memory.write(start, content)
    return InitialFiles(start, len(content))


def _check(content: bytes, name: str) -> None:
    """PfmonError: a file is no archive that a kernel could unpack, or is damaged."""
    if content.startswith(tuple(COMPRESSED)):
        return
    if not content.startswith(NEWC):
        raise PfmonError(f"--initrd={name}: is no cpio archive (newc), nor a compressed one").about("--initrd")
    at = 0
    while True:
        head = content[at : at + 110]
        try:
            size, length = int(head[54:62], 16), int(head[94:102], 16)
        except ValueError:
            size = length = -1
        if len(head) < 110 or not head.startswith(NEWC) or size < 0 or length < 1:
            raise PfmonError(f"--initrd={name}: damaged cpio archive: no entry at byte {at}").about("--initrd")
        path = content[at + 110 : at + 110 + length]
        if path == b"TRAILER!!!\0":
            return
        at = (at + 110 + length + 3 & -4) + (size + 3 & -4)
        if at > len(content):
            raise PfmonError(f"--initrd={name}: damaged cpio archive: it ends within {path[:-1]!r}").about("--initrd")
