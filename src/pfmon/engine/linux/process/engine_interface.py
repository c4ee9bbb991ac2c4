"""The processor as the Linux layer uses it, for any instruction set, and the possible ends of a process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol


class Registers(Protocol):
    """The application state of a processor, between two instructions. What it holds beyond this is the matter of the
    instruction set's ABI (abi/linux_abi.py)."""

    @property
    def ip(self) -> int:
        """The next instruction; after a system call the one behind it, after a fault the faulting one."""

    @property
    def retired(self) -> int:
        """Instructions retired so far."""

    def context(self) -> Any:
        """A copy of the running thread's registers, for `resume`."""

    def resume(self, context: Any) -> None:
        """Load a thread's registers."""

    def set_time(self, instructions: int) -> None:
        """Set the processor's clock as if this many instructions had retired by now."""

    def set_files(self, files: Sequence[tuple[int, int, int]]) -> None:
        """Set the files mapped where code may be: start, end and number of each."""


class Exit(NamedTuple):
    """The program exited."""

    status: int


class Death(NamedTuple):
    """A signal killed the program."""

    signal: int
    text: str

    @property
    def status(self) -> int:
        """Exit status as a shell reports it."""
        return 128 + self.signal


End = Exit | Death
