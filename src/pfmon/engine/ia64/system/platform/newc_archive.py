"""A cpio archive in the portable form without checksums, of which Linux makes its first file system
(Documentation/driver-api/early-userspace/buffer-format.rst)."""

from __future__ import annotations

import stat

MAGIC = b"070701"
TRAILER = "TRAILER!!!"
ALIGNMENT = 4
MOST_BYTES = (1 << 32) - 1
"""Of a file, whose size has eight hexadecimal digits."""


class NewcArchive:
    """Entries in their order. Directories of an entry come before it, once; a path that is there is left out."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._paths: set[str] = set()

    @property
    def paths(self) -> frozenset[str]:
        """What is in it."""
        return frozenset(self._paths)

    def add_directory(self, path: str, mode: int = 0o755) -> None:
        """Add a directory."""
        self._add(path, stat.S_IFDIR | mode, b"")

    def add_file(self, path: str, content: bytes, mode: int = 0o644) -> None:
        """Add a file. ValueError: it is too large."""
        if len(content) > MOST_BYTES:
            raise ValueError(f"{path}: {len(content)} bytes")
        self._add(path, stat.S_IFREG | mode, content)

    def add_link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self._add(path, stat.S_IFLNK | 0o777, target.encode(errors="surrogateescape"))

    def add_device(self, path: str, major: int, minor: int, mode: int = 0o600) -> None:
        """Add a character device."""
        self._add(path, stat.S_IFCHR | mode, b"", (major, minor))

    def content(self) -> bytes:
        """The archive with its end."""
        return b"".join([*self._parts, self._entry(TRAILER, 0, b"", (0, 0), 0)])

    def _add(self, path: str, mode: int, content: bytes, device: tuple[int, int] = (0, 0)) -> None:
        name = path.strip("/")
        if not name or name in self._paths:
            return
        folder = name.rpartition("/")[0]
        if folder:
            self.add_directory(folder)
        self._paths.add(name)
        self._parts.append(self._entry(name, mode, content, device, len(self._paths)))

    def _entry(self, path: str, mode: int, content: bytes, device: tuple[int, int], number: int) -> bytes:
        """Header, name and content: inode, mode, uid, gid, links, time, size, device, device that it stands for,
        length of the name, checksum."""
        name = path.encode(errors="surrogateescape") + b"\0"
        links = 2 if stat.S_ISDIR(mode) else 1
        fields = (number, mode, 0, 0, links, 0, len(content), 0, 0, *device, len(name), 0)
        head = MAGIC + b"".join(b"%08X" % field for field in fields) + name
        return head + bytes(-len(head) % ALIGNMENT) + content + bytes(-len(content) % ALIGNMENT)
