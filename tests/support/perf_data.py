"""A plain reader of perf.data, after tools/perf/Documentation/perf.data-file-format.txt and the records of
perf_event_open(2)."""

import struct
from pathlib import Path
from typing import NamedTuple

CONTEXTS = 1 << 64
COMM, SAMPLE, MMAP2 = 3, 9, 10
COMMAND_LINE, EVENT_NAMES = 11, 12
IDENTIFIER, IP, TID, TIME, PERIOD, CALLCHAIN = 1 << 16, 1 << 0, 1 << 1, 1 << 2, 1 << 8, 1 << 5


class PerfSample(NamedTuple):
    """``frames``: the innermost first."""

    event: str
    address: int
    thread: int
    time: int
    period: int
    frames: tuple[int, ...]


class Mapping(NamedTuple):
    """Code of a file."""

    start: int
    length: int
    offset: int
    path: str


class PerfFile(NamedTuple):
    """What is in a file."""

    command: str
    words: tuple[str, ...]
    mappings: tuple[Mapping, ...]
    samples: tuple[PerfSample, ...]


def read(path: Path) -> PerfFile:
    """Read a file of pfmon's; whatever differs from its description is an error."""
    data = path.read_bytes()
    magic, size, each, attributes, attribute_bytes, first, length = struct.unpack_from("<8s6Q", data)
    assert (magic, size) == (b"PERFILE2", 104)
    bits = int.from_bytes(data[72:104], "little")
    names, words = {}, ()
    place = first + length
    for feature in range(256):
        if bits >> feature & 1:
            start, count = struct.unpack_from("<QQ", data, place)
            place += 16
            section = data[start : start + count]
            if feature == COMMAND_LINE:
                words = tuple(strings(section))
            if feature == EVENT_NAMES:
                names = event_names(section)
    for number in range(attribute_bytes // each):
        begin = attributes + number * each
        _, own, _, _, kinds = struct.unpack_from("<IIQQQ", data, begin)
        assert own == each - 16 and kinds == IDENTIFIER | IP | TID | TIME | PERIOD | CALLCHAIN
        ids, of_ids = struct.unpack_from("<QQ", data, begin + own)
        assert struct.unpack_from("<Q", data, ids)[0] in names and of_ids == 8
    return records(data[first : first + length], names, words)


def strings(section: bytes) -> list[str]:
    """A number of texts, each behind its length."""
    (count,) = struct.unpack_from("<I", section)
    found, place = [], 4
    for _ in range(count):
        (length,) = struct.unpack_from("<I", section, place)
        found.append(section[place + 4 : place + 4 + length].split(b"\0")[0].decode())
        place += 4 + length
    assert place == len(section)
    return found


def event_names(section: bytes) -> dict[int, str]:
    """Names of events by id."""
    count, size = struct.unpack_from("<II", section)
    found, place = {}, 8
    for _ in range(count):
        ids, length = struct.unpack_from("<II", section, place + size)
        text = section[place + size + 8 :][:length].split(b"\0")[0].decode()
        place += size + 8 + length
        for number in struct.unpack_from(f"<{ids}Q", section, place):
            found[number] = text
        place += 8 * ids
    assert place == len(section)
    return found


def records(data: bytes, names: dict[int, str], words: tuple[str, ...]) -> PerfFile:
    """The records of a file, up to its last byte."""
    command, mappings, samples, place = "", [], [], 0
    while place < len(data):
        kind, _, size = struct.unpack_from("<IHH", data, place)
        fields = data[place + 8 : place + size]
        place += size
        if kind == COMM:
            command = fields[8:].split(b"\0")[0].decode()
        elif kind == MMAP2:
            _, _, start, length, offset = struct.unpack_from("<IIQQQ", fields)
            mappings.append(Mapping(start, length, offset, fields[64:].split(b"\0")[0].decode()))
        else:
            assert kind == SAMPLE
            event, address, _, thread, time, period, count = struct.unpack_from("<QQIIQQQ", fields)
            chain = struct.unpack_from(f"<{count}Q", fields, 48)
            assert len(fields) == 48 + 8 * count and chain[0] == CONTEXTS - 512  # PERF_CONTEXT_USER
            samples.append(PerfSample(names[event], address, thread, time, period, chain[1:]))
    assert place == len(data)
    return PerfFile(command, words, tuple(mappings), tuple(samples))
