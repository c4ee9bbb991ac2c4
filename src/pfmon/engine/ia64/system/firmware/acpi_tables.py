"""ACPI's tables of the platform (ACPI specification 6.5, 5.2): without fixed hardware, one local SAPIC a processor."""

from __future__ import annotations

import struct
from typing import NamedTuple

from pfmon.engine.ia64.system.devices import power_switch
from pfmon.engine.ia64.system.firmware import aml
from pfmon.engine.ia64.system.firmware.table_area import TableArea, with_checksum

OEM, OEM_TABLE, CREATOR = b"PFMON ", b"PLATFORM", b"PFMN"
HEADER = struct.Struct("<4sIBB6s8sI4sI")
CHECKSUM = 9
"""Place of the checksum in a header."""
FADT_BYTES, FADT_REVISION, FADT_MINOR = 276, 6, 5
HARDWARE_REDUCED, WBINVD = 1 << 20, 1 << 0
"""FADT's flags (5.2.9, table 5.10)."""
DSDT, FLAGS, X_DSDT, SLEEP_CONTROL, SLEEP_STATUS, MINOR = 40, 112, 140, 244, 256, 131
"""Places in FADT."""
SYSTEM_MEMORY, BYTE_ACCESS = 0, 1
IO_SAPIC, LOCAL_SAPIC = 6, 7
ENABLED = 1


class Placed(NamedTuple):
    """Physical addresses of what the tables describe. ``line``: the serial port's line of the I/O SAPIC."""

    interrupt_block: int
    iosapic: int
    power: int
    uart: int
    uart_bytes: int
    line: int


def table(signature: bytes, revision: int, body: bytes) -> bytes:
    """A table with its header and checksum (5.2.6)."""
    length = HEADER.size + len(body)
    head = HEADER.pack(signature, length, revision, 0, OEM, OEM_TABLE, 1, CREATOR, 1)
    return with_checksum(head + body, CHECKSUM)


def register(address: int) -> bytes:
    """A generic address: a byte in memory (5.2.3.2)."""
    return struct.pack("<BBBBQ", SYSTEM_MEMORY, 8, 0, BYTE_ACCESS, address)


def dsdt(placed: Placed) -> bytes:
    """The platform's devices:

    DefinitionBlock ("", "DSDT", 2, "PFMON ", "PLATFORM", 1) {
        Name (_S5, Package () {5, 0})
        Scope (_SB) {
            Device (COM0) {
                Name (_HID, EisaId ("PNP0501"))
                Name (_UID, 0)
                Name (_CRS, ResourceTemplate () {
                    Memory32Fixed (ReadWrite, UART, 8)
                    Interrupt (ResourceConsumer, Edge, ActiveHigh, Exclusive) {LINE}
                })
            }
        }
    }
    """
    port = aml.device(
        b"COM0",
        aml.named(b"_HID", aml.eisa_id("PNP0501")),
        aml.named(b"_UID", aml.integer(0)),
        aml.named(b"_CRS", aml.resources(placed.uart, placed.uart_bytes, placed.line)),
    )
    off = aml.named(b"_S5_", aml.package(aml.integer(power_switch.OFF), aml.integer(0)))
    return table(b"DSDT", 2, off + aml.scope(aml.ROOT + b"_SB_", port))


def fadt(description: int, power: int) -> bytes:
    """The fixed description: where the DSDT is, and the registers of sleep (5.2.9)."""
    body = bytearray(FADT_BYTES - HEADER.size)

    def put(place: int, content: bytes) -> None:
        body[place - HEADER.size : place - HEADER.size + len(content)] = content

    put(DSDT, struct.pack("<I", description))
    put(FLAGS, struct.pack("<I", HARDWARE_REDUCED | WBINVD))
    put(MINOR, bytes((FADT_MINOR,)))
    put(X_DSDT, struct.pack("<Q", description))
    put(SLEEP_CONTROL, register(power + power_switch.CONTROL))
    put(SLEEP_STATUS, register(power + power_switch.STATUS))
    return table(b"FACP", FADT_REVISION, bytes(body))


def madt(placed: Placed, processors: int) -> bytes:
    """The interrupt controllers: a local SAPIC of each processor, whose id is its number and whose eid is 0, and the
    I/O SAPIC (5.2.12)."""
    body = struct.pack("<II", placed.interrupt_block, 0)
    for number in range(processors):
        uid = b"%d\0" % number
        length = 16 + len(uid)
        body += struct.pack("<BBBBB3xII", LOCAL_SAPIC, length, number, number, 0, ENABLED, number) + uid
    body += struct.pack("<BBBxIQ", IO_SAPIC, 16, 0, 0, placed.iosapic)
    return table(b"APIC", 3, body)


def place_tables(area: TableArea, placed: Placed, processors: int) -> int:
    """Put all tables into an area. Return the address of the root pointer (5.2.5.3)."""
    description = area.place(dsdt(placed))
    fixed = area.place(fadt(description, placed.power))
    controllers = area.place(madt(placed, processors))
    extended = area.place(table(b"XSDT", 1, struct.pack("<QQ", fixed, controllers)))
    pointer = struct.pack("<8sB6sBIIQB3x", b"RSD PTR ", 0, OEM, 2, 0, 36, extended, 0)
    return area.place(with_checksum(with_checksum(pointer[:20], 8) + pointer[20:], 32))
