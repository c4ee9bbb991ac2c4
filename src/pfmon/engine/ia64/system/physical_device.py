"""A device at physical addresses of a system's memory map."""

from __future__ import annotations

from typing import Protocol


class PhysicalDevice(Protocol):
    """The registers of a device. Offsets are from its first address, sizes 1, 2, 4, 8 or 16 bytes."""

    def read(self, offset: int, size: int) -> int:
        """The bytes that a load gets, as a little-endian number."""

    def write(self, offset: int, size: int, value: int) -> None:
        """Take the bytes of a store."""


PlacedDevice = tuple[int, int, PhysicalDevice]
"""A device: its first physical address, bytes of addresses."""
