"""detailed-ia64: an entry for each sample, with its registers decoded (pfmon on Itanium 2, sections 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pfmon.report.sampling.register_lines import RegisterLines
from pfmon.report.sampling.sampling_module import CPU, SamplingModule
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.sampling.sampling_module import ModuleContext


INDENTATION = " " * 8
"""Indentation as in section 6; section 5 omits it, which makes these lines hard to distinguish from entries."""


class Detailed(SamplingModule):
    """A line for each sample; below it, indented, lines for each register and one for each frame of the call stack."""

    def __init__(self, context: ModuleContext) -> None:
        super().__init__(context)
        self._number = 0
        sets = context.captures_of_sets or (context.captures,)
        self._registers = [RegisterLines(context._replace(captures=one)) for one in sets]

    def take(self, samples: Sequence[Sample]) -> str:
        return "".join(map(self._entry, samples))

    def _counter(self, number: int) -> str:
        """Return an overflowed counter: the number of a PMD, the name of a counter that is no PMD."""
        return self.context.register(number).removeprefix("PMD")

    def _entry(self, sample: Sample) -> str:
        pid, show = self.context.process_id, self.context.shown
        thread = sample.thread or pid
        text = (
            f"entry {self._number} PID:{pid} TID:{thread} CPU:{CPU} STAMP:{sample.stamp:#x} IIP:{show(sample.iip)} "
            f"OVFL:{' '.join(map(self._counter, sample.overflowed))} LAST_VAL:{sample.last} SET:{sample.set}\n"
        )
        self._number += 1
        lines = [*self._registers[sample.set].lines(sample.pmds), *(f"called by {show(site)}" for site in sample.calls)]
        return text + "".join(f"{INDENTATION}{line}\n" for line in lines)
