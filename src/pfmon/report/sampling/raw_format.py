"""The file format of the module raw: samples in binary (docs/sampling.md has the layout).

A header, then sections, each with its length and a checksum: complete sections of a truncated file can be read. All
numbers are little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from pfmon.errors import PfmonError
from pfmon.session.sampling.sampling_period import Sample

MAGIC, VERSION = b"PFMONSMP", 3
HEADER = struct.Struct("<8sII16s")
"""Magic, version, process id, name of the PMU (ASCII, padded with zeros)."""
SECTION = struct.Struct("<4sIQ")
"""Kind, CRC-32 of the content, and number of bytes of the content, which follows."""
REGISTERS, RECORDS, CALLS, END = b"REGS", b"SMPL", b"CALL", b"DONE"
"""REGS: the numbers of the PMDs that the records after it have, 32 bits each. SMPL: records. CALL: the call stacks of
the records before it, 64 bits an address. DONE: how many samples there are, 64 bits."""
FIELDS = {1: "QQQQII", 2: "QQQQIII4x", VERSION: "QQQQIII4xQ"}
"""A record, by version: IIP, stamp, the PMDs that overflowed (bit n for PMD n), the last period, the event set, how
many calls it has, from version 2 on the thread, from version 3 on the instructions that had retired; then 64 bits for
each register."""
COUNT = struct.Struct("<Q")


def header(pmu: str, process_id: int) -> bytes:
    """Return the header of a file."""
    return HEADER.pack(MAGIC, VERSION, process_id, pmu.encode("ascii"))


def end(samples: int) -> bytes:
    """Return the end section of a file with this number of samples."""
    return _section(END, COUNT.pack(samples))


def _section(kind: bytes, content: bytes) -> bytes:
    return SECTION.pack(kind, crc32(content), len(content)) + content


def _record(registers: int, version: int = VERSION) -> struct.Struct:
    """Return the format of records with this number of registers."""
    return struct.Struct(f"<{FIELDS[version]}{registers}Q")


class Encoder:
    """Encodes samples as sections."""

    def __init__(self) -> None:
        self._registers: tuple[int, ...] | None = None

    def sections(self, samples: Sequence[Sample]) -> bytes:
        """Encode a buffer of samples, grouping adjacent samples with the same registers."""
        parts, first = [], 0
        for place in range(1, len(samples) + 1):
            if place == len(samples) or _registers(samples[place]) != _registers(samples[first]):
                parts.append(self._alike(samples[first:place]))
                first = place
        return b"".join(parts)

    def _alike(self, samples: Sequence[Sample]) -> bytes:
        """Encode samples with the same registers."""
        numbers = _registers(samples[0])
        record = _record(len(numbers))
        found = b"" if numbers == self._registers else _section(REGISTERS, struct.pack(f"<{len(numbers)}I", *numbers))
        self._registers = numbers
        content = b"".join(
            record.pack(
                *(one.iip, one.stamp, sum(1 << pmd for pmd in one.overflowed), one.last, one.set, len(one.calls)),
                *(one.thread, one.retired),
                *(value for _, value in one.pmds),
            )
            for one in samples
        )
        found += _section(RECORDS, content)
        calls = [address for one in samples for address in one.calls]
        return found + (_section(CALLS, struct.pack(f"<{len(calls)}Q", *calls)) if calls else b"")


def _registers(sample: Sample) -> tuple[int, ...]:
    return tuple(number for number, _ in sample.pmds)


class Contents(NamedTuple):
    """The contents of a file. ``damage``: a description of damage, "" for none; the samples are those before it."""

    pmu: str
    process_id: int
    samples: list[Sample]
    damage: str


class _DamageError(Exception):
    """A description of damage."""


def decode(data: bytes) -> Contents:
    """Decode a file. PfmonError: it is no file of samples, or of another version."""
    if len(data) < HEADER.size or not data.startswith(MAGIC):
        raise PfmonError("no file of samples (--smpl-module=raw)")
    _, version, process_id, pmu = HEADER.unpack_from(data)
    if version not in FIELDS:
        raise PfmonError(f"a file of samples of version {version}; this pfmon reads version {VERSION}")
    samples: list[Sample] = []
    damage = ""
    try:
        _read(data, version, samples)
    except _DamageError as error:
        damage = str(error)
    return Contents(pmu.rstrip(b"\0").decode("ascii", "replace"), process_id, samples, damage)


def _read(data: bytes, version: int, samples: list[Sample]) -> None:
    """Append the samples to ``samples``. _DamageError: the file is damaged; the complete samples before that are
    appended."""
    registers: tuple[int, ...] | None = None
    pending: list[tuple[int, ...]] = []
    for kind, content, place in _sections(data):
        if pending and kind != CALLS:
            raise _DamageError(f"the call stacks of the records before byte {place} are missing")
        if kind == REGISTERS:
            registers = struct.unpack(f"<{_whole(content, 4, place)}I", content)
        elif kind == RECORDS:
            if registers is None:
                raise _DamageError(f"records without registers before them at byte {place}")
            record = _record(len(registers), version)
            _whole(content, record.size, place)
            found = list(record.iter_unpack(content))
            if version < VERSION:  # without what came later
                known = FIELDS[version].count("I") + FIELDS[version].count("Q")
                found = [(*one[:known], *(0,) * (8 - known), *one[known:]) for one in found]
            if any(one[5] for one in found):
                pending = found
            else:
                samples += _samples(registers, found, ())
        elif kind == CALLS:
            calls = struct.unpack(f"<{_whole(content, 8, place)}Q", content)
            if registers is None or sum(one[5] for one in pending) != len(calls):
                raise _DamageError(f"call stacks that do not fit the records before byte {place}")
            samples += _samples(registers, pending, calls)
            pending = []
        else:
            _check_end(content, place, len(samples))
            if place + SECTION.size + len(content) < len(data):
                raise _DamageError(f"there is more after its end, byte {place + SECTION.size + len(content)}")
            return


def _sections(data: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """Yield kind, content and offset of each section. _DamageError: a section is missing or damaged."""
    place = HEADER.size
    while True:
        if place == len(data):
            raise _DamageError(f"it ends at byte {place} without the section that says that it is whole")
        if place + SECTION.size > len(data):
            raise _DamageError(f"it ends at byte {len(data)} within a section")
        kind, checksum, length = SECTION.unpack_from(data, place)
        if kind not in (REGISTERS, RECORDS, CALLS, END):
            raise _DamageError(f"no section at byte {place}")
        start = place + SECTION.size
        content = data[start : start + length]
        if len(content) < length:
            raise _DamageError(f"it ends at byte {len(data)} within a section")
        if crc32(content) != checksum:
            raise _DamageError(f"the checksum of the section at byte {place} is wrong")
        yield kind, content, place
        place = start + length


def _whole(content: bytes, size: int, place: int) -> int:
    """Return the number of items of a size in a section. _DamageError: the last one is incomplete."""
    if len(content) % size:
        raise _DamageError(f"the section at byte {place} ends within a record")
    return len(content) // size


def _samples(
    registers: tuple[int, ...], records: Sequence[tuple[int, ...]], calls: tuple[int, ...]
) -> Iterator[Sample]:
    """Yield the samples of records; ``calls``: the concatenated call stacks of all."""
    first = 0
    for iip, stamp, mask, last, number, depth, thread, retired, *values in records:
        overflowed = tuple(pmd for pmd in range(mask.bit_length()) if mask >> pmd & 1)
        pmds = tuple(zip(registers, values, strict=True))
        yield Sample(iip, stamp, overflowed, last, number, pmds, calls[first : first + depth], thread, retired)
        first += depth


def _check_end(content: bytes, place: int, samples: int) -> None:
    if len(content) != COUNT.size or COUNT.unpack(content)[0] != samples:
        raise _DamageError(f"the end at byte {place} is of a file with another number of samples")
