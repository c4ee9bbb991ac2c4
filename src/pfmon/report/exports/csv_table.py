"""csv: a row for each sample."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING

from pfmon.report.exports.sample_export import utf8
from pfmon.report.exports.sample_rows import COLUMNS, SampleRows
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.exports.sample_export import ExportSubject


ADDRESS = COLUMNS.index("iip")


class CsvTable(SampleRows):
    """Numbers are decimal, the address hexadecimal."""

    def __init__(self, subject: ExportSubject) -> None:
        super().__init__(subject)
        self._out = StringIO()
        self._writer = csv.writer(self._out, lineterminator="\n")
        self._writer.writerow(self.columns)

    def take(self, samples: Sequence[Sample]) -> bytes:
        for sample in samples:
            row = self.row(sample)
            row[ADDRESS] = f"{sample.iip:#x}"
            self._writer.writerow(row)
        return self._written()

    def finish(self) -> bytes:
        return self._written()

    def _written(self) -> bytes:
        """Return the output since the last call."""
        text = self._out.getvalue()
        self._out.seek(0)
        self._out.truncate()
        return utf8(text)
