"""The libraries that a program is linked with, as the dynamic linker finds them (ld.so(8)): by the names in DT_NEEDED,
in the directories of DT_RPATH or DT_RUNPATH, of LD_LIBRARY_PATH and of the system, below a sysroot."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence

from pfmon.errors import PfmonError
from pfmon.program import elf
from pfmon.program.elf import PT_LOAD
from pfmon.program.image import read_file
from pfmon.program.sysroot import Sysroot

PT_DYNAMIC = 2
DT_NULL, DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 0, 1, 5, 15, 29
ENTRY = struct.Struct("<qQ")
USUAL = ("/lib", "/usr/lib", "/lib/ia64-linux-gnu", "/usr/lib/ia64-linux-gnu", "/usr/local/lib")
MOST_LIBRARIES = 1000


class DynamicSection:
    """What the dynamic section of an ELF file says: names of libraries, and directories."""

    def __init__(self, data: bytes, name: str) -> None:
        headers = elf.program_headers(data, elf.read_header(data, name), name)
        self._data, self._loads = data, [one for one in headers if one[0] == PT_LOAD]
        entries = [entry for one in headers if one[0] == PT_DYNAMIC for entry in self._entries(one[2], one[5])]
        self._strings = next((self._offset(value) for tag, value in entries if tag == DT_STRTAB), None)
        self.needed = [self._string(value) for tag, value in entries if tag == DT_NEEDED]
        paths = [self._string(value) for tag, value in entries if tag in (DT_RPATH, DT_RUNPATH)]
        self.directories = [part for path in paths for part in path.split(":") if part]

    def _entries(self, offset: int, size: int) -> Iterator[tuple[int, int]]:
        for at in range(offset, min(offset + size, len(self._data)) - ENTRY.size + 1, ENTRY.size):
            tag, value = ENTRY.unpack_from(self._data, at)
            if tag == DT_NULL:
                return
            yield tag, value

    def _offset(self, address: int) -> int | None:
        for _, _, offset, start, _, size, _, _ in self._loads:
            if start <= address < start + size:
                return int(offset + address - start)
        return None

    def _string(self, place: int) -> str:
        if self._strings is None:
            return ""
        start = self._strings + place
        end = self._data.find(b"\0", start)
        return os.fsdecode(self._data[start:end]) if end >= 0 else ""


def libraries(path: str, data: bytes, interpreter: str, sysroot: str, searched: Sequence[str]) -> dict[str, str]:
    """Return the guest's paths of all libraries that a program needs, and the host's. ``path``: the program's, in the
    guest; ``interpreter``: of the dynamic linker, which loads them; ``searched``: directories of LD_LIBRARY_PATH.
    PfmonError: one is not there."""
    root = Sysroot(sysroot)
    found: dict[str, str] = {}
    named: set[str] = {os.path.basename(interpreter)}
    waiting = [(path, DynamicSection(data, path))]
    while waiting:
        user, section = waiting.pop(0)
        own = [part.replace("$ORIGIN", os.path.dirname(user)) for part in section.directories]
        for name in section.needed:
            if name in named:
                continue
            named.add(name)
            places = [*own, *searched, os.path.dirname(interpreter), *USUAL]
            guest, host = _find(name, places, root, path, sysroot)
            found[guest] = host
            if len(found) > MOST_LIBRARIES:
                raise PfmonError(f"{path}: needs more than {MOST_LIBRARIES} libraries")
            waiting.append((guest, DynamicSection(read_file(host, executable=False), host)))
    return found


def _find(name: str, places: Sequence[str], root: Sysroot, path: str, sysroot: str) -> tuple[str, str]:
    candidates = [name] if "/" in name else [f"{place}/{name}" for place in places]
    for guest in candidates:
        host = os.fsdecode(root.host_path(os.fsencode(guest)))
        if root.has(os.fsencode(host)) and os.path.isfile(host):
            return guest, host
    raise PfmonError(f"{path}: its library {name!r} is not under {sysroot}")
