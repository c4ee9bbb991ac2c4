"""pprof: a compressed message Profile (google/pprof, proto/profile.proto, with its field numbers), for the pprof
command and others."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pfmon.report.exports.exact_calls import call_paths
from pfmon.report.exports.protobuf import data, number, numbers
from pfmon.report.exports.sample_export import SampleExport, frames, utf8
from pfmon.session.profile.call_rows import ExactCalls
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.exports.sample_export import ExportSubject
SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING_TABLE = 1, 2, 3, 4, 5, 6
DURATION_NANOS, PERIOD_TYPE, PERIOD, COMMENT, DEFAULT_SAMPLE_TYPE = 10, 11, 12, 13, 14

RESOLVED = (7, 8, 9, 10)
"""Fields of a mapping: the profile has its functions, files, lines and inlined calls, as far as known."""


class Pprof(SampleExport):
    """Samples with the same stack are merged; their values are the number of samples and, for each sampled event, the
    sum of their periods. Locations are instructions; those of callers are the call instructions."""

    def __init__(self, subject: ExportSubject) -> None:
        super().__init__(subject)
        self._strings = {"": 0}
        self._functions: dict[tuple[str, int, str], int] = {}
        """By name, address, and source file: a line belongs to its function's file, so code inlined from another file
        has a function of its own."""
        self._locations: dict[int, int] = {}
        self._mappings: dict[int, int] = {}
        """By start address."""
        self._encoded: list[bytes] = []
        self._values: dict[tuple[int, ...], dict[str, int]] = {}
        self._events: dict[str, set[int]] = {}
        """Event -> the periods that occurred."""
        self._last = 0
        self._counted = "samples"
        """The unit of the first value of each stack."""

    def take(self, samples: Sequence[Sample]) -> bytes:
        for sample in samples:
            event = self.subject.event(sample)
            self._events.setdefault(event, set()).add(sample.last)
            values = self._values.setdefault(frames(sample), {"": 0})
            values[""] += 1
            values[event] = values.get(event, 0) + sample.last
            self._last = self.subject.time(sample)
        return b""

    def take_calls(self, calls: ExactCalls) -> bytes:
        self._counted = "calls"
        super().take_calls(calls)
        for path in call_paths(calls.nodes, self.names):
            if path.entries in self._values:
                self._values[path.entries][""] = path.calls
        return b""

    def finish(self) -> bytes:
        types = [self._counted, *self._events]
        parts = [data(SAMPLE_TYPE, self._value_type(name)) for name in types]
        for stack, values in self._values.items():
            locations = numbers(1, map(self._location, stack))
            parts.append(data(SAMPLE, locations + numbers(2, (values.get(name, 0) for name in ("", *self._events)))))
        parts += self._encoded
        parts.append(number(DURATION_NANOS, self._last))
        for event, periods in [*self._events.items()][:1]:
            parts.append(data(PERIOD_TYPE, self._value_type(event)))
            parts.append(number(PERIOD, min(periods)))
            parts.append(number(DEFAULT_SAMPLE_TYPE, self._string(event)))
        parts.append(numbers(COMMENT, [self._string(" ".join(self.subject.command))]))
        parts += [data(STRING_TABLE, utf8(text)) for text in self._strings]
        return gzip.compress(b"".join(parts), mtime=0)

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _value_type(self, name: str) -> bytes:
        return number(1, self._string(name)) + number(2, self._string("count"))

    def _location(self, address: int) -> int:
        if address not in self._locations:
            found = self._locations[address] = len(self._locations) + 1
            source = self.names.source(address)
            line = number(1, self._function(address)) + number(2, source.line if source else 0)
            fields = number(1, found) + number(2, self._mapping(address)) + number(3, address) + data(4, line)
            self._encoded.append(data(LOCATION, fields))
        return self._locations[address]

    def _function(self, address: int) -> int:
        name, start, *_ = self.names.function(address)
        source, begin = self.names.source(address), self.names.source(start)
        key = (name, start, source.file if source else "")
        if key not in self._functions:
            found = self._functions[key] = len(self._functions) + 1
            symbol = self.names.symbol(address)
            fields = number(1, found) + number(2, self._string(name))
            fields += number(3, self._string(symbol.name if symbol else name)) + number(4, self._string(key[2]))
            if source and begin and source.file == begin.file:
                fields += number(5, begin.line)
            self._encoded.append(data(FUNCTION, fields))
        return self._functions[key]

    def _mapping(self, address: int) -> int:
        """Return the number of the segment that contains an address; 0: none."""
        image = self.names.image(address)
        segment = image.segment(address) if image else None
        if image is None or segment is None:
            return 0
        start = image.bias + segment.address
        if start not in self._mappings:
            found = self._mappings[start] = len(self._mappings) + 1
            fields = number(1, found) + number(2, start) + number(3, start + segment.memory_size)
            fields += number(4, segment.offset) + number(5, self._string(image.path))
            fields += b"".join(number(field, 1) for field in RESOLVED)
            self._encoded.append(data(MAPPING, fields))
        return self._mappings[start]
