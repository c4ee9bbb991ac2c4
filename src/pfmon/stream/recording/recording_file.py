"""Recordings: the stream in a file (docs/dev/stream.md).

``pfmonrec``, version, then pieces: kind, length, uncompressed length, CRC-32 of the data, and the data, compressed by
zstandard. The first piece is the head (JSON), the last one the end (JSON); between them mapped files (M, JSON) precede
the blocks (B) that they hold, and these precede the chunks of the stream (S) that name them. Files of the program (F:
SHA-256 in hexadecimal, content) and the text of its sources (T, JSON) are kept, so that names and lines are those of
the recorded program when it has been built anew. A file without its end was cut short.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from io import BufferedReader
from queue import Queue
from typing import Any, BinaryIO, NamedTuple

import zstandard

from pfmon.errors import PfmonError
from pfmon.worker import Worker

MAGIC = b"pfmonrec"
VERSION = 3
READABLE = (1, 2, 3)
"""Version 1 has no mapped files, 1 and 2 keep no files."""
START = struct.Struct("<8sI")
PIECE = struct.Struct("<cIII")
HEAD, MAPPED, BLOCKS, STREAM, FILE, TEXTS, END = b"H", b"M", b"B", b"S", b"F", b"T", b"E"
KINDS = (HEAD, MAPPED, BLOCKS, STREAM, FILE, TEXTS, END)
DIGEST_BYTES = 64
LEVEL = 1
WAITING = 4
"""Capacity of the queue to the compressing thread, in pieces."""
MAX_SECTION_BYTES = 1 << 30


class DamagedRecording(PfmonError):
    """A recording that is cut short, or whose contents have changed since it was written."""


class RecordingWriter:
    """Writes a recording; pieces are compressed in a thread of its own. OSError when the file takes no more."""

    def __init__(self, file: BinaryIO, head: Mapping[str, Any]) -> None:
        self._file = file
        self._compressor = zstandard.ZstdCompressor(level=LEVEL)
        self._error: OSError | MemoryError | None = None
        self._queue: Queue[tuple[bytes, bytes] | None] = Queue(WAITING)
        file.write(START.pack(MAGIC, VERSION))
        self._put(HEAD, json.dumps(head).encode())
        self._worker = Worker(self._work)
        self._working = True

    def chunk(self, blocks: bytes, chunk: bytes, mapped: Sequence[Mapping[str, Any]] = ()) -> None:
        """Writes the next chunk of the stream, its new blocks, and their new mapped files."""
        if self._error:
            raise self._error
        if mapped:
            self._queue.put((MAPPED, json.dumps({"files": mapped}).encode()))
        if blocks:
            self._queue.put((BLOCKS, blocks))
        self._queue.put((STREAM, chunk))

    def keep(self, digest: str, content: bytes) -> None:
        """Writes a file with its SHA-256."""
        self._queue.put((FILE, digest.encode() + content))

    def keep_texts(self, texts: Mapping[str, str]) -> None:
        """Writes the texts of source files by their paths."""
        self._queue.put((TEXTS, json.dumps(texts).encode()))

    def finish(self, end: Mapping[str, Any]) -> None:
        """Writes the queued pieces and the end of the recording, with how the program ended."""
        self._queue.put((END, json.dumps(end).encode()))
        self.stop()
        if self._error:
            raise self._error
        self._file.flush()

    def stop(self) -> None:
        """Write what is under way, and nothing after that."""
        if self._working:
            self._working = False
            self._queue.put(None)
            self._worker.wait()

    def _work(self) -> None:
        while piece := self._queue.get():
            if self._error is None:
                try:
                    self._put(*piece)
                except (OSError, MemoryError) as error:  # raised where the next piece comes from
                    self._error = error
                except zstandard.ZstdError as error:
                    self._error = MemoryError(str(error))

    def _put(self, kind: bytes, data: bytes) -> None:
        packed = self._compressor.compress(data)
        self._file.write(PIECE.pack(kind, len(packed), len(data), zlib.crc32(packed)))
        self._file.write(packed)


class RecordingPiece(NamedTuple):
    """One piece of a recording, unpacked."""

    kind: bytes
    data: bytes


class RecordingReader:
    """Reads a recording; raises Damaged where it is not whole."""

    def __init__(self, path: str) -> None:
        """Reads the head. PfmonError: there is no such file, or it is no recording."""
        self.path = path
        try:
            self._file: BufferedReader = open(path, "rb")  # noqa: SIM115 - closed by `close`
        except (OSError, ValueError) as error:
            raise PfmonError(f"{path}: {(getattr(error, 'strerror', None) or str(error)).lower()}") from None
        try:
            self.head = self._head()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def pieces(self, only: bytes = b"") -> Iterator[RecordingPiece]:
        """The pieces after the head, with the end; ``only`` those of one kind. Damaged: cut short or spoiled."""
        while True:
            piece = self._piece(only)
            if piece.kind == only or not only:
                yield piece
            if piece.kind == END:
                return

    def kept(self, digest: str) -> bytes | None:
        """The kept file with a SHA-256; None: there is none up to the first damage. Reads the file from its start."""
        reader = RecordingReader(self.path)
        try:
            for piece in reader.pieces(only=FILE):
                if piece.data.startswith(digest.encode()):
                    return piece.data[DIGEST_BYTES:]
        except DamagedRecording:  # who reads the stream reports it
            pass
        finally:
            reader.close()
        return None

    def _head(self) -> dict[str, Any]:
        try:
            start = self._file.read(START.size)
        except OSError as error:
            raise PfmonError(f"{self.path}: {(error.strerror or str(error)).lower()}") from None
        if len(start) < START.size or start[:8] != MAGIC:
            raise PfmonError(f"{self.path}: is not a recording; pfmon --record={self.path} PROGRAM makes one")
        version = START.unpack(start)[1]
        if version not in READABLE:
            raise PfmonError(
                f"{self.path}: is a recording of version {version}; this pfmon reads versions up to {VERSION}"
            )
        piece = self._piece()
        if piece.kind != HEAD:
            raise self._damaged(START.size, "its head is missing")
        return self.json(piece)

    def json(self, piece: RecordingPiece) -> dict[str, Any]:
        """Decodes a piece of JSON."""
        try:
            found = json.loads(piece.data)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise self._damaged(self._file.tell(), "it holds no JSON where it should")
        return found

    def _piece(self, only: bytes = b"") -> RecordingPiece:
        """Reads the next piece; ``only``: pieces of other kinds are not unpacked."""
        at = self._file.tell()
        raw = self._file.read(PIECE.size)
        if len(raw) < PIECE.size:
            raise self._damaged(at, "it ends there")
        kind, packed, length, check = PIECE.unpack(raw)
        if kind not in KINDS or length > MAX_SECTION_BYTES:
            raise self._damaged(at, "what follows is no piece of a recording")
        if only and kind != only:
            self._file.seek(packed, os.SEEK_CUR)
            return RecordingPiece(kind, b"")
        data = self._file.read(packed)
        if len(data) < packed:
            raise self._damaged(at, "it ends in the piece that begins there")
        if zlib.crc32(data) != check:
            raise self._damaged(at, "the piece there has another checksum")
        try:
            unpacked = zstandard.ZstdDecompressor().decompress(data, max_output_size=length)
        except zstandard.ZstdError:
            raise self._damaged(at, "the piece there cannot be unpacked") from None
        if len(unpacked) != length:
            raise self._damaged(at, "the piece there has another length")
        return RecordingPiece(kind, unpacked)

    def _damaged(self, at: int, why: str) -> DamagedRecording:
        return DamagedRecording(f"{self.path}: damaged at byte {at}: {why}; --partial gives the counts up to there")
