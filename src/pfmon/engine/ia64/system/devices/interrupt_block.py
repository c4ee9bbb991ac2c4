"""The processor's interrupt block: stores to it are interrupt messages between processors (volume 2, 5.8.4).

A message to a processor that is not there is lost, as is one that is no external interrupt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from pfmon.engine.ia64.system.snapshots.kept_fields import BYTE, Range

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
    """A processor that gets messages."""

    def cr(self, number: int) -> int:
        """A control register."""

    def raise_interrupt(self, vector: int) -> None:
        """An external interrupt arrives."""


class InterruptBlock:
    """Passes messages on to processors."""

    KEPT: ClassVar[Mapping[str, Range]] = {"_priority": BYTE}

    def __init__(self, processors: Sequence[InterruptedProcessor]) -> None:
        self._processors = processors
        self._priority = 0

    def read(self, offset: int, size: int) -> int:
        """The task priority; else 0, since no external controller has an interrupt."""
        return self._priority if offset == XTP else 0

    def write(self, offset: int, size: int, value: int) -> None:
        """A message: id in bits 19:12 of the address and eid in 11:4, vector in bits 7:0 of the value and delivery mode
        in 10:8."""
        if offset == XTP:
            self._priority = value & 0xFF
        elif offset < MESSAGES and size == MESSAGE_BYTES:
            for one in self._processors:
                if offset >> 4 == one.cr(LID) >> 16 & 0xFFFF:
                    self._deliver(one, value & 0xFF, value >> 8 & 7)

    def _deliver(self, processor: InterruptedProcessor, vector: int, mode: int) -> None:
        if mode == FIXED and vector >= FIRST_VECTOR:
            processor.raise_interrupt(vector)
        elif mode in (NMI, EXTERNAL):
            processor.raise_interrupt(NMI_VECTOR if mode == NMI else EXTERNAL_VECTOR)
