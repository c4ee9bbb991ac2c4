"""The stack tables of a processed profile of the Firefox Profiler. A table is a list for each column; rows are referred
to by their numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from pfmon.session.profile.code_profile import FunctionNames, Source

NONE = -1
"""Stands for no library or address."""
USER = 1
"""The number of the frames' category."""
LIBRARY = 1
"""The type of a library's resource."""


class _Table:
    """Rows with unique keys."""

    def __init__(self, *columns: str) -> None:
        self.columns: dict[str, list[Any]] = {column: [] for column in columns}
        self._numbers: dict[Hashable, int] = {}

    def find(self, key: Hashable) -> int | None:
        """Return the number of a key's row, None without one."""
        return self._numbers.get(key)

    def enter(self, key: Hashable, *cells: Any) -> int:
        """Append a row and return its number."""
        for column, cell in zip(self.columns.values(), cells, strict=True):
            column.append(cell)
        return self._numbers.setdefault(key, len(self._numbers))

    def as_data(self) -> dict[str, Any]:
        return {**self.columns, "length": len(self._numbers)}


class Tables:
    """Builds the tables as stacks are requested; `shared` returns them."""

    def __init__(self, names: FunctionNames, architecture: str) -> None:
        self._names, self._architecture = names, architecture
        self._known: dict[Sequence[int], int] = {}
        self._strings: dict[str, int] = {}
        self._stacks = _Table("frame", "prefix")
        self._frames = _Table(
            *("address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID"),
            *("line", "column"),
        )
        self._functions = _Table(
            *("name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber"),
        )
        self._symbols = _Table("libIndex", "address", "name", "functionSize")
        self._resources = _Table("lib", "name", "host", "type")
        self._sources = _Table("id", "filename", "startLine", "startColumn", "sourceMapURL")
        self.libraries: list[dict[str, Any]] = []

    def shared(self) -> dict[str, Any]:
        """All tables but the libraries."""
        return {
            "stackTable": self._stacks.as_data(),
            "frameTable": self._frames.as_data(),
            "funcTable": self._functions.as_data(),
            "resourceTable": self._resources.as_data(),
            "nativeSymbols": self._symbols.as_data(),
            "stringArray": list(self._strings),
            "sources": self._sources.as_data(),
        }

    def stack(self, frames: Sequence[int]) -> int:
        """Return the number of a stack, given as addresses of instructions, the innermost first."""
        if frames not in self._known:
            prefix: int | None = None
            for address in reversed(frames):
                frame = self._frame(address)
                found = self._stacks.find((prefix, frame))
                prefix = self._stacks.enter((prefix, frame), frame, prefix) if found is None else found
            assert prefix is not None
            self._known[frames] = prefix
        return self._known[frames]

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _frame(self, address: int) -> int:
        if (found := self._frames.find(address)) is not None:
            return found
        library, offset = self._library(address)
        function, symbol = self._function(address, library), self._symbol(address)
        return self._frames.enter(address, offset, 0, USER, 0, function, symbol, 0, self._line(address), None)

    def _line(self, address: int) -> int | None:
        """Return a frame's line in its function's file; None for code inlined from another file."""
        source, begin = self._names.source(address), self._names.source(self._names.function(address).address)
        return source.line if source and begin and source.file == begin.file else None

    def _function(self, address: int, library: int) -> int:
        function = name, start, *_ = self._names.function(address)
        if (found := self._functions.find(function)) is not None:
            return found
        source = self._names.source(start)
        file, line = (self._source(source), source.line) if source else (None, None)
        resource = NONE if library == NONE else self._resource(library)
        return self._functions.enter(function, self._string(name), False, False, resource, file, line, None)

    def _source(self, source: Source) -> int:
        found = self._sources.find(source.file)
        return self._sources.enter(source.file, None, self._string(source.file), 1, 1, None) if found is None else found

    def _symbol(self, address: int) -> int | None:
        symbol = self._names.symbol(address)
        library, offset = self._library(symbol.address) if symbol else (NONE, NONE)
        if symbol is None or library == NONE:
            return None
        found = self._symbols.find(symbol)
        name = self._string(self._names.function(address).name)
        return self._symbols.enter(symbol, library, offset, name, symbol.size or None) if found is None else found

    def _resource(self, library: int) -> int:
        found = self._resources.find(library)
        name = self._string(self.libraries[library]["name"])
        return self._resources.enter(library, library, name, None, LIBRARY) if found is None else found

    def _library(self, address: int) -> tuple[int, int]:
        """Return the number of an address's file, and the offset from its first segment."""
        image = self._names.image(address)
        if image is None:
            return NONE, NONE
        paths = [library["path"] for library in self.libraries]
        if image.path not in paths:
            name, path = image.path.rpartition("/")[2], image.path
            self.libraries.append(
                {"arch": self._architecture, "name": name, "path": path, "debugName": name, "debugPath": path}
                | {"breakpadId": "", "codeId": None}
            )
            paths.append(path)
        start = image.bias + min(segment.address for segment in image.elf.segments)
        return paths.index(image.path), address - start
