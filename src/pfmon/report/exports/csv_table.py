"""csv: a row for each sample."""

from __future__ import annotations

import csv
from io import StringIO

from pfmon.report.exports.export import utf8
from pfmon.report.exports.rows import COLUMNS, Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pfmon.report.exports.rows import Cell
    from pfmon.session.sampling import Sample


class CsvTable(Rows):
    """Numbers are decimal, the address hexadecimal. Registers are those that the first sample has."""

    _columns: tuple[str, ...] = ()

    def take(self, samples: Sequence[Sample]) -> bytes:
        lines: list[Sequence[Cell]] = []
        for sample in samples:
            if not self._columns:
                self._columns = (*COLUMNS, *(f"pmd{number}" for number, _ in sample.pmds))
                lines.append(self._columns)
            row = self.row(sample) | {"iip": f"{sample.iip:#x}"}
            lines.append([row.get(name) for name in self._columns])
        return _written(lines)

    def finish(self) -> bytes:
        return b"" if self._columns else _written([COLUMNS])


def _written(lines: Iterable[Sequence[Cell]]) -> bytes:
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return utf8(out.getvalue())
