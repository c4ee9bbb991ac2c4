"""The memory of a guest process, as loaders and system calls see it; each engine has its own."""

from __future__ import annotations

from typing import Protocol, Self


class GuestMemoryFault(Exception):
    """An access by the system-call layer to guest memory that is unmapped or protected."""

    def __init__(self, address: int) -> None:
        super().__init__(f"guest address {address:#x} is not accessible")
        self.address = address


class GuestMemoryLimit(Exception):
    """The guest asked for more memory than pfmon allows."""


class Memory(Protocol):
    """Guest memory in pages of ``page_size`` bytes; protections are Linux's: 1 read, 2 write, 4 execute.

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
