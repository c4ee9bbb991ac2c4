"""Symbols of kernels: System.map, and the tables for /proc/kallsyms in an image (PFMON_TEST_PROGRAMS, kernel)."""

import lzma
from pathlib import Path

import pytest
from grids import each
from shared_programs import folder, needs

from pfmon.errors import PfmonError
from pfmon.program import system_image
from pfmon.program.kernel_symbols import KernelSymbol, has_symbols, kallsyms, symbol_file, system_map
from pfmon.program.symbols import SymbolTable

KERNELS = folder("kernel")
MAP = b"a000000100000010 T _text\na000000100000040 t helper\na000000100008000 D table\nfffffffffff00000 A area\n"


def test_system_map_becomes_a_symbol_table() -> None:
    table = SymbolTable(symbol_file(system_map(MAP, "map")))
    assert [(one.name, one.kind, one.size) for one in table.symbols()] == [
        ("_text", "function", 0),
        ("helper", "function", 0),
        ("table", "object", 0),
    ]
    location = table.nearest(0xA000000100000050)
    assert str(location) == "helper+0x10"


@each("text", [b"", b"a0 T", b"zz T name\n", b"a0 TT name\n", b"1" * 17 + b" T name\n", b"a0 T name [m] more\n"])
def test_file_that_is_no_system_map_is_refused(text: bytes) -> None:
    with pytest.raises(PfmonError, match=r"^--sysmap-file=map: "):
        system_map(text, "map")


@needs("kernel")
@each("name", ["plain", "perf", "ssc.stripped", "smp.stripped"])
def test_kallsyms_of_an_image_are_those_of_its_system_map(name: str, tmp_path: Path) -> None:
    """All functions of the map are in the table: a kernel without KALLSYMS_ALL has names of code."""
    image = system_image.load(str(KERNELS / f"vmlinux-{name}.xz")).image
    known = system_map(lzma.decompress((KERNELS / f"System.map-{name.partition(chr(46))[0]}.xz").read_bytes()), "map")
    found = kallsyms(image.data, image.elf)
    assert set(found) <= set(known)
    assert {one for one in known if one.letter == "T" and one.name.startswith("sys_")} <= set(found)
    assert has_symbols(image.data) == ("stripped" not in name)


@needs("kernel")
def test_damaged_tables_are_none(tmp_path: Path) -> None:
    image = system_image.load(str(KERNELS / "vmlinux-ssc.stripped.xz")).image
    found: list[KernelSymbol] = kallsyms(image.data, image.elf)
    number = len(found).to_bytes(4, "little")
    place = image.data.index(found[-1].address.to_bytes(8, "little") + number) + 8
    for damaged in (b"\0\0\0\0", b"\xff\xff\xff\x7f", (len(found) - 1).to_bytes(4, "little")):
        content = image.data[:place] + damaged + image.data[place + 4 :]
        assert kallsyms(content, image.elf) == []
    shortened = image.data[: place + 5000] + bytes(len(image.data) - place - 5000)
    assert kallsyms(shortened, image.elf) == []
