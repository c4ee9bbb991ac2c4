"""An executable with C++ names and DWARF, made here: `main` calls `area` ten times; a line of a header is inlined."""

from pathlib import Path

from ia64_program import EXIT, TEXT, debug_lines, symbols, write_program

AREA = TEXT + 0x80
MANGLED, NAME = "_ZNK8geometry9RectangleIiE4areaEv", "geometry::Rectangle<int>::area() const"
MAIN_FILE, HEADER = "/src/app/main.cpp", "/src/include/shape.h"
CODE = [
    "mov.i ar.lc=9",  # main.cpp:3
    "loop:",
    "br.call.sptk.few b0=area",  # main.cpp:4
    "adds r8=1,r8",  # shape.h:20, inlined
    "br.cloop.sptk.few loop",  # main.cpp:4
    *EXIT,  # main.cpp:6
    "area:",
    "adds r9=1,r9",  # shape.h:11
    "br.ret.sptk.few b0",  # shape.h:12
]
ROWS = [
    [
        *((TEXT, 1, 3), (TEXT + 0x10, 1, 4), (TEXT + 0x20, 2, 20), (TEXT + 0x30, 1, 4), (TEXT + 0x40, 1, 6)),
        *((AREA, 2, 11), (AREA + 0x10, 2, 12), (AREA + 0x20, 0, 0)),
    ]
]
"""Which line each bundle comes from: address, number of the file, line."""


def write_cpp_program(path: Path, dwarf: bool = True) -> Path:
    """The executable; without ``dwarf`` it has names only."""
    functions = symbols({"main": (TEXT, 0x80), MANGLED: (AREA, 0x20)})
    return write_program(path, CODE, debug=functions | (debug_lines([MAIN_FILE, HEADER], ROWS) if dwarf else {}))


def line(address: int) -> tuple[str, int]:
    """File and line of an instruction (bundle | slot)."""
    _, file, number = next(row for row in reversed(ROWS[0]) if row[0] <= address)
    return (MAIN_FILE, HEADER)[file - 1], number


def function(address: int) -> tuple[str, int]:
    """Name and address of the function that an instruction is in."""
    return (NAME, AREA) if address >= AREA else ("main", TEXT)
