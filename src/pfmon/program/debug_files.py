"""Separate debug files, which hold the symbols and lines that distributions strip from programs and shared objects.

By build id: DIRECTORY/.build-id/ab/cdef...debug for a linker's note that begins with 0xab. By name
(.gnu_debuglink, a name and the CRC-32 of the contents): beside the file, in .debug beside it, and below DIRECTORY under
the file's own path ("Separate Debug Files", Debugging with GDB).
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Sequence

from pfmon.program.elf_sections import ElfSections

USUAL = "usr/lib/debug"
"""Path below the sysroot, and below the host's root."""

NT_GNU_BUILD_ID = 3
NOTE = "III"
"""Lengths of name and contents, and the type; name and contents are padded to four bytes."""


class DebugFiles:
    """Finds debug files: first in the requested directories, then in the usual one below ``sysroot`` and the host's."""

    def __init__(self, directories: Sequence[str] = (), sysroot: str | None = None) -> None:
        roots = [sysroot, "/"] if sysroot else ["/"]
        self._sysroot = os.path.realpath(sysroot) if sysroot else ""
        self._directories = [*directories, *(os.path.join(root, USUAL) for root in roots)]

    def find(self, data: bytes, path: str) -> tuple[str, bytes] | None:
        """Return path and contents of a file's debug file; None: there is none, or the file has symbols itself."""
        sections = ElfSections(data)
        if not sections.order or sections.find(".debug_info"):
            return None
        for candidate in self._by_build_id(sections):
            if (held := _read(candidate)) and build_id(ElfSections(held)) == build_id(sections):
                return candidate, held
        name, check = debug_link(sections)
        for candidate in self._by_name(name, path) if name else ():
            if (held := _read(candidate)) and zlib.crc32(held) == check:
                return candidate, held
        return None

    def _by_build_id(self, sections: ElfSections) -> Iterator[str]:
        identity = build_id(sections).hex()
        if len(identity) > 2:
            for directory in self._directories:
                yield os.path.join(directory, ".build-id", identity[:2], f"{identity[2:]}.debug")

    def _by_name(self, name: str, path: str) -> Iterator[str]:
        folder = os.path.dirname(os.path.realpath(path))
        yield os.path.join(folder, name)
        yield os.path.join(folder, ".debug", name)
        inside = folder.removeprefix(self._sysroot) if self._sysroot else folder
        for directory in self._directories:
            yield os.path.join(directory, inside.lstrip("/"), name)


def build_id(sections: ElfSections) -> bytes:
    """Return the linker's build id of a file (.note.gnu.build-id); b"": none."""
    note = sections.find(".note.gnu.build-id")
    size = struct.calcsize(NOTE)
    if len(note) < size:
        return b""
    name, length, kind = struct.unpack_from(sections.order + NOTE, note)
    start = size + name + -name % 4
    return note[start : start + length] if kind == NT_GNU_BUILD_ID else b""


def debug_link(sections: ElfSections) -> tuple[str, int]:
    """Return the name of the debug file, and its CRC-32; "": none."""
    link = sections.find(".gnu_debuglink")
    end = link.find(b"\0")
    if end < 1 or len(link) < 4:
        return "", 0
    (check,) = struct.unpack(sections.order + "I", link[-4:])
    return os.fsdecode(link[:end]), check


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError):
        return b""
