"""Physical addresses without a device: the memory-mapped space of input and output ports (volume 2, 10.7), and what is
left between devices."""

from __future__ import annotations

BYTES = 64 << 20


class IoPorts:
    """A bus that no device answers on."""

    def read(self, offset: int, size: int) -> int:
        """All bits are ones."""
        return (1 << 8 * size) - 1

    def write(self, offset: int, size: int, value: int) -> None:
        """Nobody listens."""
