"""The address of a CPython interpreter's evaluation loop, which executes the bytecode of Python functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pfmon.program.image import Image, Program
from pfmon.program.mapped_files import MappedFile
from pfmon.program.symbols import SymbolTable

LOOP, VERSION = "_PyEval_EvalFrameDefault", "Py_Version"
"""The function (Python/ceval.c), and a word with the version as PY_VERSION_HEX has it (cpython/pylifecycle.h)."""
LIBRARY = "/libpython3."
VERSIONS = (311, 312, 313)
"""Versions whose frames the engine x86_64 reads (interpreter/python_code.c)."""


class EvaluationLoop(NamedTuple):
    """The code of the loop: addresses [start, end), of a version such as 311."""

    version: int
    start: int
    end: int


def find_loop(program: Program, shared: Callable[[], Sequence[MappedFile]]) -> EvaluationLoop | None:
    """Return the loop of the program, or of the library that has its interpreter, as ``shared`` says where it will be
    mapped. None: it is no CPython, or of another version."""
    if LOOP.encode() in program.image.data and (found := _loop_of(program.image)):
        return found
    if LIBRARY[1:].encode() not in program.image.data:
        return None
    from pfmon.program.loaded_objects import LoadedObjects

    for one in LoadedObjects(program, shared).everything():
        if LIBRARY in one.path and one.image and (found := _loop_of(one.image)):
            return found
    return None


def _loop_of(image: Image) -> EvaluationLoop | None:
    table = SymbolTable(image.data, image.bias, image.end)
    loop, version = table.find(LOOP), table.find(VERSION)
    if loop is None or version is None or loop.size == 0:
        return None
    number = _word_at(image, version.address)
    found = 100 * (number >> 24) + (number >> 16 & 0xFF)
    return EvaluationLoop(found, loop.address, loop.address + loop.size) if found in VERSIONS else None


def _word_at(image: Image, address: int) -> int:
    """Return the 4 bytes of the file at an address; 0: it has none there."""
    segment = image.segment(address)
    if segment is None:
        return 0
    offset = segment.offset + address - image.bias - segment.address
    return int.from_bytes(image.data[offset : offset + 4], "little")
