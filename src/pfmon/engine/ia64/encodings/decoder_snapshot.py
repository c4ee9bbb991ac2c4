"""The decoder's tables as a file, written when pfmon is built (setup.py), so that a run does not compute them.

A snapshot is valid for one build of the engine, with its rows and handlers, and one state of the sources that compute
tables from rows. Without a valid one the tables are computed anew: the same, but slower.
"""

from __future__ import annotations

import os
from os.path import basename, dirname, join

from pfmon.debug_log import log
from pfmon.engine.ia64.encodings import _encodings

HERE = dirname(__file__)
FILE = join(HERE, "tables.bin")
ENGINE = join(dirname(HERE), basename(_encodings.__file__).replace("_encodings", "_ia64"))
"""The extension file of the handlers."""
MAGIC = b"pfmon decoder tables 3\n"

# Sources that compute the tables.
SOURCES = (
    "decision_tree.py",
    "formats.py",
    "instruction.py",
    "instruction_set.py",
    "operand_uses.py",
    "operands.py",
    "operations.csv",
)

BUILD_ID = b"GNU\0"  # name of the ELF note, in the file's first page, with the linker's hash
PAGE = 4096


def _library(path: str) -> bytes:
    """The bytes that identify one build of an extension file."""
    with open(path, "rb") as file:
        page = file.read(PAGE)
        return page if BUILD_ID in page else page + file.read()


def identity(row_size: int) -> bytes:
    """The identity of the extension file and of the sources that compute tables. ``row_size``: bytes of struct Row."""
    parts = [MAGIC, row_size.to_bytes(4, "little"), _library(ENGINE)]
    for name in SOURCES:
        with open(join(HERE, name), "rb") as file:
            parts.append(file.read())
    return b"".join(parts)


def stored(row_size: int, path: str = FILE) -> bytearray | None:
    """The tables of a valid snapshot, or None."""
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
    """The decoder's tables (decoder_tables.pxd)."""
    found = stored(row_size)
    if found is not None:
        log("cache", "%s: the decoder's tables are read from it", FILE)
    else:
        log("cache", "%s: missing or of another build; the decoder's tables are computed", FILE)
        from pfmon.engine.ia64.encodings.decoder_tables import computed

        found = bytearray(computed())
    return found


def write(path: str) -> None:
    """Make a snapshot."""
    from pfmon.engine.ia64.encodings.decoder_tables import ROW_SIZE, computed

    with open(path, "wb") as file:
        file.write(identity(ROW_SIZE) + computed())
