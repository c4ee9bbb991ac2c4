"""firefox: a processed profile of the Firefox Profiler (firefox-devtools/profiler, docs-developer and
src/types/profile.ts), of format version 61, which all newer versions open."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pfmon.report.exports.firefox_tables import Tables
from pfmon.report.exports.sample_export import SampleExport, frames, utf8
from pfmon.session.sampling.sampling_period import Sample
from pfmon.version import VERSION

if TYPE_CHECKING:
    from pfmon.report.exports.sample_export import ExportSubject


GECKO_VERSION, PROCESSED_VERSION = 34, 61
MILLISECOND = 1_000_000
"""Nanoseconds per millisecond."""
CATEGORIES = [
    {"name": "Other", "color": "grey", "subcategories": ["Other"]},
    {"name": "User", "color": "yellow", "subcategories": ["Other"]},
]
MARKERS = ("data", "name", "startTime", "endTime", "phase", "category")


class _Samples(NamedTuple):
    """The samples of one event: stacks, milliseconds, periods."""

    stacks: list[int]
    times: list[float]
    weights: list[int]


class Firefox(SampleExport):
    """A thread for each sampled event; samples are weighted by their periods."""

    def __init__(self, subject: ExportSubject) -> None:
        super().__init__(subject)
        self._tables = Tables(self.names, subject.architecture)
        self._threads: dict[str, _Samples] = {}

    def take(self, samples: Sequence[Sample]) -> bytes:
        for sample in samples:
            thread = self._threads.setdefault(self.subject.event(sample), _Samples([], [], []))
            thread.stacks.append(self._tables.stack(frames(sample)))
            thread.times.append(self.subject.time(sample) / MILLISECOND)
            thread.weights.append(sample.last)
        return b""

    def finish(self) -> bytes:
        of_none = {} if self._threads else {"samples": _Samples([], [], [])}  # a profile needs a thread
        threads = [
            self._thread(number, event, samples)
            for number, (event, samples) in enumerate({**self._threads, **of_none}.items())
        ]
        whole = {
            "meta": self._meta(),
            "libs": self._tables.libraries,
            "shared": self._tables.shared(),
            "threads": threads,
        }
        return utf8(json.dumps(whole) + "\n")

    def _meta(self) -> dict[str, Any]:
        thread = next(iter(self._threads.values()), _Samples([], [], []))
        distance = (thread.times[-1] - thread.times[0]) / (len(thread.times) - 1) if len(thread.times) > 1 else 1
        return {
            "interval": distance or 1,
            "startTime": 1000 * self.subject.epoch,
            "processType": 0,
            "categories": CATEGORIES,
            "product": self.subject.comm,
            "stackwalk": 1,
            "version": GECKO_VERSION,
            "preprocessedProfileVersion": PROCESSED_VERSION,
            "arguments": " ".join(self.subject.command),
            "symbolicated": True,
            "markerSchema": [],
            "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"},
            "importedFrom": f"pfmon {VERSION}",
            "usesOnlyOneStackType": True,
            "sourceCodeIsNotOnSearchfox": True,
            "keepProfileThreadOrder": True,
        }

    def _thread(self, number: int, event: str, samples: _Samples) -> dict[str, Any]:
        process = str(self.subject.process_id)
        return {
            "processType": "default",
            "processStartupTime": 0,
            "processShutdownTime": None,
            "registerTime": 0,
            "unregisterTime": None,
            "pausedRanges": [],
            "name": event,
            "isMainThread": number == 0,
            "processName": self.subject.comm,
            "pid": process,
            "tid": f"{process}.{number}" if number else self.subject.process_id,
            "samples": {
                "stack": samples.stacks,
                "time": samples.times,
                "weight": samples.weights,
                "weightType": "samples",
                "length": len(samples.stacks),
            },
            "markers": {"length": 0} | {column: [] for column in MARKERS},
        }
