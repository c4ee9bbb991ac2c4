"""What the Linux layer needs of the engine, and the ends that a process can come to."""

from __future__ import annotations

from pfmon.engine.ia64.memory.address_space import GuestMemoryFault, GuestMemoryLimit
from pfmon.light_typing import NamedTuple, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from pfmon.engine.ia64.core.context import Context

__all__ = ["Death", "End", "Exit", "GuestMemoryFault", "GuestMemoryLimit", "Memory", "Registers"]


class Memory(Protocol):
    """Guest memory in pages of 16 KB; protections are Linux's: 1 read, 2 write, 4 execute.

    Accesses that are not allowed raise GuestMemoryFault, mapping too much raises GuestMemoryLimit.
    """

    @property
    def page_size(self) -> int: ...
    def map(self, address: int, length: int, protection: int, shared: bool = False) -> None:
        """Map zero-filled pages, in place of whatever was there. ``shared``: with the children of the process."""

    def unmap(self, address: int, length: int) -> None: ...
    def protect(self, address: int, length: int, protection: int) -> None: ...
    def is_mapped(self, address: int, length: int) -> bool: ...
    def find_free(self, length: int, low: int, high: int) -> int | None: ...
    def regions_map(self) -> list[tuple[int, int, int]]:
        """(start, end, protection) of everything mapped, sorted."""

    def read(self, address: int, length: int) -> bytes: ...
    def write(self, address: int, data: bytes) -> None: ...
    def write_initial(self, address: int, data: bytes | memoryview) -> None:
        """Write whatever the protection (for the loader)."""

    def is_shared(self, address: int) -> bool:
        """Whether what is mapped there is shared with other processes."""

    def place(self, address: int) -> int:
        """Where a byte is in the host: the same for all that share it."""

    def adopt(self, address: int, other: Self, theirs: int, length: int, protection: int) -> None:
        """Have pages that are mapped shared elsewhere, where nothing is mapped: each sees what the other writes."""

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
        """The 16 bytes that stf.spill would store."""

    def set_fr_spill(self, n: int, data: bytes) -> None: ...
    def out_argument(self, i: int) -> int:
        """Output register i of the current frame: an argument of a system call."""

    def cover_and_flush(self) -> int | None:
        """Write all stacked registers to the backing store; leaves an empty frame.

        Returns ar.bsp, None if the backing store cannot be written.
        """

    def restore_frame(self, bsp: int, cfm: int) -> bool:
        """The frame that was covered when ar.bsp became bsp; its registers come from the backing store.

        ar.rnat holds the NaT bits of the last group. False if the backing store cannot be read.
        """

    @property
    def retired(self) -> int:
        """Instructions retired so far."""

    @property
    def cpuid(self) -> Sequence[int]:
        """The processor identification registers."""

    def set_files(self, files: Sequence[tuple[int, int, int]]) -> None:
        """Say which files are mapped where code may be: start, end and number of each."""

    def context(self) -> Context:
        """A copy of the registers of the thread that runs."""

    def resume(self, context: Context) -> None:
        """Go on with the thread that these registers belong to."""

    def begin_stack(self, base: int) -> None:
        """Let the current frame be the first one of a register stack whose backing store begins at ``base``."""

    def set_time(self, instructions: int) -> None:
        """Let ar.itc be so much, as if so many instructions had retired by now."""


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
