"""ACPI's tables, read by the layouts of the ACPI specification (6.5)."""

import struct

import pytest

from pfmon.engine.ia64.system.firmware import aml
from pfmon.engine.ia64.system.firmware.acpi_tables import Placed, place_tables
from pfmon.engine.ia64.system.firmware.table_area import TableArea

BASE = 0x1FF2_0000
PLACED = Placed(0xFEE0_0000, 0xFEC0_0000, 0xFED0_0000, 0xF000_0000, 8, 20)


class Tables:
    """All tables of a platform with so many processors, found from the root pointer on."""

    def __init__(self, processors: int = 1) -> None:
        area = TableArea(BASE)
        self.root = place_tables(area, PLACED, processors)
        self.content = area.content
        self.pointer = self.at(self.root, 36)
        extended = self.table(int.from_bytes(self.pointer[24:32], "little"))
        places = struct.unpack(f"<{(len(extended) - 36) // 8}Q", extended[36:])
        self.by_name = {self.table(place)[:4]: self.table(place) for place in places}
        self.by_name[b"XSDT"] = extended
        self.by_name[b"DSDT"] = self.table(int.from_bytes(self.by_name[b"FACP"][140:148], "little"))

    def at(self, address: int, length: int) -> bytes:
        return self.content[address - BASE : address - BASE + length]

    def table(self, address: int) -> bytes:
        return self.at(address, int.from_bytes(self.at(address + 4, 4), "little"))


def test_root_pointer_has_both_checksums() -> None:
    """5.2.5.3: of the first 20 bytes, and of all 36."""
    pointer = Tables().pointer
    assert pointer[:8] == b"RSD PTR "
    assert (pointer[15], int.from_bytes(pointer[20:24], "little")) == (2, 36)
    assert sum(pointer[:20]) % 256 == sum(pointer) % 256 == 0


def test_every_table_sums_to_zero() -> None:
    tables = Tables(3)
    assert set(tables.by_name) == {b"XSDT", b"FACP", b"APIC", b"DSDT"}
    for table in tables.by_name.values():
        assert sum(table) % 256 == 0
        assert table[10:16] == b"PFMON "


def test_fixed_description_has_sleep_registers_and_no_other_hardware() -> None:
    """5.2.9: DSDT at 40, flags at 112, X_DSDT at 140, sleep control and status at 244 and 256; 276 bytes in all."""
    table = Tables().by_name[b"FACP"]
    assert len(table) == 276
    assert int.from_bytes(table[112:116], "little") & 1 << 20
    assert table[40:44] + bytes(4) == table[140:148]
    assert struct.unpack("<BBBBQ", table[244:256]) == (0, 8, 0, 1, 0xFED0_0000)
    assert struct.unpack("<BBBBQ", table[256:268]) == (0, 8, 0, 1, 0xFED0_0001)


@pytest.mark.parametrize("processors", [1, 4])
def test_each_processor_has_a_local_sapic(processors: int) -> None:
    """5.2.12.10: type 7, length, processor id, id, eid, flags with enabled, UID as a number and as a text."""
    body = Tables(processors).by_name[b"APIC"][44:]
    found = []
    while body:
        kind, length = body[:2]
        found.append(body[:length])
        body = body[length:]
        assert kind in (6, 7)
    local = [one for one in found if one[0] == 7]
    assert [(one[2], one[3], one[4]) for one in local] == [(number, number, 0) for number in range(processors)]
    assert [int.from_bytes(one[8:12], "little") for one in local] == [1] * processors
    assert [one[16:] for one in local] == [b"%d\0" % number for number in range(processors)]
    assert [struct.unpack("<BBBxIQ", one) for one in found if one[0] == 6] == [(6, 16, 0, 0, 0xFEC0_0000)]


def test_interrupt_block_is_the_local_address() -> None:
    assert Tables().by_name[b"APIC"][36:40] == (0xFEE0_0000).to_bytes(4, "little")


def test_description_is_that_of_its_source() -> None:
    """What iasl makes of the source in the docstring of dsdt(), with its addresses: objects by 20.2.5, resources by
    6.4.3.4 (Memory32Fixed) and 6.4.3.6 (Interrupt)."""
    name_s5 = bytes.fromhex("08 5f53355f 12 05 02 0a05 00")
    memory = bytes.fromhex("86 0900 01 000000f0 08000000")
    line = bytes.fromhex("89 0600 03 01 14000000")
    template = bytes.fromhex("11 1a 0a 17") + memory + line + bytes.fromhex("79 00")
    device = bytes.fromhex("434f4d30 08 5f484944 0c 41d00501 08 5f554944 00 08 5f435253") + template
    port = bytes.fromhex("5b82") + bytes((len(device) + 1,)) + device
    scope = bytes((0x10, len(b"\\_SB_" + port) + 1))
    assert Tables().by_name[b"DSDT"][36:] == name_s5 + scope + b"\\_SB_" + port


def test_lengths_of_objects_count_themselves() -> None:
    """20.2.4: up to 63 in one byte, else the low four bits and eight more."""
    assert aml.sized(b"\x10", bytes(62))[1:2] == b"\x3f"
    assert aml.sized(b"\x10", bytes(63))[1:3] == bytes((0x41, 4))
    assert aml.eisa_id("PNP0501") == bytes.fromhex("0c41d00501")


@pytest.mark.parametrize(
    ("value", "coded"), [(0, "00"), (1, "01"), (5, "0a05"), (0x1234, "0b3412"), (1 << 16, "0c00000100")]
)
def test_constants_are_as_short_as_they_can_be(value: int, coded: str) -> None:
    assert aml.integer(value) == bytes.fromhex(coded)
