"""What a program's first three descriptors are, without moving those of the process that pfmon runs in."""

from __future__ import annotations

import os

from pfmon.errors import BadValueError
from pfmon.light_typing import Protocol

DEVNULL = -3
"""As subprocess.DEVNULL."""


class HasDescriptor(Protocol):
    """A file, a socket: something with a descriptor."""

    def fileno(self) -> int:
        """The descriptor."""


File = int | HasDescriptor | None
"""What a standard file may be: None is the process's own, DEVNULL is nothing, else a descriptor or an open file."""


class Files:
    """Standard input, output and error of one run. ``capture``: keep what the program writes; ``given``: what it
    reads."""

    def __init__(
        self,
        stdin: File = None,
        stdout: File = None,
        stderr: File = None,
        capture: bool = False,
        given: bytes | None = None,
    ) -> None:
        self._owned: list[int] = []
        self._capture = capture
        try:
            files = (stdin, stdout, stderr)
            self.numbers: tuple[int, int, int] = (
                self._number(0, files, given is not None, given or b""),
                self._number(1, files, capture),
                self._number(2, files, capture),
            )
        except BaseException:
            self.close()
            raise

    def _number(self, number: int, files: tuple[File, File, File], in_memory: bool, content: bytes = b"") -> int:
        """The host's descriptor for one of the three."""
        name, file = ("stdin", "stdout", "stderr")[number], files[number]
        if in_memory and file is not None:
            other = "capture" if number else "input"
            raise BadValueError(f"{name} and {other} exclude each other: the file is one or the other")
        if in_memory:
            return self._memory(content)
        if file is None:
            return number
        if file == DEVNULL:
            return self._own(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
        return _descriptor(name, file)

    def _own(self, descriptor: int) -> int:
        self._owned.append(descriptor)
        return descriptor

    def _memory(self, content: bytes) -> int:
        """A file in memory, to be read from its beginning."""
        descriptor = self._own(os.memfd_create("pfmon"))
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def captured(self) -> tuple[bytes, bytes] | None:
        """What the program wrote to its standard output and error; None without ``capture``."""
        if not self._capture:
            return None
        output, error = (os.pread(number, os.fstat(number).st_size, 0) for number in self.numbers[1:])
        return output, error

    def close(self) -> None:
        """Close what was opened here."""
        while self._owned:
            os.close(self._owned.pop())


def _descriptor(name: str, file: object) -> int:
    """The descriptor of an open file."""
    number = file if isinstance(file, int) else getattr(file, "fileno", lambda: -1)()
    try:
        os.fstat(number)
    except (OSError, OverflowError, TypeError):
        raise BadValueError(f"{name}={file!r}: an open file, a descriptor, DEVNULL or None is wanted") from None
    return int(number)
