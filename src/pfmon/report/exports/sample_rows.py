"""The base class of tabular formats: a row for each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pfmon.report.exports.sample_export import SampleExport
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.exports.sample_export import ExportSubject


COLUMNS = ("number", "stamp", "iip", "overflowed", "last_val", "set", "place", "file", "line", "stack")
"""The columns of every sample."""
Cell = int | str | None


class SampleRows(SampleExport):
    """Numbers the samples. COLUMNS are followed by a column pmdN for each register that samples may hold."""

    def __init__(self, subject: ExportSubject) -> None:
        super().__init__(subject)
        self.columns = (*COLUMNS, *(f"pmd{number}" for number in subject.registers))
        self._number = 0

    def row(self, sample: Sample) -> list[Cell]:
        """Return the values of a sample. The stack is functions joined by semicolons, the outermost first; file and
        line are None without DWARF, as is a register that the sample lacks."""
        source = self.names.source(sample.iip)
        cells: list[Cell] = [
            *(self._number, sample.stamp, sample.iip, " ".join(map(str, sample.overflowed)), sample.last, sample.set),
            *(self.names.place(sample.iip), source and source.file, source and source.line),
            ";".join(self.stack(sample)),
        ]
        registers = dict(sample.pmds)
        cells += [registers.pop(number, None) for number in self.subject.registers]
        if registers:
            raise ValueError(f"a sample has registers that it cannot have: {registers}")
        self._number += 1
        return cells
