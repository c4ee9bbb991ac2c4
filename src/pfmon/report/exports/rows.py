"""A row for each sample: what the formats that are tables have in common."""

from __future__ import annotations

from pfmon.report.exports.export import Export

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.session.sampling import Sample

COLUMNS = ("number", "stamp", "iip", "overflowed", "last_val", "set", "place", "file", "line", "stack")
"""The columns of every sample; after them comes one for each register, pmdN."""
Cell = int | str | None


class Rows(Export):
    """Numbers the samples."""

    _number = 0

    def row(self, sample: Sample) -> dict[str, Cell]:
        """The values of a sample by column. The stack is functions joined by semicolons, the outermost first; file and
        line are None where there is no DWARF."""
        source = self.names.source(sample.iip)
        cells: tuple[Cell, ...] = (
            *(self._number, sample.stamp, sample.iip, " ".join(map(str, sample.overflowed)), sample.last, sample.set),
            *(self.names.place(sample.iip), source and source.file, source and source.line),
            ";".join(self.stack(sample)),
        )
        self._number += 1
        return {**dict(zip(COLUMNS, cells, strict=True)), **{f"pmd{number}": value for number, value in sample.pmds}}
