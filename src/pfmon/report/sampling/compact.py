"""compact: a line of columns for each sample, for other programs to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pfmon.report.sampling.sampling_module import CPU, SamplingModule
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.sampling.sampling_module import ModuleContext


COLUMNS = ("entry", "pid", "tid", "cpu", "stamp", "iip", "overflowed", "last_val", "set")


class Compact(SamplingModule):
    """The first line names the columns: those of registers are called pmdN, the last one is the position in the program
    if addresses are resolved. The heading is repeated when the samples' registers change."""

    def __init__(self, context: ModuleContext) -> None:
        super().__init__(context)
        self._number = 0
        self._registers: list[int] | None = None

    def take(self, samples: Sequence[Sample]) -> str:
        lines = []
        for sample in samples:
            registers = [number for number, _ in sample.pmds]
            if registers != self._registers:
                lines.append(self._header(registers))
                self._registers = registers
            lines.append(self._line(sample))
            self._number += 1
        return "".join(lines)

    def _header(self, registers: Sequence[int]) -> str:
        names = [*COLUMNS, *(f"pmd{number}" for number in registers)]
        return " ".join([*names, "place"] if self.context.names else names) + "\n"

    def _line(self, sample: Sample) -> str:
        pid = self.context.process_id
        cells: list[object] = [
            *(self._number, pid, sample.thread or pid, CPU, sample.stamp, f"{sample.iip:#x}"),
            *(",".join(map(str, sample.overflowed)), sample.last, sample.set),
            *(value for _, value in sample.pmds),
        ]
        place = self.context.place(sample.iip)
        return " ".join(map(str, [*cells, place] if place else cells)) + "\n"
