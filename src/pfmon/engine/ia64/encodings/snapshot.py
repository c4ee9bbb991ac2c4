"""The decoder's tables as a file, so that a run need not make them: written when pfmon is built (setup.py).

A snapshot belongs to the calls of row(), and to the sources that make tables of them. One that does not fit is as
good as none: the tables are made anew, which gives the same and takes longer.
"""

from __future__ import annotations

import sys
from marshal import dumps
from os.path import dirname, join
from zlib import crc32

from pfmon.engine.ia64.encodings import instruction_set  # noqa: F401  # fills CALLS
from pfmon.engine.ia64.encodings.rows import CALLS

HERE = dirname(__file__)
FILE = join(HERE, "tables.bin")
MAGIC = b"pfmon decoder tables 1\n"

# What tables are made with.
SOURCES = (
    "choices.pyi",
    "decision_tree.py",
    "formats.py",
    "instruction.py",
    "operand_uses.py",
    "operands.py",
    "operations.csv",
)

STABLE = 2  # marshal's last version that writes equal objects as equal bytes, whoever else refers to them


def fingerprint(row_size: int) -> bytes:
    """Of the calls of row(), and of the sources that make tables of them. ``row_size``: bytes of the struct Row."""
    total = crc32(dumps(CALLS, STABLE))
    for name in SOURCES:
        with open(join(HERE, name), "rb") as file:
            total = crc32(file.read(), total)
    return MAGIC + b"".join(number.to_bytes(4, "little") for number in (total, len(CALLS), row_size, 0))


def stored(row_size: int, path: str = FILE) -> bytes | None:
    """The tables in a snapshot, or None when there is none that fits."""
    mark = fingerprint(row_size)
    try:
        with open(path, "rb") as file:
            return file.read() if file.read(len(mark)) == mark else None
    except OSError:
        return None


def table_bytes(row_size: int) -> bytes:
    """The decoder's tables (tables.pxd)."""
    found = stored(row_size)
    if found is None:
        from pfmon.engine.ia64.encodings.tables import computed

        found = computed()
    return found


def write(path: str) -> None:
    """Make a snapshot."""
    from pfmon.engine.ia64.encodings.tables import ROW_SIZE, computed

    with open(path, "wb") as file:
        file.write(fingerprint(ROW_SIZE) + computed())


if __name__ == "__main__":
    write(sys.argv[1])
