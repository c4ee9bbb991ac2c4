"""The I/O SAPIC, the serial port's line of it, the power switch and the ports that are not there."""

import pytest

from pfmon.engine.ia64.system.devices.io_ports import IoPorts
from pfmon.engine.ia64.system.devices.iosapic import Iosapic
from pfmon.engine.ia64.system.devices.power_switch import PowerSwitch

SELECT, WINDOW, EOI = 0x00, 0x10, 0x40
MASK, LEVEL = 1 << 16, 1 << 15
LINE = 20


class Controller:
    """A controller, and the messages that it sends."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, int, int]] = []
        self.device = Iosapic(lambda *message: self.sent.append(message))

    def get(self, number: int) -> int:
        self.device.write(SELECT, 4, number)
        assert self.device.read(SELECT, 4) == number
        return self.device.read(WINDOW, 4)

    def put(self, number: int, value: int) -> None:
        self.device.write(SELECT, 4, number)
        self.device.write(WINDOW, 4, value)

    def route(self, low: int, high: int = 0x0203_0000) -> None:
        self.put(0x11 + 2 * LINE, high)
        self.put(0x10 + 2 * LINE, low)

    def raise_line(self, raised: bool = True) -> None:
        self.device.set_line(LINE, raised)


@pytest.fixture
def controller() -> Controller:
    return Controller()


def test_version_has_the_number_of_lines(controller: Controller) -> None:
    assert controller.get(1) >> 16 == 23


def test_entries_are_masked_at_first(controller: Controller) -> None:
    assert [controller.get(0x10 + 2 * line) for line in range(24)] == [MASK] * 24
    controller.raise_line()
    assert controller.sent == []


def test_edge_sends_one_message(controller: Controller) -> None:
    controller.route(0x30)
    for raised in (True, True, False, True):
        controller.raise_line(raised)
    assert controller.sent == [(0x0203, 0x30, 0)] * 2


def test_level_is_sent_again_at_the_end_of_interrupt(controller: Controller) -> None:
    controller.route(LEVEL | 0x31)
    controller.raise_line()
    controller.device.write(EOI, 4, 0x31)
    controller.device.write(EOI, 4, 0x32)
    controller.raise_line(False)
    controller.device.write(EOI, 4, 0x31)
    assert controller.sent == [(0x0203, 0x31, 0)] * 2


def test_level_that_is_unmasked_is_sent(controller: Controller) -> None:
    controller.route(MASK | LEVEL | 0x31)
    controller.raise_line()
    assert controller.sent == []
    controller.route(LEVEL | 7 << 8 | 0x31)
    assert controller.sent == [(0x0203, 0x31, 7)]


def test_reserved_bits_read_as_zero(controller: Controller) -> None:
    controller.route(0xFFFF_FFFF, 0xFFFF_FFFF)
    assert controller.get(0x10 + 2 * LINE) == 0x1_A7FF
    assert controller.get(0x11 + 2 * LINE) == 0xFFFF_0000


@pytest.mark.parametrize("number", [0, 2, 0xF, 0x40, 0xFF])
def test_registers_that_are_not_there_do_nothing(controller: Controller, number: int) -> None:
    controller.put(number, 0xFFFF_FFFF)
    assert controller.get(number) == 0
    assert controller.device.read(0x20, 4) == 0


@pytest.mark.parametrize(("offset", "value", "off"), [(0, 0x34, 1), (0, 0x14, 0), (0, 0x30, 0), (1, 0x34, 0)])
def test_power_goes_off_by_the_state_s5_alone(offset: int, value: int, off: int) -> None:
    """SLP_EN in bit 5, SLP_TYP in 4:2 (ACPI specification, 4.8.3.7)."""
    calls: list[int] = []
    switch = PowerSwitch(lambda: calls.append(1))
    switch.write(offset, 1, value)
    assert (len(calls), switch.read(1, 1)) == (off, 0)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_ports_read_as_ones(size: int) -> None:
    ports = IoPorts()
    ports.write(0x3F8, size, 0)
    assert ports.read(0x3F8, size) == (1 << 8 * size) - 1
