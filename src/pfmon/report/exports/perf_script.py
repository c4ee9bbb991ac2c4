"""perf-script: the output of `perf script` for samples with call chains (Linux, tools/perf, perf-script(1)), with
nanoseconds. Scripts for flame graphs and viewers read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pfmon.report.exports.sample_export import SampleExport, frames, utf8
from pfmon.report.sampling.sampling_module import CPU
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.exports.sample_export import ExportSubject


UNKNOWN = "[unknown]"


class PerfScript(SampleExport):
    """For each sample a line (command, thread, processor, seconds, period, event), one for each frame (address,
    function, file), and an empty one."""

    joins = True

    def __init__(self, subject: ExportSubject) -> None:
        super().__init__(subject)
        self._frames: dict[int, str] = {}

    def take(self, samples: Sequence[Sample]) -> bytes:
        return utf8("".join(map(self._sample, samples)))

    def finish(self) -> bytes:
        return b""

    def _sample(self, sample: Sample) -> str:
        subject = self.subject
        seconds, rest = divmod(subject.time(sample), 1_000_000_000)
        thread = sample.thread or subject.process_id
        return (
            f"{subject.comm} {thread:5} [{CPU:03}] {seconds:5}.{rest:09}: {sample.last:10} "
            f"{subject.event(sample)}:\n{''.join(map(self._frame, frames(sample)))}\n"
        )

    def _frame(self, address: int) -> str:
        if address not in self._frames:
            name, start, *_ = self.names.function(address)
            image = self.names.image(address)
            place = f"{name}+{address - start:#x}" if start else UNKNOWN
            self._frames[address] = f"{address:16x} {place} ({image.path if image else UNKNOWN})\n"
        return self._frames[address]
