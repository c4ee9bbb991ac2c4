"""What a recording keeps of a program: its file and those of its shared objects, and the sources of what was executed.

The system's own files are not kept: they seldom change, and are large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from pfmon.errors import PfmonError
from pfmon.program.compilation_units import import_line_reader
from pfmon.program.loaded_objects import LoadedObjects, ObjectFile
from pfmon.program.source_texts import SourceTexts

OF_THE_SYSTEM = ("/lib", "/usr/", "/bin/", "/sbin/")
"""Directories whose files are not kept, also below a sysroot."""
MAX_KEPT_BYTES = 64 << 20
MAX_TEXT_BYTES = 1 << 20
MAX_TEXTS_BYTES = 16 << 20
"""Limits of all files together, of a source file, and of all source files."""
MAX_UNITS = 100
"""Compilation units whose sources are kept, those with most executed blocks; reading one takes some 7 ms."""
LINES = b".debug_line"


class KeptFiles:
    """The files that a recording keeps: the program and its shared objects, as long as there is room."""

    def __init__(self, sysroot: str | None) -> None:
        self._sysroot = (sysroot or "").rstrip("/")
        self._room = MAX_KEPT_BYTES
        self.paths: set[str] = set()

    def takes(self, path: str, content: bytes) -> bool:
        """Return whether a file is kept; the line reader is imported if one is that has line tables."""
        if path in self.paths:
            return True
        if path.removeprefix(self._sysroot).startswith(OF_THE_SYSTEM) or len(content) > self._room:
            return False
        if LINES in content:
            import_line_reader()
        self._room -= len(content)
        self.paths.add(path)
        return True


def texts(objects: LoadedObjects, addresses: Iterable[int], paths: Set[str]) -> dict[str, str]:
    """Return the texts of the source files of units with code at some addresses, by path. ``paths``: of the object
    files that are kept."""
    ordered = sorted(addresses)
    found: dict[str, str] = {}
    room = MAX_TEXTS_BYTES
    for one in objects.everything():
        if one.image is None or one.image.path not in paths or LINES not in one.image.data:
            continue
        reader = SourceTexts("", one.image.path.rpartition("/")[0])
        for path in _sources(one, ordered):
            if path in found or path.startswith(OF_THE_SYSTEM):
                continue
            text = "\n".join(reader.lines(path) or ())
            if 0 < len(text) <= min(room, MAX_TEXT_BYTES):
                found[path] = text
                room -= len(text)
    return found


def _sources(one: ObjectFile, addresses: list[int]) -> Iterator[str]:
    try:
        yield from one.lines.sources_of(addresses, MAX_UNITS)
    except PfmonError:  # damaged DWARF is ignored
        return
