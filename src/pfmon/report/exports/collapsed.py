"""Collapsed stacks: a line for each stack, its functions joined by semicolons, and its number of samples. Scripts for
flame graphs, speedscope and others read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pfmon.report.exports.sample_export import SampleExport, utf8
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
        outer = [self.subject.comm] if self.subject.of_task else []
        self._counts.update(
            ";".join(name.replace(";", ":") for name in [*outer, *self.stack(sample)]) for sample in samples
        )
        return b""

    def finish(self) -> bytes:
        return utf8("".join(f"{stack} {count}\n" for stack, count in sorted(self._counts.items())))
