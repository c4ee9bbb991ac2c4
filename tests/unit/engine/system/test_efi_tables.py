"""EFI's and SAL's tables, read by the layouts of their specifications (UEFI 2.10; SAL 3.2.5)."""

import struct
import zlib
from itertools import pairwise

import pytest

from pfmon.engine.ia64.system.firmware import efi_tables, sal_table
from pfmon.engine.ia64.system.firmware.table_area import TableArea
from pfmon.engine.ia64.system.platform import layout

BASE, CODE = 0x1FF2_0000, 0x1FF1_0000
MB = 1 << 20
SYSTEM_BYTES, RUNTIME_BYTES = 120, 136
"""Chapters 4.3 and 4.5: headers of 24 bytes, 12 and 14 fields of eight."""


@pytest.fixture
def placed() -> tuple[bytes, efi_tables.EfiPlaces]:
    area = TableArea(BASE)
    places = efi_tables.place_tables(area, CODE, 0x1111, 0x2222)
    return area.content, places


def crc_is_right(table: bytes) -> bool:
    return zlib.crc32(table[:16] + bytes(4) + table[20:]) == int.from_bytes(table[16:20], "little")


def test_system_table_leads_to_all_others(placed: tuple[bytes, efi_tables.EfiPlaces]) -> None:
    content, places = placed
    table = content[places.system - BASE :][:SYSTEM_BYTES]
    assert table[:8] == b"IBI SYST"
    assert struct.unpack("<II", table[8:16]) == (0x2_0064, SYSTEM_BYTES)
    assert crc_is_right(table)
    vendor, *_, runtime, boot, count, configuration = struct.unpack("<QI4x6QQQQQ", table[24:])
    assert content[vendor - BASE :].startswith("pfmon\0".encode("utf-16-le"))
    assert (runtime, boot, count) == (places.runtime, 0, 2)
    rows = content[configuration - BASE :][: 24 * count]
    assert [rows[0:24], rows[24:48]] == [
        bytes.fromhex("322d9deb882dd3119a160090273fc14d") + (0x1111).to_bytes(8, "little"),  # SAL_SYSTEM_TABLE_GUID
        bytes.fromhex("71e86888f1e4d311bc220080c73c8881") + (0x2222).to_bytes(8, "little"),  # EFI_ACPI_20_TABLE_GUID
    ]


def test_runtime_table_has_descriptors_of_the_entry_points(placed: tuple[bytes, efi_tables.EfiPlaces]) -> None:
    content, places = placed
    table = content[places.runtime - BASE :][:RUNTIME_BYTES]
    assert table[:8] == b"RUNTSERV"
    assert int.from_bytes(table[12:16], "little") == RUNTIME_BYTES
    assert crc_is_right(table)
    descriptors = struct.unpack("<14Q", table[24:])
    assert len(set(descriptors)) == 14
    points = [struct.unpack_from("<QQ", content, one - BASE) for one in descriptors]
    assert points == [(CODE + 16 * number, 0) for number in range(1, 15)]


def test_sal_table_has_its_entries_and_sums_to_zero() -> None:
    table = sal_table.system_table(0xAAAA, 0xBBBB, 0xCCCC)
    assert table[:4] == b"SST_"
    length, minor, major, entries = struct.unpack_from("<IBBH", table, 4)
    assert (length, (major, minor), entries) == (len(table), (3, 0), 2)
    assert sum(table) % 256 == 0
    assert table[96:144] == struct.pack("<B7xQQQ16x", 0, 0xAAAA, 0xBBBB, 0xCCCC)
    assert struct.unpack("<BB6xQ", table[144:]) == (5, 0, 0xFF)


@pytest.mark.parametrize("size", [128 * MB, 300 * MB, 3072 * MB])
def test_memory_map_has_each_place_once(size: int) -> None:
    firmware = size - MB
    ranges = layout.memory_ranges(firmware, layout.UART)
    content = efi_tables.memory_map(ranges)
    rows = list(struct.iter_unpack("<IIQQQQ", content))
    assert [(row[0], row[2], row[2] + (row[4] << 12), row[5]) for row in rows] == list(ranges)
    assert all(low[2] + (low[4] << 12) <= high[2] for low, high in pairwise(rows))
    memory = [row for row in rows if row[5] & 8]
    assert memory[0][2] == 0
    assert all(low[2] + (low[4] << 12) == high[2] for low, high in pairwise(memory))
    assert sum(row[4] for row in memory) << 12 == size


def test_kernels_memory_ends_where_the_firmware_begins() -> None:
    """A flat kernel takes all below the highest page that is its own."""
    ranges = layout.memory_ranges(511 * MB, layout.UART)
    conventional = [one for one in ranges if one.kind == 7]
    assert [(one.start, one.end) for one in conventional] == [(0, 511 * MB)]
    runtime = [one for one in ranges if one.attributes >> 63 and one.attributes & 8]
    assert min(one.start for one in runtime) == 511 * MB
    pal = [one for one in ranges if one.kind == 13]
    assert len(pal) == 1
    assert pal[0].end - pal[0].start <= 16 * MB


def test_serial_port_elsewhere_is_in_the_map() -> None:
    ranges = layout.memory_ranges(511 * MB, 0x2000_0008)
    assert any(one.kind == 11 and one.start <= 0x2000_0008 < one.end for one in ranges)
