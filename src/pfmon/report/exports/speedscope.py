"""speedscope: profiles of samples in speedscope's own format (its file-format-spec), each sample weighted by its
period."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pfmon.report.exports.sample_export import SampleExport, frames, utf8
from pfmon.session.sampling.sampling_period import Sample
from pfmon.version import VERSION

if TYPE_CHECKING:
    from pfmon.report.exports.sample_export import ExportSubject


SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class _Profile(NamedTuple):
    """The samples of one event: stacks in the order of sampling, and their weights."""

    stacks: list[list[int]]
    weights: list[int]


class Speedscope(SampleExport):
    """A profile for each sampled event; frames are functions, with their first line."""

    def __init__(self, subject: ExportSubject) -> None:
        super().__init__(subject)
        self._frames: list[dict[str, Any]] = []
        self._numbers: dict[str, int] = {}
        self._profiles: dict[str, _Profile] = {}

    def take(self, samples: Sequence[Sample]) -> bytes:
        for sample in samples:
            profile = self._profiles.setdefault(self.subject.event(sample), _Profile([], []))
            profile.stacks.append([self._frame(address) for address in reversed(frames(sample))])
            profile.weights.append(sample.last)
        return b""

    def _frame(self, address: int) -> int:
        function = self.names.function(address)
        name, start = str(function), function.address
        if name not in self._numbers:
            self._numbers[name] = len(self._frames)
            source = self.names.source(start)
            self._frames.append({"name": name} | ({"file": source.file, "line": source.line} if source else {}))
        return self._numbers[name]

    def finish(self) -> bytes:
        profiles = [
            {
                "type": "sampled",
                "name": event,
                "unit": "none",
                "startValue": 0,
                "endValue": sum(profile.weights),
                "samples": profile.stacks,
                "weights": profile.weights,
            }
            for event, profile in (self._profiles or {"samples": _Profile([], [])}).items()
        ]
        whole = {
            "$schema": SCHEMA,
            "exporter": f"pfmon {VERSION}",
            "shared": {"frames": self._frames},
            "profiles": profiles,
        }
        return utf8(json.dumps(whole) + "\n")
