"""The serial port, as the data sheet of the 16450 has it."""

import os
from collections.abc import Iterator

import pytest

from pfmon.engine.ia64.system.console import Console
from pfmon.engine.ia64.system.devices.uart import Uart

RBR, IER, IIR, LCR, MCR, LSR, MSR, SCR = range(8)
THR = RBR


class Line:
    """A serial port, and both ends of its line."""

    def __init__(self) -> None:
        self.typed_from, self.typed_to = os.pipe()
        self.shown_from, self.shown_to = os.pipe()
        self.uart = Uart(Console((self.typed_from, self.shown_to, 2)))

    def type(self, text: bytes) -> None:
        os.write(self.typed_to, text)

    def shown(self) -> bytes:
        os.set_blocking(self.shown_from, False)
        try:
            return os.read(self.shown_from, 100)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        for descriptor in (self.typed_from, self.typed_to, self.shown_from, self.shown_to):
            os.close(descriptor)

    def read(self, register: int) -> int:
        return self.uart.read(register, 1)

    def write(self, register: int, value: int) -> None:
        self.uart.write(register, 1, value)


@pytest.fixture
def line() -> Iterator[Line]:
    made = Line()
    yield made
    made.close()


def test_characters_are_sent_at_once(line: Line) -> None:
    line.write(THR, ord("a"))
    assert line.shown() == b"a"
    assert line.read(LSR) == 0x60


def test_characters_are_received_one_by_one(line: Line) -> None:
    line.type(b"xy")
    assert line.read(LSR) == 0x61
    assert line.read(RBR) == ord("x")
    assert line.read(RBR) == ord("y")
    assert line.read(LSR) == 0x60
    assert line.read(RBR) == 0


def test_divisor_is_behind_dlab(line: Line) -> None:
    line.write(IER, 0x0F)
    line.write(LCR, 0x83)
    line.write(RBR, 0x0C)
    line.write(IER, 0x01)
    assert (line.read(RBR), line.read(IER)) == (0x0C, 0x01)
    assert line.shown() == b""
    line.write(LCR, 0x03)
    assert line.read(IER) == 0x0F
    assert line.read(LCR) == 0x03


def test_registers_keep_the_bits_that_they_have(line: Line) -> None:
    for register, kept in ((IER, 0x0F), (LCR, 0xFF), (MCR, 0x1F), (SCR, 0xFF)):
        line.write(register, 0x1FF)
        assert line.read(register) == kept
        line.write(register, 0)


def test_status_registers_are_not_written(line: Line) -> None:
    for register, value in ((LSR, 0x60), (MSR, 0xB0)):
        line.write(register, 0xFF ^ value)
        assert line.read(register) == value


def test_loop_connects_modem_control_with_modem_status(line: Line) -> None:
    """DTR to DSR, RTS to CTS, OUT1 to RI, OUT2 to DCD."""
    for control, status in ((0x01, 0x20), (0x02, 0x10), (0x04, 0x40), (0x08, 0x80), (0x0A, 0x90)):
        line.write(MCR, 0x10 | control)
        assert line.read(MSR) & 0xF0 == status


def test_changes_of_modem_status_are_told_once(line: Line) -> None:
    line.write(MCR, 0x10)  # CTS, DSR and DCD end
    assert line.read(MSR) == 0x0B
    assert line.read(MSR) == 0x00
    line.write(MCR, 0x14)
    assert line.read(MSR) == 0x40  # RI begins: that is not told
    line.write(MCR, 0x10)
    assert line.read(MSR) == 0x04


def test_loop_receives_what_is_sent(line: Line) -> None:
    line.write(MCR, 0x10)
    line.type(b"x")
    assert line.read(LSR) == 0x60
    line.write(THR, ord("l"))
    assert line.read(LSR) == 0x61
    assert line.read(RBR) == ord("l")
    assert line.shown() == b""
    line.write(MCR, 0)
    assert line.read(RBR) == ord("x")


def test_identity_is_that_of_the_most_urgent_interrupt(line: Line) -> None:
    assert line.read(IIR) == 1
    line.write(IER, 0x0B)
    line.type(b"x")
    line.write(MCR, 0x10)
    line.write(MCR, 0)
    assert line.read(IIR) == 4  # received
    assert line.read(RBR) == ord("x")
    assert line.read(IIR) == 2  # the transmitter is empty: told once
    assert line.read(IIR) == 0  # modem status
    line.read(MSR)
    assert line.read(IIR) == 1


def test_sending_makes_the_transmitter_s_interrupt_anew(line: Line) -> None:
    line.write(IER, 0x02)
    assert line.read(IIR) == 2
    assert line.read(IIR) == 1
    line.write(THR, 65)
    assert line.read(IIR) == 2


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_any_size_reaches_one_register(line: Line, size: int) -> None:
    line.uart.write(SCR, size, (1 << 8 * size) - 1)
    assert line.uart.read(SCR, size) == 0xFF


def test_end_of_the_input_is_no_character(line: Line) -> None:
    line.type(b"x")
    os.close(line.typed_to)
    line.typed_to = os.dup(2)
    assert [line.read(RBR), line.read(RBR)] == [ord("x"), 0]
    assert line.read(LSR) == 0x60
