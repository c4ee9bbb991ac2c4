"""Mapping of guest paths to host paths: below the sysroot if the path exists there, else unchanged.

A sysroot holds the target's libraries; other files that a program opens are the user's.
"""

from __future__ import annotations

import os

MAX_SYMLINKS = 40


class Sysroot:
    """Maps absolute guest paths to host paths; without a directory, paths are unchanged."""

    def __init__(self, directory: str | None) -> None:
        self.directory = os.fsencode(os.path.realpath(directory)) if directory else b""

    def host_path(self, path: bytes, follow: bool = True) -> bytes:
        """Return the host path of a guest path; a relative one is unchanged. ``follow``: resolve a final symlink."""
        if not self.directory or not path.startswith(b"/"):
            return path
        inside = self._resolve(path, follow)
        return inside if inside is not None and os.path.lexists(inside) else path

    def has(self, path: bytes) -> bool:
        """Return whether a host path without links is below the directory."""
        return path == self.directory or path.startswith(self.directory + b"/")

    def guest_path(self, path: bytes) -> bytes:
        """Return the guest path of an absolute host path."""
        if self.directory and self.has(path):
            return path[len(self.directory) :] or b"/"
        return path

    def _resolve(self, path: bytes, follow: bool) -> bytes | None:
        """Walk the path inside the sysroot: absolute links and .. stay inside. None: too many links."""
        todo = [part for part in reversed(path.split(b"/")) if part not in (b"", b".")]
        done: list[bytes] = []
        links = 0
        while todo:
            part = todo.pop()
            if part == b"..":
                del done[-1:]
                continue
            here = b"/".join([self.directory, *done, part])
            if (todo or follow) and os.path.islink(here):
                links += 1
                if links > MAX_SYMLINKS:
                    return None
                target = os.readlink(here)
                if target.startswith(b"/"):
                    done = []
                todo += [p for p in reversed(target.split(b"/")) if p not in (b"", b".")]
            else:
                done.append(part)
        return b"/".join([self.directory, *done])
