"""The files that processes of a Linux kernel execute, as pfmon has given them to it: names of their code."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.engine.ia64._ia64 import ExecutableFiles
from pfmon.engine.ia64.system.platform.guest_files import GuestFile, GuestFiles
from pfmon.engine.ia64.system.platform.init_program import first_program
from pfmon.engine.ia64.system.platform.packed_files import INIT
from pfmon.errors import PfmonError
from pfmon.program import elf
from pfmon.program.elf import Segment
from pfmon.program.elf_machine import EM_IA_64
from pfmon.program.mapped_files import MappedFile

MAGIC = b"\x7fELF"


class GuestCode:
    """Which files a system's processes have executed, and where. A process may have any file at any address; pages of
    code are told by their content (file_pages.pyx)."""

    def __init__(self, files: GuestFiles) -> None:
        self.index = ExecutableFiles()
        """For the processors."""
        self._known: list[tuple[GuestFile, list[Segment]]] = []
        self._mapped: list[MappedFile] = []
        first = GuestFile(INIT, 0o755, first_program())
        for one in (first, *files.entries):
            segments = _code(one)
            if one.content and segments:
                self.index.add(one.content, [(part.offset, part.offset + part.file_size) for part in segments])
                self._known.append((one, segments))

    @property
    def mapped(self) -> Sequence[MappedFile]:
        """The files at their places, by the numbers that blocks have, from 1 on."""
        placed = self.index.placed()
        self._mapped += [self._place(*one) for one in placed[len(self._mapped) :]]
        return self._mapped

    def _place(self, number: int, base: int) -> MappedFile:
        file, segments = self._known[number]
        first = segments[0]
        end = max(part.offset + part.memory_size for part in segments)
        content = b"" if file.host else file.content or b""
        return MappedFile(base + first.offset, base + end, first.offset, file.host or file.path, content=content)


def _code(file: GuestFile) -> list[Segment]:
    """The segments with code of an ELF file; none: it is another file."""
    if file.is_link or not (file.content or b"").startswith(MAGIC):
        return []
    try:
        parsed = elf.parse(file.content or b"", file.path, is_program=False)
    except PfmonError:
        return []
    return [one for one in parsed.segments if one.flags & elf.PF_X] if parsed.machine == EM_IA_64 else []
