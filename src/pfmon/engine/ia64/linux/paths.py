"""Which host file a path of the program means."""

from __future__ import annotations

import errno
import os

from pfmon.engine.ia64.linux.errors import fail
from pfmon.engine.ia64.linux.open_flags import AT_FDCWD
from pfmon.program.sysroot import Sysroot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.engine.ia64.linux.files import FileTable


HARMLESS = (b"/dev/null", b"/dev/zero", b"/dev/full")
"""Devices of the host that confined programs have."""


class Paths:
    """The program's working directory and its view of the host's file system.

    The working directory is a descriptor: the program's chdir must not move pfmon itself.
    """

    def __init__(self, sysroot: str | None, program: bytes, process_id: int, confined: bool = False) -> None:
        """``confined``: nothing outside of the sysroot is there."""
        self.sysroot = Sysroot(sysroot)
        self.confined = confined
        self.program = os.path.abspath(program)
        self._own = _own(process_id)
        here = os.fsencode(os.path.realpath("."))
        start = self.sysroot.directory if confined and not self.sysroot.has(here) else b"."
        self._directory = os.open(start, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def fork(self, process_id: int) -> Paths:
        """For a child, which begins in the same directory."""
        from copy import copy  # few programs fork

        other = copy(self)
        other._own = _own(process_id)
        other._directory = os.dup(self._directory)
        return other

    def own_proc(self, path: bytes) -> bytes | None:
        """The rest of a path that names something of the program's own directory in /proc."""
        for prefix in self._own:
            if path.startswith(prefix):
                return path[len(prefix) :]
        return None

    def resolve(self, files: FileTable, directory: int, path: bytes, follow: bool = True) -> tuple[bytes, int | None]:
        """The host path and, for a relative one, the host descriptor of the directory that it starts from."""
        if self.confined:
            return self._confined(files, directory, path, follow), None
        if path.startswith(b"/"):
            if self.own_proc(path) == b"exe" and follow:
                return self.program, None
            return self.sysroot.host_path(path, follow), None
        if directory == AT_FDCWD:
            return path, self._directory
        return path, files.host(directory)

    def host_name(self, files: FileTable, directory: int, path: bytes) -> bytes:
        """One host path for what `resolve` has as a path and a directory."""
        name, start = self.resolve(files, directory, path)
        return name if start is None else b"/proc/self/fd/%d/%s" % (start, name)

    def _confined(self, files: FileTable, directory: int, path: bytes, follow: bool) -> bytes:
        """The host path, which is below the sysroot and has no link in it. Beside what is there, programs have the
        devices that give nothing away, and what they have opened."""
        if path.startswith(b"/"):
            if path in HARMLESS:
                return path
            own = self.own_proc(path)
            if own is not None and own.startswith(b"fd/"):
                return self._own_file(files, own[3:], follow)
            start = b""
        else:
            start = self._name_of(self._directory if directory == AT_FDCWD else files.host(directory))
        return self.sysroot.inside(start + b"/" + path, follow) or fail(errno.ELOOP)

    def _name_of(self, host: int) -> bytes:
        """What the program calls a directory that it has opened; ENOENT: it was removed, or is none of the sysroot."""
        path = os.readlink(b"/proc/self/fd/%d" % host)
        if not self.sysroot.has(path):
            fail(errno.ENOENT)
        return self.sysroot.guest_path(path)

    def _own_file(self, files: FileTable, rest: bytes, follow: bool) -> bytes:
        """What /proc/self/fd/NUMBER stands for, and what lies below a directory there."""
        number, _, below = rest.partition(b"/")
        host = files.host(int(number) if number.isdigit() else fail(errno.ENOENT))
        if not below:
            return b"/proc/self/fd/%d" % host
        return self.sysroot.inside(self._name_of(host) + b"/" + below, follow) or fail(errno.ELOOP)

    def change_directory(self, host: int) -> None:
        """Make a host descriptor, which then belongs to this object, the working directory."""
        os.close(self._directory)
        self._directory = host

    def working_directory(self) -> bytes:
        """The program's name of its working directory; ENOENT if it was removed."""
        path = os.readlink(b"/proc/self/fd/%d" % self._directory)
        if path.endswith(b" (deleted)"):
            fail(errno.ENOENT)
        return self.sysroot.guest_path(path)

    def close(self) -> None:
        os.close(self._directory)


def _own(process_id: int) -> tuple[bytes, ...]:
    """How the names in /proc of what is the program's own begin."""
    return (b"/proc/self/", b"/proc/%d/" % process_id, b"/proc/thread-self/")
