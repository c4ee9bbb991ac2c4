"""parquet: a row for each sample with the columns of csv, by pyarrow."""

from __future__ import annotations

from importlib import import_module

from pfmon.errors import PfmonError
from pfmon.report.exports.rows import COLUMNS, Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from pfmon.report.exports.export import Subject
    from pfmon.report.exports.rows import Cell
    from pfmon.session.sampling import Sample

GROUP = 1 << 16
"""Rows that are written together."""
TEXTS = frozenset({"overflowed", "place", "file", "stack"})


class Parquet(Rows):
    """Numbers are unsigned 64-bit ones. Registers are those that the first sample has."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        try:
            self._arrow, self._parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ImportError:
            raise PfmonError("--export=parquet needs pyarrow, which is not installed: pip install pyarrow") from None
        self._rows: list[dict[str, Cell]] = []
        self._schema: Any = None
        self._writer: Any = None
        self._file = _Written()

    def take(self, samples: Sequence[Sample]) -> bytes:
        for sample in samples:
            if self._schema is None:
                self._begin([*COLUMNS, *(f"pmd{number}" for number, _ in sample.pmds)])
            self._rows.append(self.row(sample))
        if len(self._rows) >= GROUP:
            self._write()
        return self._file.drain()

    def finish(self) -> bytes:
        if self._schema is None:
            self._begin(COLUMNS)
        self._write()
        self._writer.close()
        return self._file.drain()

    def _begin(self, columns: Sequence[str]) -> None:
        number, text = self._arrow.uint64(), self._arrow.string()
        self._schema = self._arrow.schema([(name, text if name in TEXTS else number) for name in columns])
        self._writer = self._parquet.ParquetWriter(self._file, self._schema)

    def _write(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self._writer.write_table(self._arrow.Table.from_pylist(rows, self._schema))


class _Written:
    """A file as pyarrow wants one, whose bytes are taken from it again and again."""

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
        """What was written since it was last called."""
        new, self._new = self._new, []
        return b"".join(new)
