"""The decoder's tables as a file, so that a run need not make them: written when pfmon is built (setup.py).

A snapshot belongs to the extension file, which has the rows and the handlers, and to the sources that make tables of
rows. One that does not fit is as good as none: the tables are made anew, which gives the same and takes
longer.
"""

from __future__ import annotations

import os
import sys
from os.path import dirname, join

from pfmon.compiled import FILE as COMPILED

HERE = dirname(__file__)
FILE = join(HERE, "tables.bin")
MAGIC = b"pfmon decoder tables 3\n"

# What tables are made with.
SOURCES = (
    "choices.pyi",
    "decision_tree.py",
    "formats.py",
    "instruction.py",
    "instruction_set.py",
    "operand_uses.py",
    "operands.py",
    "operations.csv",
    "unit_modules.py",
)

BUILD_ID = b"GNU\0"  # the name of the note, in an ELF file's first page, that holds the linker's hash of all
PAGE = 4096


def _library(path: str) -> bytes:
    """What tells one build of an extension file from another."""
    with open(path, "rb") as file:
        page = file.read(PAGE)
        return page if BUILD_ID in page else page + file.read()


def identity(row_size: int) -> bytes:
    """Of the extension file, and of the sources that make tables of rows. ``row_size``: bytes of the struct Row."""
    parts = [MAGIC, row_size.to_bytes(4, "little"), _library(COMPILED)]
    for name in SOURCES:
        with open(join(HERE, name), "rb") as file:
            parts.append(file.read())
    return b"".join(parts)


def stored(row_size: int, path: str = FILE) -> bytearray | None:
    """The tables in a snapshot, or None when there is none that fits."""
    mark = identity(row_size)
    try:
        with open(path, "rb", buffering=0) as file:
            if file.read(len(mark)) != mark:
                return None
            tables = bytearray(os.fstat(file.fileno()).st_size - len(mark))
            return tables if file.readinto(tables) == len(tables) else None
    except OSError:
        return None


def table_bytes(row_size: int) -> bytearray:
    """The decoder's tables (tables.pxd)."""
    found = stored(row_size)
    if found is None:
        from pfmon.engine.ia64.encodings.tables import computed

        found = bytearray(computed())
    return found


def write(path: str) -> None:
    """Make a snapshot."""
    from pfmon.engine.ia64.encodings.tables import ROW_SIZE, computed

    with open(path, "wb") as file:
        file.write(identity(ROW_SIZE) + computed())


if __name__ == "__main__":
    write(sys.argv[1])
