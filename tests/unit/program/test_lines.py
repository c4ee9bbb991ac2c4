"""The line that an instruction comes from, by line tables that the test writes."""

from pathlib import Path

import pytest
from cpp_program import AREA, CODE, HEADER, MAIN_FILE, ROWS, line, write_cpp_program
from ia64_program import TEXT, debug_lines, write_program

from pfmon.program.line_tables import LineTables

CODE_END = AREA + 0x20


@pytest.mark.parametrize("bias", [0, 0x2000])
def test_every_slot_of_a_bundle_has_its_line(tmp_path: Path, bias: int) -> None:
    lines = LineTables(write_cpp_program(tmp_path / "shapes").read_bytes(), bias)
    for bundle in range(TEXT, CODE_END, 16):
        for slot in range(3):
            found = lines.at(bundle + bias | slot)
            assert found is not None and (found.file, found.line) == line(bundle)


def test_outside_of_the_tables_there_is_no_line(tmp_path: Path) -> None:
    last = (CODE_END, 0, 0)
    # Two sequences, the later code first, and a hole between them.
    rows = [[(AREA, 2, 11), last], [*ROWS[0][:3], (TEXT + 0x30, 0, 0)]]
    program = write_program(tmp_path / "holes", CODE, debug=debug_lines([MAIN_FILE, HEADER], rows))
    lines = LineTables(program.read_bytes())
    at = {address: lines.at(address) for address in range(TEXT - 16, CODE_END + 16, 16)}
    assert {address: found and found.line for address, found in at.items() if address < TEXT + 0x50} == {
        TEXT - 16: None,
        TEXT: 3,
        TEXT + 0x10: 4,
        TEXT + 0x20: 20,
        TEXT + 0x30: None,
        TEXT + 0x40: None,
    }
    assert at[AREA - 16] is None and at[CODE_END] is None
    found = at[CODE_END - 16]
    assert found is not None and (found.file, found.line) == (HEADER, 11)


def test_an_instruction_may_have_another_line_than_the_rest_of_its_bundle(tmp_path: Path) -> None:
    rows = [[(TEXT, 1, 1), (TEXT + 1, 1, 2), (TEXT + 0x10, 1, 3), (TEXT + 0x20, 0, 0)]]
    program = write_program(tmp_path / "slots", CODE, debug=debug_lines([MAIN_FILE], rows))
    lines = LineTables(program.read_bytes())
    found = [lines.at(TEXT + offset) for offset in (0, 1, 2, 0x10, 0x12)]
    assert [one and one.line for one in found] == [1, 2, 2, 3, 3]


def test_without_dwarf_there_are_no_lines() -> None:
    assert LineTables(b"no ELF file").at(TEXT) is None
    path = Path(__file__).parents[3] / "examples" / "ia64" / "fib"
    assert LineTables(path.read_bytes()).at(0x4000000000000100) is None
