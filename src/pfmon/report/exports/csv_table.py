"""csv: a row for each sample; stacks are the functions joined by semicolons, the outermost first."""

from __future__ import annotations

import csv
from io import StringIO

from pfmon.report.exports.export import Export

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.session.profile import FunctionNames
    from pfmon.session.sampling import Sample

COLUMNS = ("number", "stamp", "iip", "overflowed", "last_val", "set", "place", "stack")


class CsvTable(Export):
    """Numbers are decimal, addresses hexadecimal; after the common columns there is one for each register, pmdN."""

    def __init__(self, names: FunctionNames) -> None:
        super().__init__(names)
        self._out = StringIO()
        self._writer = csv.writer(self._out, lineterminator="\n")
        self._number = 0

    def take(self, samples: Sequence[Sample]) -> None:
        for sample in samples:
            if self._number == 0:
                self._writer.writerow([*COLUMNS, *(f"pmd{number}" for number, _ in sample.pmds)])
            overflowed = " ".join(map(str, sample.overflowed))
            place, stack = self.names.place(sample.iip), ";".join(self.stack(sample))
            fields = (self._number, sample.stamp, f"{sample.iip:#x}", overflowed, sample.last, sample.set, place, stack)
            self._writer.writerow([*fields, *(value for _, value in sample.pmds)])
            self._number += 1

    def text(self) -> str:
        return self._out.getvalue()
