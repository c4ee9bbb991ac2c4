"""Snapshots of systems taken apart and put together, with checksums that are right (docs/dev/snapshots.md)."""

import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import zstandard

Piece = tuple[bytes, bytes]
"""Kind and content."""
START = struct.Struct("<8sI")


def pieces(snapshot: bytes) -> list[Piece]:
    found, at = [], START.size
    while at < len(snapshot):
        kind, length, size, checksum = struct.unpack_from("<cIII", snapshot, at)
        packed = snapshot[at + 13 : at + 13 + length]
        assert zlib.crc32(snapshot[at : at + 9] + packed) == checksum
        data = zstandard.ZstdDecompressor().decompress(packed)
        assert len(data) == size
        found.append((kind, data))
        at += 13 + length
    return found


def snapshot_of(parts: Sequence[Piece], version: int = 1) -> bytes:
    made = START.pack(b"pfmonsys", version)
    for kind, data in parts:
        packed = zstandard.ZstdCompressor().compress(data)
        head = struct.pack("<cII", kind, len(packed), len(data))
        made += head + struct.pack("<I", zlib.crc32(head + packed)) + packed
    return made


def with_head(snapshot: bytes, change: dict[str, Any]) -> bytes:
    """The same with other values in its head."""
    (kind, head), *rest = pieces(snapshot)
    return snapshot_of([(kind, json.dumps({**json.loads(head), **change}).encode()), *rest])
