"""A serial port: National's 8250, with the scratch register of the 16450 (data sheet of the NS16450).

Characters are sent at once, so the transmitter is always empty. Where its interrupt goes nowhere, IIR tells what it
would be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from pfmon.engine.ia64.system.console import Console
from pfmon.engine.ia64.system.snapshots.kept_fields import BIT, BYTE, Range

REGISTERS = 8
"""Bytes of addresses."""
DATA, INTERRUPT_ENABLE, INTERRUPT_IDENTITY, LINE_CONTROL, MODEM_CONTROL, LINE_STATUS, MODEM_STATUS, SCRATCH = range(8)
"""DATA is RBR when it is read and THR when it is written; with DLAB set, DATA and INTERRUPT_ENABLE are the divisor."""
DLAB = 1 << 7
DATA_READY, TRANSMITTER_EMPTY = 1 << 0, 1 << 5 | 1 << 6
LOOP = 1 << 4
DTR, RTS, OUT1, OUT2 = (1 << bit for bit in range(4))
CTS, DSR, RI, DCD = (1 << bit for bit in range(4, 8))
CONNECTED = CTS | DSR | DCD
"""Modem status of a terminal that is there."""
RECEIVED, SENT, MODEM = 1 << 0, 1 << 1, 1 << 3
"""Interrupts that IER enables."""
NO_INTERRUPT, RECEIVED_IDENTITY, SENT_IDENTITY, MODEM_IDENTITY = 1, 4, 2, 0
LOOPED = {DTR: DSR, RTS: CTS, OUT1: RI, OUT2: DCD}
"""In the loop the outputs of the modem control are the inputs of the modem status."""


class Uart:
    """One serial port, connected to the console. ``set_line``: where its interrupt goes; the modem control's OUT2 lets
    it through, as on a PC."""

    KEPT: ClassVar[Mapping[str, Range]] = {
        "_enabled": (0, 0xF),
        "_line": BYTE,
        "_modem": (0, 0x1F),
        "_scratch": BYTE,
        "_divisor": BYTE,
        "_sent": BIT,
        "_status": BYTE,
        "_changed": (0, 0xF),
    }
    """A character that has been received and was not read is lost."""

    def __init__(self, console: Console, set_line: Callable[[bool], None] | None = None) -> None:
        self._console = console
        self._set_line = set_line
        self._enabled = 0
        self._line = 0
        self._modem = 0
        self._scratch = 0
        self._divisor = [0, 0]
        self._received: int | None = None
        self._sent = False
        self._status = CONNECTED
        self._changed = 0

    def read(self, offset: int, size: int) -> int:
        """The register at an offset, whatever the size."""
        found = self._read(offset)
        self.update_line()
        return found

    def write(self, offset: int, size: int, value: int) -> None:
        """The register at an offset gets the low byte."""
        self._write(offset, value & 0xFF)
        self.update_line()

    def update_line(self) -> None:
        """Raise the interrupt, or let it go: also for a character that has come meanwhile."""
        if self._set_line:
            self._set_line(bool(self._modem & OUT2) and self._pending() != NO_INTERRUPT)

    def _read(self, offset: int) -> int:
        if self._line & DLAB and offset in (DATA, INTERRUPT_ENABLE):
            return self._divisor[offset]
        match offset:
            case 0:
                return self._take()
            case 1:
                return self._enabled
            case 2:
                return self._identity()
            case 3:
                return self._line
            case 4:
                return self._modem
            case 5:
                return TRANSMITTER_EMPTY | (DATA_READY if self._waits() else 0)
            case 6:
                changed, self._changed = self._changed, 0
                return self._status | changed
            case 7:
                return self._scratch
        return 0

    def _write(self, offset: int, value: int) -> None:
        if self._line & DLAB and offset in (DATA, INTERRUPT_ENABLE):
            self._divisor[offset] = value
            return
        match offset:
            case 0:
                self._send(value)
            case 1:
                self._sent |= bool(value & SENT and not self._enabled & SENT)
                self._enabled = value & 0xF
            case 3:
                self._line = value
            case 4:
                self._set_modem(value & 0x1F)
            case 7:
                self._scratch = value

    def _waits(self) -> bool:
        """Whether a character has been received; it is held until it is read. With an interrupt nothing comes before
        the system wants one for it, so that what is typed meanwhile is not lost."""
        wanted = self._set_line is None or self._enabled & RECEIVED
        if self._received is None and wanted and not self._modem & LOOP:
            self._received = self._console.read()
        return self._received is not None

    def _take(self) -> int:
        self._waits()
        found, self._received = self._received, None
        return found or 0

    def _send(self, character: int) -> None:
        self._sent = True
        if self._modem & LOOP:
            self._received = character
        else:
            self._console.write(character)

    def _identity(self) -> int:
        """The most urgent interrupt; that of the transmitter is gone once it is told."""
        found = self._pending()
        if found == SENT_IDENTITY:
            self._sent = False
        return found

    def _pending(self) -> int:
        """The most urgent interrupt."""
        if self._enabled & RECEIVED and self._waits():
            return RECEIVED_IDENTITY
        if self._enabled & SENT and self._sent:
            return SENT_IDENTITY
        return MODEM_IDENTITY if self._enabled & MODEM and self._changed else NO_INTERRUPT

    def _set_modem(self, value: int) -> None:
        """Set modem control; inputs that change are noted in the low bits of the modem status, RI when it ends."""
        self._modem = value
        before = self._status
        self._status = CONNECTED
        if value & LOOP:
            self._status = sum(into for out, into in LOOPED.items() if value & out)
        changed = before ^ self._status
        self._changed |= (changed & (CTS | DSR | DCD) | before & ~self._status & RI) >> 4
