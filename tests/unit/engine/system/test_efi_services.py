"""EFI's runtime services (UEFI specification 2.10, chapter 8)."""

import struct
from collections.abc import Sequence

import pytest
from firmware_callers import Memory, called

from pfmon.engine.ia64.system.firmware import efi_tables
from pfmon.engine.ia64.system.firmware.efi_services import Efi
from pfmon.engine.ia64.system.firmware.table_area import TableArea

CODE, BASE = 0x1FF1_0000, 0x1FF2_0000
SECOND = 10**9
START = 1_767_225_600 * SECOND
"""2026-01-01 00:00:00 UTC."""
INVALID, UNSUPPORTED, NOT_FOUND = (1 << 63 | code for code in (2, 3, 14))
BUFFER = 0x8004
GET_TIME, SET_TIME, GET_WAKEUP, SET_WAKEUP, SET_MAP, CONVERT, GET_VARIABLE, NEXT_VARIABLE = range(1, 9)
SET_VARIABLE, NEXT_COUNT, RESET, CAPSULE, CAPSULES, VARIABLES = range(9, 15)
RUNTIME = 1 << 63


class Firmware:
    """The services, and a caller."""

    def __init__(self) -> None:
        self.nanoseconds = START
        self.memory = Memory()
        self.resets = 0
        area = TableArea(BASE)
        self.places = efi_tables.place_tables(area, CODE, 0, 0)
        self.memory.write(BASE, area.content)
        self.efi = Efi(self, self.places, CODE)

    def reset(self) -> None:
        self.resets += 1

    def write_memory(self, address: int, content: bytes) -> bool:
        return self.memory.write(address, content)

    def call(self, service: int, *arguments: int) -> int:
        given = [*arguments, *[0] * (8 - len(arguments))]
        return called(self.efi.services[service](given), self.memory)[0]

    def time(self) -> tuple[int, ...]:
        assert self.call(GET_TIME, BUFFER, 0) == 0
        return struct.unpack("<HBBBBBxIhBx", self.memory.read(BUFFER, 16))

    def map(self, ranges: Sequence[tuple[int, int, int, int]], step: int = 40) -> bytes:
        rows = (struct.pack("<IIQQQQ", 6, 0, *one).ljust(step, b"\0") for one in ranges)
        return b"".join(rows)


@pytest.fixture
def firmware() -> Firmware:
    return Firmware()


def test_time_is_the_system_s(firmware: Firmware) -> None:
    firmware.nanoseconds += 86_400 * SECOND + 3_723 * SECOND + 5
    assert firmware.time() == (2026, 1, 2, 1, 2, 3, 5, 0x7FF, 0)


def test_clock_counts_nanoseconds(firmware: Firmware) -> None:
    assert firmware.call(GET_TIME, BUFFER, 0x9000) == 0
    assert firmware.memory.read(0x9000, 9) == struct.pack("<II?", SECOND, 0, False)


def test_time_goes_on_from_what_was_set(firmware: Firmware) -> None:
    firmware.memory.write(BUFFER, struct.pack("<HBBBBBxIhBx", 2000, 2, 29, 23, 59, 59, 7, 60, 1))
    assert firmware.call(SET_TIME, BUFFER) == 0
    firmware.nanoseconds += 2 * SECOND
    assert firmware.time() == (2000, 3, 1, 0, 0, 1, 7, 60, 1)


@pytest.mark.parametrize(
    "fields",
    [
        (1899, 1, 1, 0, 0, 0, 0, 0, 0),
        (2026, 0, 1, 0, 0, 0, 0, 0, 0),
        (2026, 13, 1, 0, 0, 0, 0, 0, 0),
        (2026, 2, 29, 0, 0, 0, 0, 0, 0),
        (2026, 1, 1, 24, 0, 0, 0, 0, 0),
        (2026, 1, 1, 0, 60, 0, 0, 0, 0),
        (2026, 1, 1, 0, 0, 60, 0, 0, 0),
        (2026, 1, 1, 0, 0, 0, SECOND, 0, 0),
        (2026, 1, 1, 0, 0, 0, 0, 1441, 0),
        (2026, 1, 1, 0, 0, 0, 0, 0, 4),
    ],
)
def test_time_out_of_range_is_not_set(firmware: Firmware, fields: tuple[int, ...]) -> None:
    firmware.memory.write(BUFFER, struct.pack("<HBBBBBxIhBx", *fields))
    assert firmware.call(SET_TIME, BUFFER) == INVALID
    assert firmware.time()[:3] == (2026, 1, 1)


@pytest.mark.parametrize("service", [GET_TIME, SET_TIME, GET_VARIABLE, NEXT_VARIABLE, NEXT_COUNT])
def test_null_pointers_are_invalid(firmware: Firmware, service: int) -> None:
    assert firmware.call(service) == INVALID
    assert not firmware.memory.accesses


@pytest.mark.parametrize("service", [GET_WAKEUP, SET_WAKEUP, CONVERT, SET_VARIABLE, CAPSULE, CAPSULES, VARIABLES])
def test_service_that_is_not_there_says_so(firmware: Firmware, service: int) -> None:
    assert firmware.call(service, 1, 1, 1, 1, 1) == UNSUPPORTED


def test_there_are_no_variables(firmware: Firmware) -> None:
    assert firmware.call(GET_VARIABLE, 8, 8, 0, 8, 8) == NOT_FOUND
    assert firmware.call(NEXT_VARIABLE, 8, 8, 8) == NOT_FOUND


def test_high_count_is_one_higher_each_time(firmware: Firmware) -> None:
    for count in (1, 2):
        assert firmware.call(NEXT_COUNT, BUFFER) == 0
        assert firmware.memory.read(BUFFER, 8) == struct.pack("<II", count, 0)


def test_reset_ends_the_run(firmware: Firmware) -> None:
    firmware.call(RESET, 2, 0, 0, 0)
    assert firmware.resets == 1


VIRTUAL = 0xE << 60
WHOLE = [(0x1FF0_0000, VIRTUAL | 0x1FF0_0000, 256, RUNTIME | 8)]


@pytest.mark.parametrize("step", [40, 48])
def test_pointers_become_virtual(firmware: Firmware, step: int) -> None:
    content = firmware.map([(0, 0, 16, 8), *WHOLE], step)
    firmware.memory.write(BUFFER, content)
    assert firmware.call(SET_MAP, len(content), step, 1, BUFFER) == 0
    read, places = firmware.memory.read, firmware.places
    for number, place in enumerate(places.descriptors, 1):
        assert read(place, 16) == struct.pack("<QQ", VIRTUAL | CODE + 16 * number, 0)
    pointers = struct.unpack("<14Q", read(places.runtime + 24, 112))
    assert pointers == tuple(VIRTUAL | one for one in places.descriptors)
    assert read(places.system + 88, 8) == (VIRTUAL | places.runtime).to_bytes(8, "little")
    assert firmware.call(SET_MAP, len(content), step, 1, BUFFER) == UNSUPPORTED


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((40, 40, 2, BUFFER), INVALID),
        ((40, 39, 1, BUFFER), INVALID),
        ((60, 40, 1, BUFFER), INVALID),
        ((1 << 40, 40, 1, BUFFER), INVALID),
        ((0, 40, 1, BUFFER), NOT_FOUND),
    ],
)
def test_bad_map_changes_nothing(firmware: Firmware, arguments: tuple[int, ...], status: int) -> None:
    firmware.memory.write(BUFFER, firmware.map(WHOLE))
    before = dict(firmware.memory.bytes)
    assert firmware.call(SET_MAP, *arguments) == status
    assert firmware.memory.bytes == before


def test_map_without_the_firmware_is_not_taken(firmware: Firmware) -> None:
    content = firmware.map([(0x1FF1_0000, 1 << 63, 1, RUNTIME | 8)])
    firmware.memory.write(BUFFER, content)
    assert firmware.call(SET_MAP, len(content), 40, 1, BUFFER) == NOT_FOUND
