"""The processor's interrupt block: stores to it are interrupt messages between processors (volume 2, 5.8.4).

There is one processor: a message to another one's id is lost, as is one that is no external interrupt.
"""

from __future__ import annotations

from typing import Protocol

ADDRESS, BYTES = 0xFEE0_0000, 2 << 20
"""The physical address at reset (PAL_PLATFORM_ADDR can change it) and the size of the block."""
MESSAGES = 1 << 20
"""Bytes of the lower half, whose addresses are those of processors."""
XTP = 0x1E0008
"""External task priority, a byte; the cycle that acknowledges an external controller's interrupt is at 0x1E0000."""
LID = 64
MESSAGE_BYTES = 8
FIXED, NMI, EXTERNAL = 0, 4, 7
"""Delivery modes that are external interrupts."""
NMI_VECTOR, EXTERNAL_VECTOR = 2, 0
FIRST_VECTOR = 16


class InterruptedProcessor(Protocol):
    """The processor that gets messages."""

    def cr(self, number: int) -> int:
        """A control register."""

    def raise_interrupt(self, vector: int) -> None:
        """An external interrupt arrives."""


class InterruptBlock:
    """Passes messages on to the processor."""

    def __init__(self, processor: InterruptedProcessor) -> None:
        self._processor = processor
        self._priority = 0

    def read(self, offset: int, size: int) -> int:
        """The task priority; else 0, since no external controller has an interrupt."""
        return self._priority if offset == XTP else 0

    def write(self, offset: int, size: int, value: int) -> None:
        """A message: id in bits 19:12 of the address and eid in 11:4, vector in bits 7:0 of the value and delivery mode
        in 10:8."""
        if offset == XTP:
            self._priority = value & 0xFF
        elif offset < MESSAGES and size == MESSAGE_BYTES and self._is_meant(offset):
            self._deliver(value & 0xFF, value >> 8 & 7)

    def _is_meant(self, offset: int) -> bool:
        return offset >> 4 == self._processor.cr(LID) >> 16 & 0xFFFF

    def _deliver(self, vector: int, mode: int) -> None:
        if mode == FIXED and vector >= FIRST_VECTOR:
            self._processor.raise_interrupt(vector)
        elif mode in (NMI, EXTERNAL):
            self._processor.raise_interrupt(NMI_VECTOR if mode == NMI else EXTERNAL_VECTOR)
