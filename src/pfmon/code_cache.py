"""The code of the modules that the command loads, in one file: as __pycache__ has it in one for each module.

To find and read 170 files took a tenth of a short run. The file is written by a run that loaded something that was not
in it, and belongs to one version of Python and one place of the package. A module whose source has changed since is
left to Python's own finder; so is everything when there is no file, or one that cannot be used.

The file: eight bytes, how long the head is; the head, marshalled: version, place, bytes behind it, entries; the codes,
marshalled. They are read one by one: memory that the system has to clear first costs more than to ask for each.
"""

from __future__ import annotations

import marshal
import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType, ModuleType

    Entry = tuple[bool, int, int, int, int]
    """Whether it is a package; its source's time of change (nanoseconds) and size; its code: where it begins behind the
    head, and how long it is."""
    Module = tuple[str, bool, int, int, bytes]
    """A name, the first three of an entry, and the code, marshalled."""

HEAD = 8
PACKAGE = __name__.partition(".")[0]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE = os.path.join(
    ROOT, PACKAGE, "__pycache__", f"modules.{sys.implementation.cache_tag}.opt-{sys.flags.optimize}.bin"
)


class Loader(SourceFileLoader):
    """Loads a module whose code is known."""

    def __init__(self, name: str, path: str, cache: CodeCache) -> None:
        super().__init__(name, path)
        self._cache = cache

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = marshal.loads(self._cache.code(fullname))
        return code


class CodeCache:
    """Finds modules of this package whose code is in the file."""

    def __init__(self, path: str = FILE) -> None:
        self._path = path
        self._entries: dict[str, Entry] = {}
        try:
            self._file = os.open(path, os.O_RDONLY)
        except OSError:
            return
        try:
            self._start, self._entries = _head(self._file)
        except (OSError, ValueError, EOFError, TypeError):
            os.close(self._file)  # none that can be used

    def code(self, name: str) -> bytes:
        """The code of a module, marshalled."""
        *_, first, size = self._entries[name]
        return os.pread(self._file, size, self._start + first)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """As importlib.abc.MetaPathFinder has it."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        is_package, changed, size, *_ = entry
        source = _source(name, is_package)
        if _state(source) != (changed, size):
            del self._entries[name]
            return None
        spec = ModuleSpec(name, Loader(name, source, self), origin=source, is_package=is_package)
        spec.has_location = True
        spec.cached = self._path
        if is_package:
            spec.submodule_search_locations = [source.rpartition(os.sep)[0]]
        return spec

    def keep(self) -> None:
        """Write the file, if modules were loaded that it does not have and Python may write such files."""
        if sys.dont_write_bytecode or sys.pycache_prefix or not os.access(os.path.dirname(self._path), os.W_OK):
            return
        try:
            fresh = list(_loaded(self._entries))
            if fresh:
                known = [(name, *entry[:3], self.code(name)) for name, entry in self._entries.items()]
                _write(self._path, _content(known + fresh))
        except (OSError, MemoryError):
            return  # the run has ended, and nobody asked for this


def _head(file: int) -> tuple[int, dict[str, Entry]]:
    """Where the codes begin in a file, and its entries. ValueError: it is cut, or of another Python or place."""
    size = int.from_bytes(os.pread(file, HEAD, 0), "little")
    version, root, behind, entries = marshal.loads(os.pread(file, min(size, os.fstat(file).st_size), HEAD))
    if (version, root) != (sys.version, ROOT) or os.fstat(file).st_size != HEAD + size + behind:
        raise ValueError("a file that cannot be used")
    return HEAD + size, entries


def _content(modules: Sequence[Module]) -> bytes:
    """The file with these modules."""
    entries: dict[str, Entry] = {}
    behind = 0
    for name, is_package, changed, size, code in modules:
        entries[name] = is_package, changed, size, behind, len(code)
        behind += len(code)
    head = marshal.dumps((sys.version, ROOT, behind, entries))
    return b"".join([len(head).to_bytes(HEAD, "little"), head, *(code for *_, code in modules)])


def _write(path: str, content: bytes) -> None:
    """Replace a file. OSError: it stays as it was."""
    partial = f"{path}.{os.getpid()}"
    try:
        with open(partial, "wb") as file:
            file.write(content)
        os.replace(partial, path)
    except BaseException:
        if os.path.exists(partial):
            os.remove(partial)
        raise


def _source(name: str, is_package: bool) -> str:
    path = f"{ROOT}{os.sep}{name.replace('.', os.sep)}"
    return f"{path}{os.sep}__init__.py" if is_package else f"{path}.py"


def _state(source: str) -> tuple[int, int] | None:
    """When a file was changed, and its size; None if there is none."""
    try:
        status = os.stat(source)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _loaded(known: dict[str, Entry]) -> Iterator[Module]:
    """The modules of this package that are loaded and not known."""
    for name, module in list(sys.modules.items()):
        if name in known or name.partition(".")[0] != PACKAGE or module.__spec__ is None:
            continue
        spec = module.__spec__
        is_package = spec.submodule_search_locations is not None
        state = _state(_source(name, is_package))
        if isinstance(spec.loader, SourceFileLoader) and state is not None:
            code = spec.loader.get_code(name)
            yield name, is_package, *state, marshal.dumps(code)


def install() -> CodeCache:
    """Let the modules of this package be loaded from the file from now on."""
    cache = CodeCache()
    sys.meta_path.insert(0, cache)
    return cache
