"""Symbol look-up, against pyelftools as an independent reader."""

import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from grids import each

from pfmon.program import image
from pfmon.program.loaded_objects import LoadedObjects, place_of
from pfmon.program.symbols import SymbolTable

EXAMPLES = Path(__file__).parents[3] / "examples"


def functions(path: Path) -> dict[str, tuple[int, int]]:
    """Address and size of every defined function, as pyelftools reads them; where symbols stand for descriptors, the
    address in the descriptor."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        descriptors = elf.get_section_by_name(".opd")

        def code(address: int) -> int:
            if descriptors is None:
                return address
            at = address - descriptors["sh_addr"]
            return int.from_bytes(descriptors.data()[at : at + 8], "little" if elf.little_endian else "big")

        symbols = elf.get_section_by_name(".symtab").iter_symbols()
        return {
            s.name: (code(s["st_value"]), s["st_size"])
            for s in symbols
            if s["st_info"]["type"] == "STT_FUNC" and s["st_shndx"] != "SHN_UNDEF"
        }


@each("architecture", ["ia64", "x86_64", "i386", "ppc64"])
@each("name", ["fib", "sort"])
def test_functions_are_found_by_name_in_every_class_and_byte_order(architecture: str, name: str) -> None:
    path = EXAMPLES / architecture / name
    table = SymbolTable(path.read_bytes(), bias=0x1000)
    expected = functions(path)
    assert expected
    for function, (address, size) in expected.items():
        symbol = table.find(function)
        assert symbol is not None
        assert (symbol.address, symbol.size, symbol.kind) == (address + 0x1000, size, "function")


def test_nearest_symbol_is_the_function_that_contains_the_address() -> None:
    path = EXAMPLES / "ia64" / "sort"
    table = SymbolTable(path.read_bytes())
    for function, (address, size) in functions(path).items():
        for offset in {0, size // 2, size - 1} if size else ():
            location = table.nearest(address + offset)
            assert location is not None
            assert (location.symbol.address, location.offset) == (address, offset)
            assert str(location) == (f"{location.symbol.name}+{offset:#x}" if offset else location.symbol.name)
            assert location.symbol.name == function or functions(path)[location.symbol.name][0] == address


@pytest.mark.parametrize("architecture", ["ia64", "x86_64", "i386", "ppc64"])
def test_nothing_behind_a_file_is_named_by_it(architecture: str) -> None:
    """The last symbols, _end among them, are labels without a size, which reach to the next symbol."""
    program = image.load(str(EXAMPLES / architecture / "sort"))
    objects = LoadedObjects(program)
    table = objects.own[0].table
    last = table.symbols()[-1]
    assert last.size == 0 and last.address <= program.image.end
    assert SymbolTable(program.image.data, program.image.bias).nearest(program.image.end + 4096) is not None
    for address in (program.image.end, program.image.end + 4096, (1 << 64) - 16):
        assert table.nearest(address) is None
        assert place_of(objects, address) == ""
    assert place_of(objects, program.image.entry) == str(table.nearest(program.image.entry)) != "None"


def test_address_outside_every_symbol_has_none() -> None:
    table = SymbolTable((EXAMPLES / "ia64" / "sort").read_bytes())
    assert table.nearest(0x10) is None
    assert table.find("no such symbol") is None
    assert SymbolTable(b"not ELF").nearest(0) is None


def test_functions_of_powerpc_objects_are_where_relocations_put_their_descriptors() -> None:
    """Descriptors at 0x20000 and 0x20018, whose code is at 0x1000 and, without a relocation, 0x2000."""
    opd = struct.pack(">6Q", 0, 0, 0, 0x2000, 0, 0)
    relocations = struct.pack(">QQq", 0x20000, 22, 0x1000) + struct.pack(">QQq", 0x20008, 38, 0x9999)
    names = b"\0first\0second\0"
    entries = [(1, 0x20000), (7, 0x20018)]
    symbols = bytes(24) + b"".join(struct.pack(">IBBHQQ", name, 0x12, 0, 1, at, 0x40) for name, at in entries)
    texts = b"\0.opd\0.rela.dyn\0.symtab\0.strtab\0.shstrtab\0"
    sections = [(".opd", 1, 0x20000, opd, 0), (".rela.dyn", 4, 0, relocations, 0), (".symtab", 2, 0, symbols, 4)]
    sections += [(".strtab", 3, 0, names, 0), (".shstrtab", 3, 0, texts, 0)]
    content, table = b"", bytes(64)
    for name, kind, address, held, link in sections:
        header = (texts.index(name.encode()), kind, 0, address, 64 + len(content), len(held), link, 0, 1, 0)
        table += struct.pack(">IIQQQQIIQQ", *header)
        content += held
    ident = b"\x7fELF\x02\x02\x01".ljust(16, b"\0")
    head = ident + struct.pack(">HHIQQQIHHHHHH", 3, 21, 1, 0, 0, 64 + len(content), 1, 64, 56, 0, 64, 6, 5)
    found = SymbolTable(head + content + table, bias=0x40000000)
    places = {name: symbol.address for name in ("first", "second") if (symbol := found.find(name))}
    assert places == {"first": 0x40001000, "second": 0x40002000}
