"""SAL's system table (SAL specification 3.2.5)."""

from __future__ import annotations

import struct

from pfmon.engine.ia64.system.firmware.table_area import with_checksum

HEADER = struct.Struct("<4sIBBHB7xBBBB32s32s8x")
CHECKSUM = 12
MINOR, MAJOR = 0, 3
"""The revision of SAL."""
VERSION_MINOR, VERSION_MAJOR = 0, 1
ENTRY_POINT, WAKE_UP = 0, 5
EXTERNAL_INTERRUPT = 0
WAKE_UP_VECTOR = 0xFF
"""The interrupt that wakes an application processor: no vector of Linux's own."""
MAKER, PLATFORM = b"pfmon", b"modelled platform"


def system_table(pal: int, sal: int, gp: int) -> bytes:
    """The table: entry points of PAL and SAL, and how an application processor is woken."""
    entries = struct.pack("<B7xQQQ16x", ENTRY_POINT, pal, sal, gp)
    entries += struct.pack("<BB6xQ", WAKE_UP, EXTERNAL_INTERRUPT, WAKE_UP_VECTOR)
    version = (VERSION_MINOR, VERSION_MAJOR)
    length = HEADER.size + len(entries)
    head = HEADER.pack(b"SST_", length, MINOR, MAJOR, 2, 0, *version, *version, MAKER, PLATFORM)
    return with_checksum(head + entries, CHECKSUM)
