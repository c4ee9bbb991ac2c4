"""parquet: a row for each sample with the columns of csv, by pyarrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pfmon.errors import PfmonError
from pfmon.report.exports.sample_rows import SampleRows
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.exports.sample_export import ExportSubject
    from pfmon.report.exports.sample_rows import Cell


GROUP = 1 << 16
"""Rows written at a time."""
TEXTS = frozenset({"overflowed", "place", "file", "stack"})


class Parquet(SampleRows):
    """Numbers are unsigned 64-bit integers."""

    def __init__(self, subject: ExportSubject) -> None:
        super().__init__(subject)
        try:
            self._arrow, self._parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ImportError:
            raise PfmonError("--export=parquet needs pyarrow, which is not installed: pip install pyarrow") from None
        number, text = self._arrow.uint64(), self._arrow.string()
        self._schema = self._arrow.schema([(name, text if name in TEXTS else number) for name in self.columns])
        self._table(dict.fromkeys(self.columns, ()))  # pyarrow imports more for its first table
        self._file = _Written()
        self._writer = self._parquet.ParquetWriter(self._file, self._schema)
        self._rows: list[list[Cell]] = []

    def take(self, samples: Sequence[Sample]) -> bytes:
        self._rows += map(self.row, samples)
        if len(self._rows) >= GROUP:
            self._write()
        return self._file.drain()

    def finish(self) -> bytes:
        self._write()
        self._writer.close()
        return self._file.drain()

    def _write(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            columns = dict(zip(self.columns, map(list, zip(*rows, strict=True)), strict=True))
            self._writer.write_table(self._table(columns))

    def _table(self, columns: Mapping[str, Sequence[Cell]]) -> Any:
        return self._arrow.table(columns, schema=self._schema)


class _Written:
    """A file object for pyarrow whose bytes are drained repeatedly."""

    closed = False

    def __init__(self) -> None:
        self._new: list[bytes] = []
        self._length = 0

    def write(self, data: bytes) -> int:
        self._new.append(bytes(data))
        self._length += len(data)
        return len(data)

    def tell(self) -> int:
        return self._length

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def drain(self) -> bytes:
        """Return the bytes written since the last call."""
        new, self._new = self._new, []
        return b"".join(new)
