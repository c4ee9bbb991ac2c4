"""EFI's tables (UEFI specification 2.10, chapters 4 and 7.2)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from pfmon.engine.ia64.system.firmware.firmware_calls import ENTRY_BYTES
from pfmon.engine.ia64.system.firmware.table_area import TableArea

REVISION = 2 << 16 | 100
"""2.10: major in the high half, ten times minor in the low one."""
HEADER = struct.Struct("<QIIII")
CRC = 16
"""Place of the checksum in a header (4.2)."""
SYSTEM, RUNTIME = int.from_bytes(b"IBI SYST", "little"), int.from_bytes(b"RUNTSERV", "little")
SERVICES = 14
"""Runtime services (4.5)."""
DESCRIPTOR = struct.Struct("<IIQQQQ")
DESCRIPTOR_VERSION = 1
PAGE = 12
VENDOR = "pfmon"
SAL_TABLE = UUID("eb9d2d32-2d88-11d3-9a16-0090273fc14d")
ACPI_TABLE = UUID("8868e871-e4f1-11d3-bc22-0080c73c8881")
"""Of ACPI 2.0 and later."""
RUNTIME_CODE, RUNTIME_DATA, CONVENTIONAL, DEVICES, PORTS, PAL_CODE = 5, 6, 7, 11, 12, 13
"""Types of memory (7.2, table 7.10)."""
UNCACHED, WRITE_BACK, AT_RUNTIME = 1 << 0, 1 << 3, 1 << 63
"""Attributes (7.2.3)."""


class MemoryRange(NamedTuple):
    """A range of physical addresses, [start, end), of whole pages of 4 KB."""

    kind: int
    start: int
    end: int
    attributes: int


def memory_map(ranges: Sequence[MemoryRange]) -> bytes:
    """The descriptors of memory, in ascending order (7.2.3)."""
    return b"".join(
        DESCRIPTOR.pack(one.kind, 0, one.start, 0, one.end - one.start >> PAGE, one.attributes) for one in ranges
    )


def with_crc(table: bytes) -> bytes:
    """A table with the checksum of its header, computed while that is 0."""
    empty = table[:CRC] + bytes(4) + table[CRC + 4 :]
    return empty[:CRC] + struct.pack("<I", zlib.crc32(empty)) + empty[CRC + 4 :]


def runtime_table(services: Sequence[int]) -> bytes:
    """The table of runtime services: addresses of their function descriptors."""
    head = HEADER.pack(RUNTIME, REVISION, HEADER.size + 8 * len(services), 0, 0)
    return with_crc(head + struct.pack(f"<{len(services)}Q", *services))


def system_table(vendor: int, runtime: int, configuration: int, count: int) -> bytes:
    """The system table behind ExitBootServices: there are neither consoles nor boot services any more."""
    consoles = (0,) * 6
    body = struct.pack("<QI4x6QQQQQ", vendor, 1, *consoles, runtime, 0, count, configuration)
    return with_crc(HEADER.pack(SYSTEM, REVISION, HEADER.size + len(body), 0, 0) + body)


class EfiPlaces(NamedTuple):
    """Physical addresses of EFI's tables, and of the function descriptors of its services."""

    system: int
    runtime: int
    vendor: int
    configuration: int
    tables: int
    descriptors: tuple[int, ...]


def place_tables(area: TableArea, code: int, sal: int, acpi: int) -> EfiPlaces:
    """Put the tables into an area. ``code``: of the entry points (services.S); ``sal``, ``acpi``: tables that the
    configuration table names."""
    descriptors = tuple(
        area.place(struct.pack("<QQ", code + number * ENTRY_BYTES, 0)) for number in range(1, SERVICES + 1)
    )
    runtime = area.place(runtime_table(descriptors))
    rows = [(SAL_TABLE, sal), (ACPI_TABLE, acpi)]
    configuration = area.place(b"".join(name.bytes_le + struct.pack("<Q", table) for name, table in rows))
    vendor = area.place(f"{VENDOR}\0".encode("utf-16-le"))
    system = area.place(system_table(vendor, runtime, configuration, len(rows)))
    return EfiPlaces(system, runtime, vendor, configuration, len(rows), descriptors)
