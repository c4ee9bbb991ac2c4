"""A program's standard files, set without redirecting those of pfmon's own process."""

from __future__ import annotations

import os
from typing import Protocol

from pfmon.errors import BadValueError

DEVNULL = -3
"""The value of subprocess.DEVNULL."""


class HasDescriptor(Protocol):
    """An object with a descriptor, such as a file or a socket."""

    def fileno(self) -> int:
        """Return the descriptor."""


File = int | HasDescriptor | None
"""A standard file: None for the process's own, DEVNULL, a descriptor or an open file."""


class Files:
    """Standard input, output and error of one run. ``capture``: keep the program's output; ``given``: its input."""

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
        """Return the host's descriptor for one of the three."""
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
        """Return the descriptor of a memory file positioned at its beginning."""
        descriptor = self._own(os.memfd_create("pfmon"))
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def captured(self) -> tuple[bytes, bytes] | None:
        """Return the program's standard output and error; None without ``capture``."""
        if not self._capture:
            return None
        output, error = (os.pread(number, os.fstat(number).st_size, 0) for number in self.numbers[1:])
        return output, error

    def close(self) -> None:
        """Close the files opened here."""
        while self._owned:
            os.close(self._owned.pop())


def _descriptor(name: str, file: object) -> int:
    """Return the descriptor of an open file."""
    number = file if isinstance(file, int) else getattr(file, "fileno", lambda: -1)()
    try:
        os.fstat(number)
    except (OSError, OverflowError, TypeError):
        raise BadValueError(f"{name}={file!r}: an open file, a descriptor, DEVNULL or None is wanted") from None
    return int(number)
