"""Snapshots of a system in a file (docs/dev/snapshots.md).

``pfmonsys``, version, then pieces: kind, length, uncompressed length, CRC-32 of kind, lengths and data, and the data,
compressed by zstandard. The first piece is the head (JSON), then come the processors (P), the parts of memory that are
not 0 (M: address, content), in order, and the end (E: how many pieces of memory there are). A file is hostile: lengths
are checked before anything is unpacked, and nothing of it is believed that is not checked.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import zstandard

from pfmon.errors import PfmonError, reason

MAGIC = b"pfmonsys"
VERSION = 1
START = struct.Struct("<8sI")
PIECE = struct.Struct("<cII")
CHECKSUM = struct.Struct("<I")
ADDRESS = struct.Struct("<Q")
HEAD, PROCESSOR, MEMORY, END = b"H", b"P", b"M", b"E"
ORDER = b"HPME"
"""Kinds of pieces in their order."""
PART = 1 << 20
"""Bytes of memory in a piece, at most."""
MOST_BYTES = PART + ADDRESS.size
PAGE = 1 << 14
"""What is left out if it is 0; memory is a multiple of it."""
NOTHING, EMPTY_PAGE = bytes(PART), bytes(PAGE)
LEVEL = 1


class SnapshotWriter:
    """Writes pieces. OSError when the file takes no more."""

    def __init__(self, file: BinaryIO, head: Mapping[str, Any]) -> None:
        self._file = file
        self._compressor = zstandard.ZstdCompressor(level=LEVEL)
        self._parts = 0
        file.write(START.pack(MAGIC, VERSION))
        self._put(HEAD, json.dumps(head).encode())

    def processor(self, state: bytes) -> None:
        """Write the state of a processor."""
        self._put(PROCESSOR, state)

    def memory(self, address: int, content: bytes) -> None:
        """Write what is not 0 of a part of memory, which has PART bytes at most."""
        at = len(content) if content == NOTHING else 0
        while at < len(content):
            start = at
            while at < len(content) and content[at : at + PAGE] != EMPTY_PAGE:
                at += PAGE
            if at > start:
                self._put(MEMORY, ADDRESS.pack(address + start) + content[start:at])
                self._parts += 1
            at += PAGE

    def finish(self) -> None:
        """Write the end."""
        self._put(END, ADDRESS.pack(self._parts))

    def _put(self, kind: bytes, data: bytes) -> None:
        packed = self._compressor.compress(data)
        head = PIECE.pack(kind, len(packed), len(data))
        self._file.write(head + CHECKSUM.pack(zlib.crc32(packed, zlib.crc32(head))))
        self._file.write(packed)


class SnapshotPiece(NamedTuple):
    """One piece, unpacked."""

    kind: bytes
    data: bytes


class SnapshotReader:
    """Reads a snapshot. PfmonError: it cannot be read, is none, or of another version, or damaged."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._decompressor = zstandard.ZstdDecompressor()
        try:
            self._file: BinaryIO = Path(path).open("rb")  # noqa: SIM115 - closed by `close`
        except (OSError, ValueError) as error:
            raise self.refused(reason(error) if isinstance(error, OSError) else "no such file") from None
        try:
            self._pieces = self._all()
            self.head = self._head()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def refused(self, why: str) -> PfmonError:
        """The error that says why it is of no use."""
        return PfmonError(f"--from-snapshot={self.path}: {why}").about("--from-snapshot")

    def damaged(self, what: str) -> PfmonError:
        """The error of contents that have changed since they were written."""
        return self.refused(f"damaged snapshot: {what}")

    def pieces(self) -> Iterator[SnapshotPiece]:
        """The pieces behind the head, but for the end."""
        parts = 0
        for piece in self._pieces:
            if piece.kind == END:
                if len(piece.data) != ADDRESS.size or ADDRESS.unpack(piece.data)[0] != parts or self._read(1):
                    raise self.damaged("something is missing, or there is more than its end")
                return
            parts += piece.kind == MEMORY
            yield piece
        raise self.damaged("it ends before its end")

    def _head(self) -> dict[str, Any]:
        piece = next(self._pieces, None)
        if piece is None or piece.kind != HEAD:
            raise self.damaged("it has no head")
        try:
            found = json.loads(piece.data)
        except (ValueError, RecursionError):
            raise self.damaged("its head is none") from None
        if not isinstance(found, dict):
            raise self.damaged("its head is none")
        return found

    def _all(self) -> Iterator[SnapshotPiece]:
        """All pieces, of which a kind never comes behind a later one."""
        start = self._read(START.size)
        if len(start) < START.size or not start.startswith(MAGIC):
            raise self.refused("is no snapshot of a system")
        version = START.unpack(start)[1]
        if version != VERSION:
            raise self.refused(f"is a snapshot of version {version}, and this pfmon reads version {VERSION}")
        before = -1
        while head := self._read(PIECE.size + CHECKSUM.size):
            piece = self._piece(head)
            place = ORDER.find(piece.kind)
            if place < max(before, 0) or place == before == 0:
                raise self.damaged("a piece is at a wrong place")
            before = place
            yield piece

    def _piece(self, head: bytes) -> SnapshotPiece:
        if len(head) < PIECE.size + CHECKSUM.size:
            raise self.damaged("it is cut short")
        kind, length, size = PIECE.unpack_from(head)
        if size > MOST_BYTES or length > size + MOST_BYTES:
            raise self.damaged("a piece is longer than any")
        packed = self._read(length)
        if len(packed) < length:
            raise self.damaged("it is cut short")
        if zlib.crc32(packed, zlib.crc32(head[: PIECE.size])) != CHECKSUM.unpack_from(head, PIECE.size)[0]:
            raise self.damaged("a checksum is wrong")
        try:
            fits = zstandard.frame_content_size(packed) == size
            data = self._decompressor.decompress(packed) if fits else b""
        except zstandard.ZstdError:
            raise self.damaged("a piece cannot be unpacked") from None
        if not fits or len(data) != size:
            raise self.damaged("a piece has another length")
        return SnapshotPiece(kind, data)

    def _read(self, length: int) -> bytes:
        try:
            return self._file.read(length)
        except OSError as error:
            raise self.refused(reason(error)) from None
