"""Files that are written whole or not at all: what a user had stays until there is something to take its place.

The content goes to a file beside the place (`.NAME.PID`), which takes it by rename(2) when it is whole and on the
disk (fsync(2)). Symbolic links are followed: the file that they lead to is replaced, not the link. The new file has the
mode and the owner of the one that it replaces. Devices, pipes and descriptors (/dev/stdout) are written themselves.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from typing import BinaryIO

MAX_LINKS = 40
MAX_NAME_BYTES = 255
"""Bytes of a file's name (NAME_MAX)."""
PRIVATE = 0o600
MODE = 0o666


class WholeFile:
    """A file that is being written. OSError when that cannot be: then nothing has changed. ``at_once``: it is in its
    place, and what was there is gone, from the beginning."""

    def __init__(self, path: str, at_once: bool = False) -> None:
        self.place = _place(path)
        """The file that is replaced, without links; "": the path is written itself."""
        self.partial = ""
        """The file that is written first."""
        old = _status(self.place or path)
        if old is not None and stat.S_ISDIR(old.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        self.file: BinaryIO = self._beside(old) if self.place and not at_once else _itself(path)
        """The file that receives the content."""

    def _beside(self, old: os.stat_result | None) -> BinaryIO:
        """The partial file, which only its owner may read until it has the mode of the one that it replaces."""
        if old is not None and not os.access(self.place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        descriptor, self.partial = _fresh(self.place, MODE if old is None else PRIVATE)
        try:
            if old is not None:
                _make_like(descriptor, old)
            return os.fdopen(descriptor, "wb")
        except BaseException:
            os.close(descriptor)
            os.unlink(self.partial)
            raise

    @property
    def replaces(self) -> bool:
        """Whether something is in the place: an empty file is nothing."""
        old = _status(self.place) if self.place else None
        return old is not None and old.st_size > 0

    def finish(self, keep: bool = False) -> None:
        """All is written: it takes the place. OSError: it does not, and what was there stays; the partial file is gone,
        unless that is left to `keep`."""
        try:
            self.file.flush()
            if self.place:
                os.fsync(self.file.fileno())
            self.file.close()
            self._take_place()
        except BaseException:
            if not keep:
                self.abandon()
            raise

    def keep(self) -> str:
        """There will be no more: where what was written is, in the place if nothing was there; "": nowhere, for it is
        nothing."""
        self._close()
        written = _status(self.partial or self.place) if self.place else None
        if written is None or not written.st_size:
            self.abandon()
            return ""
        if self.partial and self.replaces:
            return self.partial
        try:
            self._take_place()
        except OSError:
            return self.partial
        return self.place

    def abandon(self) -> None:
        """There will be no file: what was there stays."""
        self._close()
        if self.partial:
            try:
                os.unlink(self.partial)
            except OSError:
                return  # it cannot be removed, or has taken the place
            self.partial = ""

    def _close(self) -> None:
        try:
            self.file.close()
        except OSError:  # what could not be written has been said
            return

    def _take_place(self) -> None:
        if self.partial:
            os.replace(self.partial, self.place)
            self.partial = ""


def write_whole(path: str, text: str) -> None:
    """Put a text into a file. OSError: it cannot be written; then what was there stays."""
    whole = WholeFile(path)
    try:
        whole.file.write(text.encode(errors="surrogateescape"))
    except BaseException:
        whole.abandon()
        raise
    whole.finish()


def append_whole(path: str, text: str) -> None:
    """Put a text behind what is in a file. OSError: it cannot be written; then what was there stays, and no more."""
    with open(path, "ab", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        before = os.fstat(file.fileno()).st_size
        try:
            left = memoryview(text.encode(errors="surrogateescape"))
            while left:
                left = left[file.write(left) :]
            if regular:
                os.fsync(file.fileno())
        except BaseException:
            if regular:
                os.ftruncate(file.fileno(), before)
            raise


def check_whole(path: str) -> None:
    """OSError when no such file could be written now; nothing has changed."""
    if _place(path):
        WholeFile(path).abandon()
    elif not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _place(path: str) -> str:
    """The path of a regular file, present or to come, behind all links; "": anything else, or a descriptor."""
    path = _behind_links(path)
    if path.startswith("/proc/"):
        return ""
    old = _status(path)
    return path if old is None or stat.S_ISREG(old.st_mode) or stat.S_ISDIR(old.st_mode) else ""


def _behind_links(path: str) -> str:
    """The path that links lead to; those of /proc, which lead to files that are open, are not followed."""
    for _ in range(MAX_LINKS):
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder or ".")
        path = os.path.join(folder, name)
        if folder.startswith("/proc/") or not os.path.islink(path):
            return path
        path = os.path.join(folder, os.readlink(path))
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _itself(path: str) -> BinaryIO:
    """A device, a pipe, or the process's own descriptor, which goes on where it is."""
    folder, number = os.path.split(_behind_links(path))
    if folder == f"/proc/{os.getpid()}/fd" and number.isdigit():
        return os.fdopen(os.dup(int(number)), "wb")
    return open(path, "wb")


def _fresh(place: str, mode: int) -> tuple[int, str]:
    """A new file beside a place, and its name."""
    folder, name = os.path.split(place)
    if len(os.fsencode(name)) > MAX_NAME_BYTES:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    for attempt in range(MAX_LINKS):
        behind = f".{os.getpid()}" + (f".{attempt}" if attempt else "")
        room = MAX_NAME_BYTES - 1 - len(behind)
        partial = os.path.join(folder, f".{os.fsdecode(os.fsencode(name)[:room])}{behind}")
        try:
            return os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), partial
        except FileExistsError:  # of another file of this run, or of a process that was killed
            continue
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _make_like(descriptor: int, old: os.stat_result) -> None:
    """Owner and mode of the file that is replaced. PermissionError: it is another's."""
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except PermissionError:
            raise PermissionError(errno.EPERM, "it is of another user or group, as a new file could not be") from None
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
