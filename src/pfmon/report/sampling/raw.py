"""raw: samples in binary, for pfmon.read_samples and other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pfmon.report.sampling.raw_format import Encoder, end, header
from pfmon.report.sampling.sampling_module import SamplingModule
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.sampling.sampling_module import ModuleContext


class Raw(SamplingModule):
    """The file is written buffer by buffer; an end section marks it as complete."""

    is_binary = True

    def __init__(self, context: ModuleContext) -> None:
        super().__init__(context)
        self._encoder = Encoder()
        self._begun = False
        self._samples = 0

    def take(self, samples: Sequence[Sample]) -> bytes:
        self._samples += len(samples)
        return self._header() + self._encoder.sections(samples)

    def _header(self) -> bytes:
        """Return the file's header on the first call, then nothing."""
        if self._begun:
            return b""
        self._begun = True
        return header(self.context.model.name if self.context.model else "", self.context.process_id)

    def finish(self, exact: Mapping[int, int] | None) -> bytes:
        return self._header() + end(self._samples)
