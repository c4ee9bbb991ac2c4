"""Translates the program's paths to host paths."""

from __future__ import annotations

import errno
import os
import stat
from copy import copy
from typing import TYPE_CHECKING

from pfmon.engine.linux.files.file_table import FileTable
from pfmon.engine.linux.files.open_flags import AT_FDCWD
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.program.sysroot import Sysroot

if TYPE_CHECKING:
    from pfmon.program.root import Root


LOOK = os.O_PATH | os.O_CLOEXEC
HARMLESS = (b"/dev/null", b"/dev/zero", b"/dev/full")
"""Host devices visible to confined programs."""


class Paths:
    """The program's working directory and its view of the host's file system.

    The working directory is a descriptor: the program's chdir must not move pfmon itself.
    """

    def __init__(self, sysroot: str | None, program: bytes, process_id: int, confined: bool = False) -> None:
        """``confined``: only the sysroot is visible."""
        self.sysroot = Sysroot(sysroot)
        self.root = _root(self.sysroot.directory) if confined else None
        self._held: list[int] = []
        self.program = os.path.abspath(program)
        self._own = _own(process_id)
        self._directory = os.open(b".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        if confined and not self.sysroot.has(os.readlink(b"/proc/self/fd/%d" % self._directory)):
            self.change_directory(os.open(self.sysroot.directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))

    @property
    def confined(self) -> bool:
        """Whether only the sysroot is visible."""
        return self.root is not None

    def fork(self, process_id: int) -> Paths:
        """A copy for a child, with the same working directory."""
        other = copy(self)
        other._own = _own(process_id)
        other._held = []
        other._directory = os.dup(self._directory)
        return other

    def own_proc(self, path: bytes) -> bytes | None:
        """The rest of a path within the program's own directory in /proc."""
        for prefix in self._own:
            if path.startswith(prefix):
                return path[len(prefix) :]
        return None

    def resolve(self, files: FileTable, directory: int, path: bytes, follow: bool = True) -> tuple[bytes, int | None]:
        """The host path and, for a relative one, the host descriptor of its directory."""
        if self.confined:
            return self._confined(files, directory, path, follow)
        if path.startswith(b"/"):
            if self.own_proc(path) == b"exe" and follow:
                return self.program, None
            return self.sysroot.host_path(path, follow), None
        if directory == AT_FDCWD:
            return path, self._directory
        return path, files.host(directory)

    def host_name(self, files: FileTable, directory: int, path: bytes, follow: bool = True) -> bytes:
        """One host path for `resolve`'s path and directory."""
        name, start = self.resolve(files, directory, path, follow)
        return name if start is None else b"/proc/self/fd/%d/%s" % (start, name)

    # --- confined programs: a name is held as a descriptor, until `close_held`

    def _confined(self, files: FileTable, directory: int, path: bytes, follow: bool) -> tuple[bytes, int | None]:
        """The host's name of a file below the root: that of its descriptor, or with ``follow`` false the last part of
        the path, whose link is not followed, and the descriptor of its directory."""
        elsewhere = self._elsewhere(files, path)
        if elsewhere is not None:
            return elsewhere, None
        whole = self._whole(files, directory, path)
        if follow:
            return self._look(whole, LOOK), None
        folder, _, name = whole.rstrip(b"/").rpartition(b"/")
        if name in (b"", b".", b".."):
            folder, name = whole, b"."
        return name, self._hold(folder or b"/", LOOK | os.O_DIRECTORY)

    def look_below(self, files: FileTable, directory: int, path: bytes, flags: int, follow: bool) -> bytes | None:
        """The host's name of a file to open; None: it has to be created. EACCES: a device; other errors as in
        open(2)."""
        elsewhere = self._elsewhere(files, path)
        if elsewhere is not None:
            return elsewhere
        creates = flags & os.O_CREAT and not flags & os.O_PATH
        if creates and path.endswith(b"/"):
            fail(errno.EISDIR)
        try:
            found = self._look(self._whole(files, directory, path), LOOK if follow else LOOK | os.O_NOFOLLOW)
        except FileNotFoundError:
            if creates:
                return None
            raise
        mode = os.stat(found).st_mode
        if creates and flags & os.O_EXCL:
            fail(errno.EEXIST)
        if stat.S_ISLNK(mode) and not flags & os.O_PATH:
            fail(errno.ELOOP)
        _check_openable(mode)
        if creates and stat.S_ISDIR(mode):
            fail(errno.EISDIR)
        return found

    def create_below(self, files: FileTable, directory: int, path: bytes, flags: int, mode: int) -> int:
        """A host descriptor of a new file, opened with O_CREAT."""
        assert self.root
        host = self.root.open(self._whole(files, directory, path), flags, mode)
        try:
            _check_openable(os.fstat(host).st_mode)
        except OSError:
            os.close(host)
            raise
        return host

    def close_held(self) -> None:
        """Close held descriptors at the end of a system call."""
        while self._held:
            os.close(self._held.pop())

    def is_root(self, host: int) -> bool:
        """Whether a descriptor is of a confined program's root directory."""
        return self.root is not None and os.path.sameopenfile(host, self.root.descriptor)

    def _hold(self, whole: bytes, flags: int) -> int:
        assert self.root
        self._held.append(self.root.open(whole, flags))
        return self._held[-1]

    def _look(self, whole: bytes, flags: int) -> bytes:
        return b"/proc/self/fd/%d" % self._hold(whole, flags)

    def _elsewhere(self, files: FileTable, path: bytes) -> bytes | None:
        """The host's name of a file outside of the root that confined programs see: harmless devices, and files that
        they have opened."""
        if path in HARMLESS:
            return path
        own = self.own_proc(path) if path.startswith(b"/") else None
        if own is None or not own.startswith(b"fd/") or b"/" in own[3:]:
            return None
        return b"/proc/self/fd/%d" % files.host(_number(own[3:]))

    def _whole(self, files: FileTable, directory: int, path: bytes) -> bytes:
        """A path from the root."""
        if not path.startswith(b"/"):
            start = self._directory if directory == AT_FDCWD else files.host(directory)
            return self._name_of(start) + b"/" + path
        own = self.own_proc(path)
        if own is not None and own.startswith(b"fd/"):
            number, _, below = own[3:].partition(b"/")
            return self._name_of(files.host(_number(number))) + b"/" + below
        return path

    def _name_of(self, host: int) -> bytes:
        """The program's name of a directory that it has opened; ENOENT: removed, or outside of the sysroot."""
        path = os.readlink(b"/proc/self/fd/%d" % host)
        if not self.sysroot.has(path):
            fail(errno.ENOENT)
        return self.sysroot.guest_path(path)

    def change_directory(self, host: int) -> None:
        """Make a host descriptor the working directory; this object then owns it."""
        os.close(self._directory)
        self._directory = host

    def working_directory(self) -> bytes:
        """The program's name of its working directory; ENOENT if it was removed."""
        path = os.readlink(b"/proc/self/fd/%d" % self._directory)
        if path.endswith(b" (deleted)"):
            fail(errno.ENOENT)
        return self.sysroot.guest_path(path)

    def close(self) -> None:
        self.close_held()
        os.close(self._directory)


def _root(directory: bytes) -> Root:
    """PfmonError: the kernel cannot confine programs to it."""
    from pfmon.program.root import Root

    return Root(directory)


def _number(text: bytes) -> int:
    """A descriptor's number in a path of /proc."""
    return int(text) if text.isdigit() else fail(errno.ENOENT)


def _check_openable(mode: int) -> None:
    """EACCES: confined programs open no devices, as with the mount option nodev."""
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        fail(errno.EACCES)


def _own(process_id: int) -> tuple[bytes, ...]:
    """Prefixes of the program's own names in /proc."""
    return (b"/proc/self/", b"/proc/%d/" % process_id, b"/proc/thread-self/")
