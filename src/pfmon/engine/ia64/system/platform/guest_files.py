"""Directories, files and symbolic links that a system gets for its program, in order."""

from __future__ import annotations

from typing import NamedTuple


class GuestFile(NamedTuple):
    """``path``: absolute; ``mode``: its permissions; ``content``: of a file, or where a symbolic link leads; None: it
    is a directory; ``host``: the path of a file on the host."""

    path: str
    mode: int
    content: bytes | None = None
    is_link: bool = False
    host: str = ""


class GuestFiles:
    """Entries in their order. Directories of an entry come before it, once; a path that is there is left out."""

    def __init__(self) -> None:
        self.entries: list[GuestFile] = []
        self._paths: set[str] = set()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(len(one.content or b"") for one in self.entries)

    def add_directory(self, path: str, mode: int = 0o755) -> None:
        """Add a directory."""
        self._add(GuestFile(path, mode))

    def add_file(self, path: str, content: bytes, mode: int = 0o644, host: str = "") -> None:
        """Add a file."""
        self._add(GuestFile(path, mode, content, host=host))

    def add_link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self._add(GuestFile(path, 0o777, target.encode(errors="surrogateescape"), is_link=True))

    def _add(self, one: GuestFile) -> None:
        name = "/" + one.path.strip("/")
        if name == "/" or name in self._paths:
            return
        folder = name.rpartition("/")[0]
        if folder:
            self.add_directory(folder)
        self._paths.add(name)
        self.entries.append(one._replace(path=name))
