"""The table of a sweep as a Parquet file, by pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from pfmon.atomic_write import WholeFile


def arrow() -> Any | None:
    """Return pyarrow; None: it is not installed."""
    try:
        return import_module("pyarrow")
    except ImportError:
        return None


def write_table(library: Any, path: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a table atomically by pyarrow: integers as int64, other numbers as double. OSError: it cannot be written;
    an existing file stays."""
    parquet = import_module("pyarrow.parquet")
    made = {name: _array(library, [row[place] for row in rows]) for place, name in enumerate(columns)}
    whole = WholeFile(path)
    try:
        parquet.write_table(library.table(made), whole.file)
    except BaseException:
        whole.abandon()
        raise
    whole.finish()


def _array(library: Any, values: Sequence[object]) -> Any:
    there = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in there):
        return library.array([None if value is None else str(value) for value in values], library.string())
    if any(isinstance(value, float) for value in there):
        return library.array(values, library.float64())
    if there and all(isinstance(value, bool) for value in there):
        return library.array(values, library.bool_())
    return library.array(values, library.int64())
