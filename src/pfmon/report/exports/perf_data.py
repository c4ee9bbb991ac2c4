"""perf-data: the file that perf report(1), annotate(1) and script(1) read, perf.data (Linux, tools/perf/Documentation/
perf.data-file-format.txt, and include/uapi/linux/perf_event.h for the records)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pfmon.report.exports.perf_captures import (
    ADDRESS,
    BRANCH_STACK,
    DATA_SOURCE,
    WEIGHT,
    branch_stack,
    branch_type,
    load_of,
    load_source,
)
from pfmon.report.exports.sample_export import SampleExport, frames, utf8
from pfmon.session.sampling.sampling_period import Sample
from pfmon.version import VERSION

if TYPE_CHECKING:
    from pfmon.program.elf import Segment
    from pfmon.program.image import Image
    from pfmon.report.exports.sample_export import ExportSubject

MAGIC = b"PERFILE2"
HEADER_SIZE = 104
ATTRIBUTE_SIZE = 128
"""Bytes of perf_event_attr (PERF_ATTR_SIZE_VER7)."""
COMM, MMAP2, SAMPLE = 3, 10, 9
"""Types of records."""
USER = 2
"""PERF_RECORD_MISC_USER: the sample is of the user level."""
EXEC = 1 << 13
"""PERF_RECORD_MISC_COMM_EXEC: the name is that of a program that was executed."""
USER_FRAMES = (1 << 64) - 512
"""PERF_CONTEXT_USER, before the addresses of a call chain at the user level."""
SAMPLE_TYPE = 1 << 16 | 1 << 0 | 1 << 1 | 1 << 2 | 1 << 8 | 1 << 5
"""PERF_SAMPLE_IDENTIFIER, IP, TID, TIME, PERIOD, CALLCHAIN."""
FLAGS = 1 << 5 | 1 << 6
"""exclude_kernel, exclude_hv."""
HARDWARE, RAW = 0, 4
"""Types of events."""
HARDWARE_EVENTS = {
    "cycles": 0,
    "cpu-cycles": 0,
    "instructions": 1,
    "cache-references": 2,
    "cache-misses": 3,
    "branches": 4,
    "branch-instructions": 4,
    "branch-misses": 5,
    "bus-cycles": 6,
    "ref-cycles": 9,
}
"""PERF_COUNT_HW_..., by perf's names."""
READ, EXECUTE = 4, 1
"""Bits of a segment's flags (ELF), and of a mapping's protection (mmap(2))."""
PRIVATE = 2
PAGE = 4096
VERSION_FEATURE, ARCHITECTURE, COMMAND_LINE, EVENT_NAMES, HAS_BRANCHES = 5, 6, 11, 12, 15
"""Features of the header: bits, in whose order their sections follow the records."""
TEXT = 64
"""Texts of features are filled up to multiples of so many bytes."""


class PerfData(SampleExport):
    """A record for each sample, behind those of the command and of the code that samples are in. An event that is none
    of perf's has its name in the header."""

    def __init__(self, subject: ExportSubject) -> None:
        super().__init__(subject)
        self._events: dict[str, int] = {}
        """The id of each event."""
        self._samples: list[bytes] = []
        self._mapped: dict[tuple[str, int], bytes] = {}
        """The record of each segment, by path and address."""
        self._known: set[int] = set()

    def take(self, samples: Sequence[Sample]) -> bytes:
        self._samples += map(self._sample, samples)
        return b""

    def finish(self) -> bytes:
        events = list(self._events) or ["cycles"]
        size = len(events) * (ATTRIBUTE_SIZE + 16)
        ids = b"".join(struct.pack("<Q", number + 1) for number in range(len(events)))
        attributes = b"".join(
            self._event(name) + struct.pack("<QQ", HEADER_SIZE + 8 * number, 8) for number, name in enumerate(events)
        )
        records = b"".join([self._command(), *self._mapped.values(), *self._samples])
        data = HEADER_SIZE + len(ids) + size
        features = self._features(events)
        bits = sum(1 << feature for feature in features)
        sections = struct.pack("<QQ", ATTRIBUTE_SIZE + 16, HEADER_SIZE + len(ids)) + struct.pack("<Q", size)
        header = MAGIC + struct.pack("<Q", HEADER_SIZE) + sections + struct.pack("<QQQQ", data, len(records), 0, 0)
        header += struct.pack("<4Q", bits, 0, 0, 0)
        return b"".join([header, ids, attributes, records, *_behind(data + len(records), features.values())])

    def _sample(self, sample: Sample) -> bytes:
        subject, chain = self.subject, frames(sample)
        number = self._events.setdefault(subject.event(sample), len(self._events) + 1)
        for address in chain:
            self._map(address)
        thread = sample.thread or subject.process_id
        pmds = dict(sample.pmds) if subject.branches or subject.loads else {}
        load = load_of(pmds)
        fields = struct.pack("<QQIIQ", number, sample.iip, subject.process_id, thread, subject.time(sample))
        if subject.loads:
            fields += struct.pack("<Q", load.address or 0)
        fields += struct.pack("<Q", sample.last)
        fields += struct.pack(f"<{len(chain) + 2}Q", len(chain) + 1, USER_FRAMES, *chain)
        if subject.branches:
            predicted = subject.branches.has_predictions and subject.megahertz > 0
            fields += branch_stack(subject.branches, pmds, predicted)
        if subject.loads:
            fields += struct.pack("<QQ", load.latency or 0, load_source(load, pmds))
        return _record(SAMPLE, fields, USER)

    def _map(self, address: int) -> None:
        """Add the segment that an address is in."""
        if address in self._known:
            return
        self._known.add(address)
        image = self.names.image(address)
        segment = image.segment(address) if image else None
        if image is not None and segment is not None:
            self._mapped.setdefault((image.path, image.bias + segment.address), self._mapping(image, segment))

    def _mapping(self, image: Image, segment: Segment) -> bytes:
        start = image.bias + segment.address
        before = start % PAGE  # a mapping begins at a page
        length = -(-(before + segment.memory_size) // PAGE) * PAGE
        protection = (1 if segment.flags & READ else 0) | (4 if segment.flags & EXECUTE else 0)
        process = self.subject.process_id
        fields = struct.pack("<IIQQQ", process, process, start - before, length, segment.offset - before)
        fields += struct.pack("<IIQQII", 0, 0, 0, 0, protection, PRIVATE)
        return _record(MMAP2, fields + _text(str(Path(image.path).absolute())), USER)

    def _command(self) -> bytes:
        process = self.subject.process_id
        return _record(COMM, struct.pack("<II", process, process) + _text(self.subject.comm), EXEC)

    def _event(self, name: str) -> bytes:
        """Return perf_event_attr of an event: type, size, config, period, sample_type, read_format, flags, and
        branch_sample_type behind three other fields."""
        branches, kinds = self.subject.branches, SAMPLE_TYPE
        kinds |= BRANCH_STACK if branches else 0
        kinds |= ADDRESS | WEIGHT | DATA_SOURCE if self.subject.loads else 0
        kind, config = (HARDWARE, HARDWARE_EVENTS[name]) if name in HARDWARE_EVENTS else (RAW, 0)
        fields = struct.pack("<IIQQQQQ", kind, ATTRIBUTE_SIZE, config, 1, kinds, 0, FLAGS)
        fields += bytes(24) + struct.pack("<Q", branch_type(branches) if branches else 0)
        return fields + bytes(ATTRIBUTE_SIZE - len(fields))

    def _features(self, events: Sequence[str]) -> dict[int, bytes]:
        words = self.subject.command
        lines = [struct.pack("<I", len(words)), *map(_sized, words)]
        names = [struct.pack("<II", len(events), ATTRIBUTE_SIZE)]
        for number, name in enumerate(events):
            names += [self._event(name), struct.pack("<I", 1), _sized(name), struct.pack("<Q", number + 1)]
        return {
            VERSION_FEATURE: _sized(f"pfmon {VERSION}"),
            ARCHITECTURE: _sized(self.subject.architecture),
            COMMAND_LINE: b"".join(lines),
            EVENT_NAMES: b"".join(names),
            **({HAS_BRANCHES: b""} if self.subject.branches else {}),
        }


def _record(kind: int, fields: bytes, misc: int) -> bytes:
    return struct.pack("<IHH", kind, misc, 8 + len(fields)) + fields


def _text(text: str) -> bytes:
    """Return a text that ends with zeros, up to a multiple of 8 bytes."""
    data = utf8(text) + b"\0"
    return data + bytes(-len(data) % 8)


def _sized(text: str) -> bytes:
    """Return a text behind its length, as features have it."""
    data = utf8(text) + b"\0"
    data += bytes(-len(data) % TEXT)
    return struct.pack("<I", len(data)) + data


def _behind(place: int, features: Iterable[bytes]) -> list[bytes]:
    """Return the table of the features' sections, which is at a place of the file, and the sections."""
    sections = list(features)
    place += 16 * len(sections)
    table = []
    for section in sections:
        table.append(struct.pack("<QQ", place, len(section)))
        place += len(section)
    return [*table, *sections]
