"""Which host file a path of the program means."""

from __future__ import annotations

import errno
import os
from copy import copy

from pfmon.engine.ia64.linux.errors import fail
from pfmon.engine.ia64.linux.open_flags import AT_FDCWD
from pfmon.program.sysroot import Sysroot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.engine.ia64.linux.files import FileTable


class Paths:
    """The program's working directory and its view of the host's file system.

    The working directory is a descriptor: the program's chdir must not move pfmon itself.
    """

    def __init__(self, sysroot: str | None, program: bytes, process_id: int) -> None:
        self.sysroot = Sysroot(sysroot)
        self.program = os.path.abspath(program)
        self._own = _own(process_id)
        self._directory = os.open(b".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def fork(self, process_id: int) -> Paths:
        """For a child, which begins in the same directory."""
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
        if path.startswith(b"/"):
            if self.own_proc(path) == b"exe" and follow:
                return self.program, None
            return self.sysroot.host_path(path, follow), None
        if directory == AT_FDCWD:
            return path, self._directory
        return path, files.host(directory)

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
