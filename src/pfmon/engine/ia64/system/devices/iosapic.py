"""An I/O SAPIC: lines of devices become interrupt messages to processors (Itanium processor family interrupt
architecture guide, chapter 4; ACPI specification 5.2.12.9).

Registers are reached by a select register and a window. Each line has an entry of 64 bits in the redirection table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from pfmon.engine.ia64.system.snapshots.kept_fields import BIT, BYTE, Range

BYTES = 0x1000
SELECT, WINDOW, END_OF_INTERRUPT = 0x00, 0x10, 0x40
"""Offsets of the registers."""
VERSION, FIRST_ENTRY = 0x01, 0x10
"""Numbers in the select register; each entry has two, the low half first."""
LINES = 24
VERSION_NUMBER = 0x21
MASKED = 1 << 16
LEVEL = 1 << 15
PENDING = 1 << 12
WRITABLE = 0xFFFF_0000_0001_A7FF
"""Fields of an entry that software sets: vector 7:0, delivery mode 10:8, polarity 13, trigger 15, mask 16, eid 55:48,
id 63:56."""
HALF = (1 << 32) - 1

Send = Callable[[int, int, int], None]
"""Sends a message: id << 8 | eid, vector, delivery mode."""


class Iosapic:
    """The controller. ``send``: what messages go to."""

    KEPT: ClassVar[Mapping[str, Range]] = {"_selected": BYTE, "_entries": (0, WRITABLE), "_raised": BIT}

    def __init__(self, send: Send) -> None:
        self._send = send
        self._selected = 0
        self._entries = [MASKED] * LINES
        self._raised = [False] * LINES

    def read(self, offset: int, size: int) -> int:
        """A register; 0 where there is none."""
        if offset == SELECT:
            return self._selected
        if offset != WINDOW:
            return 0
        if self._selected == VERSION:
            return VERSION_NUMBER | LINES - 1 << 16
        line, high = divmod(self._selected - FIRST_ENTRY, 2)
        return self._entries[line] >> 32 * high & HALF if 0 <= line < LINES else 0

    def write(self, offset: int, size: int, value: int) -> None:
        """A register gets a value; the end of an interrupt names its vector."""
        if offset == SELECT:
            self._selected = value & 0xFF
        elif offset == WINDOW:
            line, high = divmod(self._selected - FIRST_ENTRY, 2)
            if 0 <= line < LINES:
                self._set(line, high, value & HALF)
        elif offset == END_OF_INTERRUPT:
            self._ended(value & 0xFF)

    def set_line(self, line: int, raised: bool) -> None:
        """A device raises its line, or lets it go: an interrupt when it rises."""
        before, self._raised[line] = self._raised[line], raised
        if raised and not before and not self._entries[line] & MASKED:
            self._deliver(line)

    def _set(self, line: int, high: int, value: int) -> None:
        before = self._entries[line]
        kept = before & HALF << 32 * (1 - high)
        self._entries[line] = entry = (kept | value << 32 * high) & WRITABLE
        if before & MASKED and not entry & MASKED and entry & LEVEL and self._raised[line]:
            self._deliver(line)

    def _ended(self, vector: int) -> None:
        """Lines by level that are still raised interrupt again."""
        for line, entry in enumerate(self._entries):
            if entry & 0xFF == vector and entry & LEVEL and not entry & MASKED and self._raised[line]:
                self._deliver(line)

    def _deliver(self, line: int) -> None:
        entry = self._entries[line]
        self._send(entry >> 48, entry & 0xFF, entry >> 8 & 7)
