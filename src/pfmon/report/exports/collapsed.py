"""Collapsed stacks: a line for each stack, its functions joined by semicolons, and its number of samples, or its cycles
where all calls are known. Scripts for flame graphs, speedscope and others read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pfmon.report.exports.exact_calls import call_paths
from pfmon.report.exports.sample_export import SampleExport, utf8
from pfmon.session.profile.call_rows import ExactCalls
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.exports.sample_export import ExportSubject


class Collapsed(SampleExport):
    """Stacks in the order of their names; of several programs the outermost frame is the command's name, as perf's
    scripts have it."""

    joins = True

    def __init__(self, subject: ExportSubject) -> None:
        super().__init__(subject)
        self._counts: Counter[str] = Counter()

    def take(self, samples: Sequence[Sample]) -> bytes:
        self._counts.update(map(self._line, samples))
        return b""

    def take_calls(self, calls: ExactCalls) -> bytes:
        for path in call_paths(calls.nodes, self.names):
            if path.counts[0]:
                sample = Sample(path.entries[0], 0, (), 0, 0, (), path.entries[1:])
                self._counts[self._line(sample)] += path.counts[0]
        return b""

    def _line(self, sample: Sample) -> str:
        outer = [self.subject.comm] if self.subject.of_task else []
        return ";".join(name.replace(";", ":") for name in [*outer, *self.stack(sample)])

    def finish(self) -> bytes:
        return utf8("".join(f"{stack} {count}\n" for stack, count in sorted(self._counts.items())))
