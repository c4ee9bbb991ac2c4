"""The engine's interface to the Linux layer, and the possible ends of a process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self

from pfmon.engine.ia64._ia64 import GuestMemoryFault, GuestMemoryLimit, ThreadContext

__all__ = ["Death", "End", "Exit", "GuestMemoryFault", "GuestMemoryLimit", "Memory", "Registers"]


class Memory(Protocol):
    """Guest memory in pages of 16 KB; protections are Linux's: 1 read, 2 write, 4 execute.

    Disallowed accesses raise GuestMemoryFault, excessive mappings GuestMemoryLimit.
    """

    @property
    def page_size(self) -> int: ...
    def map(self, address: int, length: int, protection: int, shared: bool = False) -> None:
        """Map zero-filled pages, replacing earlier mappings. ``shared``: with the children of the process."""

    def unmap(self, address: int, length: int) -> None: ...
    def protect(self, address: int, length: int, protection: int) -> None: ...
    def is_mapped(self, address: int, length: int) -> bool: ...
    def find_free(self, length: int, low: int, high: int) -> int | None: ...
    def regions_map(self) -> list[tuple[int, int, int]]:
        """(start, end, protection) of everything mapped, sorted."""

    def read(self, address: int, length: int) -> bytes: ...
    def write(self, address: int, data: bytes) -> None: ...
    def write_initial(self, address: int, data: bytes | memoryview) -> None:
        """Write regardless of protection (for the loader)."""

    def is_shared(self, address: int) -> bool:
        """Whether the mapping there is shared with other processes."""

    def place(self, address: int) -> int:
        """The host address of a byte: the same for all that share it."""

    def adopt(self, address: int, other: Self, theirs: int, length: int, protection: int) -> None:
        """Map pages that are mapped shared elsewhere, at an unmapped address: each sees the other's writes."""

    def clear(self) -> None:
        """Unmap everything."""


class Registers(Protocol):
    """The application state of the processor, between two instructions.

    After a break instruction ip is that of the instruction after it; after a fault it is the faulting one's.
    """

    def gr(self, n: int) -> int: ...
    def set_gr(self, n: int, value: int, nat: bool = False) -> None: ...
    def nat(self, n: int) -> bool: ...
    def br(self, n: int) -> int: ...
    def set_br(self, n: int, value: int) -> None: ...
    @property
    def pr(self) -> int: ...
    def set_pr(self, value: int) -> None: ...
    def ar(self, name: str) -> int: ...
    def set_ar(self, name: str, value: int) -> None: ...
    @property
    def cfm(self) -> int:
        """Packed as in CFM (SDM volume 1, 3.1.7): sof, sol, sor, rrb.gr, rrb.fr, rrb.pr."""

    def set_cfm(self, value: int) -> None: ...
    @property
    def ip(self) -> int:
        """Bundle address, with the slot in bits 0 and 1."""

    def set_ip(self, value: int) -> None: ...
    @property
    def um(self) -> int: ...
    def set_um(self, value: int) -> None: ...
    def set_secure(self, value: bool) -> None:
        """PSR.sp: the program neither reads performance data registers nor changes PSR.up."""

    def fr_spill(self, n: int) -> bytes:
        """The 16 bytes that stf.spill stores."""

    def set_fr_spill(self, n: int, data: bytes) -> None: ...
    def out_argument(self, i: int) -> int:
        """Output register i of the current frame: an argument of a system call."""

    def cover_and_flush(self) -> int | None:
        """Write all stacked registers to the backing store; leaves an empty frame.

        Returns ar.bsp, None if the backing store cannot be written.
        """

    def restore_frame(self, bsp: int, cfm: int) -> bool:
        """Restore the frame covered when ar.bsp was bsp; its registers come from the backing store.

        ar.rnat holds the NaT bits of the last group. False if the backing store cannot be read.
        """

    @property
    def retired(self) -> int:
        """Instructions retired so far."""

    @property
    def cpuid(self) -> Sequence[int]:
        """The processor identification registers."""

    def set_files(self, files: Sequence[tuple[int, int, int]]) -> None:
        """Set the files mapped where code may be: start, end and number of each."""

    def context(self) -> ThreadContext:
        """A copy of the running thread's registers."""

    def resume(self, context: ThreadContext) -> None:
        """Load a thread's registers."""

    def begin_stack(self, base: int) -> None:
        """Start a register stack: the current frame is its first, the backing store begins at ``base``."""

    def set_time(self, instructions: int) -> None:
        """Set ar.itc as if this many instructions had retired by now."""


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
