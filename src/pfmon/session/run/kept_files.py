"""What a recording keeps of a program: its file and those of its shared objects, and the sources of what was executed.

The system's own files are not kept: they seldom change, and are large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pfmon.errors import PfmonError
from pfmon.program.compilation_units import import_line_reader
from pfmon.program.loaded_objects import LoadedObjects, ObjectFile
from pfmon.program.source_texts import SourceTexts

OF_THE_SYSTEM = ("/lib", "/usr/", "/bin/", "/sbin/")
"""Directories whose files are not kept, also below a sysroot."""
MAX_KEPT_BYTES = 64 << 20
MAX_TEXT_BYTES = 1 << 20
MAX_TEXTS_BYTES = 16 << 20
"""Limits of a file, of a source file, and of all source files."""
LINES = b".debug_line"


def is_kept(path: str, content: bytes, sysroot: str | None) -> bool:
    """Return whether a recording keeps a file; the line reader is imported if it has line tables."""
    inside = path.removeprefix((sysroot or "").rstrip("/"))
    if inside.startswith(OF_THE_SYSTEM) or len(content) > MAX_KEPT_BYTES:
        return False
    if LINES in content:
        import_line_reader()
    return True


def texts(objects: LoadedObjects, addresses: Iterable[int], kept: Iterable[str]) -> dict[str, str]:
    """Return the texts of the source files of units with code at some addresses, by path. ``kept``: the paths of the
    object files that are kept."""
    ordered, paths = sorted(addresses), set(kept)
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
        yield from one.lines.sources_of(addresses)
    except PfmonError:  # damaged DWARF is ignored
        return
