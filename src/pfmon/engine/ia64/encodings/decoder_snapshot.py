"""The decoder's tables as a snapshot (build_snapshot.py). Without a valid one they are computed anew: the
same tables, but more slowly."""

from __future__ import annotations

from os.path import basename, dirname, join

from pfmon import build_snapshot
from pfmon.debug_log import log
from pfmon.engine.ia64.encodings import _encodings

HERE = dirname(__file__)
PACKAGE = dirname(dirname(dirname(HERE)))
FILE = join(HERE, "tables.bin")

EXTENSIONS = (
    "engine/ia64/_ia64",
    "engine/ia64/encodings/_encodings",
    "engine/ia64/encodings/decoder_tables",
    "stream/_stream",
)
"""The modules with the rows, the handlers and the code that computes tables."""

SOURCES = (
    "__init__.py",
    "csv_tables.py",
    "engine/__init__.py",
    "engine/ia64/__init__.py",
    "engine/ia64/core/__init__.py",
    "engine/ia64/core/cpuid.py",
    "engine/ia64/core/decoded_blocks.py",
    "engine/ia64/encodings/__init__.py",
    "engine/ia64/encodings/decision_tree.py",
    "engine/ia64/encodings/encoding_rows.py",
    "engine/ia64/encodings/formats.py",
    "engine/ia64/encodings/instruction.py",
    "engine/ia64/encodings/instruction_set.py",
    "engine/ia64/encodings/operand_uses.py",
    "engine/ia64/encodings/operands.py",
    "engine/ia64/encodings/operations.csv",
    "engine/ia64/encodings/predicated_handlers.py",
    "engine/ia64/encodings/templates.py",
    "errors.py",
    "lazy_map.py",
    "stream/__init__.py",
    "stream/block_records.py",
)
"""All that is imported or read while the tables are computed (tests/engine/test_ia64_tables.py observes it)."""

SUFFIX = basename(_encodings.__file__).removeprefix("_encodings")
INPUTS = (*(join(PACKAGE, name + SUFFIX) for name in EXTENSIONS), *(join(PACKAGE, name) for name in SOURCES))


def table_bytes(path: str = FILE) -> bytearray:
    """The decoder's tables (table_layout.pxd)."""
    found = build_snapshot.load(path, INPUTS)
    if found is not None:
        log("cache", "%s: the decoder's tables are read from it", path)
        return found
    log("cache", "%s: missing or of another build; the decoder's tables are computed", path)
    from pfmon.engine.ia64.encodings.decoder_tables import computed

    return bytearray(computed())


def write(path: str) -> None:
    """Make the snapshot. OSError: it cannot be written."""
    from pfmon.engine.ia64.encodings.decoder_tables import computed

    build_snapshot.write(path, INPUTS, computed())
