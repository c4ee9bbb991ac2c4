"""Ranges by name, against what binutils says of the examples' symbols."""

import pytest
from guests import EXAMPLES

from pfmon.errors import PfmonError
from pfmon.program import image
from pfmon.program.image import Program
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.session.run.symbolic_ranges import resolver

# From `ia64-linux-gnu-nm -S examples/ia64/noploop`.
NOPLOOP = (0x4000000000000280, 0x40000000000002F0)
HEAP = (0x6000000000001420, 0x6000000003001420)


@pytest.fixture
def program() -> Program:
    return image.load(str(EXAMPLES / "ia64" / "noploop"))


def test_function_is_its_bundles(program: Program) -> None:
    assert resolver(LoadedObjects(program).own)("noploop") == NOPLOOP


def test_variable_is_its_bytes(program: Program) -> None:
    assert resolver(LoadedObjects(program).own, "data")("heap") == HEAP


def test_offset_starts_within_the_symbol(program: Program) -> None:
    assert resolver(LoadedObjects(program).own)("noploop+0x20") == (NOPLOOP[0] + 0x20, NOPLOOP[1])
    assert resolver(LoadedObjects(program).own, "data")("heap+4096") == (HEAP[0] + 4096, HEAP[1])


def test_symbol_without_size_reaches_to_the_next_one(program: Program) -> None:
    # __bss_start has no size and lies at heap_used; heap is the next symbol.
    assert resolver(LoadedObjects(program).own, "data")("__bss_start") == (0x6000000000001410, 0x6000000000001420)


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("code", "noplop", ["unknown code symbol", "noploop"]),
        ("code", "heap", ["heap is data", "--irange"]),
        ("data", "main", ["main is code", "--drange"]),
        ("code", "noploop+0x70", ["112 bytes only"]),
        ("code", "noploop+x", ["offset"]),
        ("data", "", ["unknown data symbol"]),
    ],
)
def test_wrong_name_is_explained(program: Program, kind: str, text: str, words: list[str]) -> None:
    with pytest.raises(PfmonError) as error:
        resolver(LoadedObjects(program).own, kind)(text)
    assert all(word in str(error.value) for word in words)


def test_stripped_program_takes_symbols_from_another_file(program: Program) -> None:
    headers = bytearray(program.image.data)
    headers[60:62] = bytes(2)  # e_shnum: no sections, no symbols
    stripped = program._replace(image=program.image._replace(data=bytes(headers)))
    with pytest.raises(PfmonError, match="stripped"):
        resolver(LoadedObjects(stripped).own)("noploop")
    named = stripped._replace(image=stripped.image._replace(symbol_file=program.image.data))
    assert resolver(LoadedObjects(named).own)("noploop") == NOPLOOP
