"""The decoder's tables as a snapshot (build_snapshot.py). Without a valid one they are computed anew: the
same tables, but more slowly."""

from __future__ import annotations

from os.path import basename, dirname, join

from pfmon import build_snapshot
from pfmon.debug_log import log
from pfmon.isa.ia64 import _encodings

HERE = dirname(__file__)
PACKAGE = dirname(dirname(dirname(HERE)))
FILE = join(HERE, "tables.bin")

EXTENSIONS = (
    "engine/ia64/_ia64",
    "isa/ia64/_encodings",
    "isa/ia64/decode/decoder_tables",
    "stream/_stream",
)
"""The modules with the rows, the handlers and the code that computes tables."""

SOURCES = (
    "__init__.py",
    "csv_tables.py",
    "engine/__init__.py",
    "engine/guest_memory.py",
    "engine/ia64/__init__.py",
    "engine/ia64/registers/__init__.py",
    "engine/ia64/registers/cpuid.py",
    "engine/ia64/translation/__init__.py",
    "engine/ia64/translation/decoded_blocks.py",
    "errors.py",
    "isa/__init__.py",
    "isa/ia64/__init__.py",
    "isa/ia64/bundle.py",
    "isa/ia64/decode/__init__.py",
    "isa/ia64/decode/decision_tree.py",
    "isa/ia64/encoding_rows.py",
    "isa/ia64/formats.py",
    "isa/ia64/instruction.py",
    "isa/ia64/instruction_set.py",
    "isa/ia64/operand_uses.py",
    "isa/ia64/operands.py",
    "isa/ia64/operations.csv",
    "lazy_map.py",
    "stream/__init__.py",
    "stream/recording/__init__.py",
    "stream/recording/block_records.py",
)
"""All that is imported or read while the tables are computed (test_ia64_tables.py observes it)."""

SUFFIX = basename(_encodings.__file__).removeprefix("_encodings")
INPUTS = (*(join(PACKAGE, name + SUFFIX) for name in EXTENSIONS), *(join(PACKAGE, name) for name in SOURCES))


def table_bytes(path: str = FILE) -> bytearray:
    """The decoder's tables (table_layout.pxd)."""
    found = build_snapshot.load(path, INPUTS)
    if found is not None:
        log("cache", "%s: the decoder's tables are read from it", path)
        return found
    log("cache", "%s: missing or of another build; the decoder's tables are computed", path)
    from pfmon.isa.ia64.decode.decoder_tables import computed

    return bytearray(computed())


def write(path: str) -> None:
    """Make the snapshot. OSError: it cannot be written."""
    from pfmon.isa.ia64.decode.decoder_tables import computed

    build_snapshot.write(path, INPUTS, computed())
