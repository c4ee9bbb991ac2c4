"""Recording of a run while it is counted."""

from __future__ import annotations

import os
from typing import Any

from pfmon.atomic_write import WholeFile
from pfmon.engine.api import Engine, ExitReport, StartRequest
from pfmon.errors import LostError, PfmonError, reason
from pfmon.program.file_digest import digest
from pfmon.program.image import Image
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.program.mapped_files import MappedFile, contents
from pfmon.session.run.kept_files import KeptFiles, texts
from pfmon.session.run.monitoring import nothing_is_lost
from pfmon.stream._stream import Consumer, Encoder, Failure, Tee
from pfmon.stream.recording.recording_file import RecordingWriter
from pfmon.version import VERSION


class RunRecording:
    """Writes an engine's stream to a file, which is replaced only by a complete recording."""

    def __init__(self, path: str, start: StartRequest, engine: Engine) -> None:
        """PfmonError: the file cannot be written."""
        self._path = path
        self._engine = engine
        try:
            self._whole = WholeFile(path)
        except (OSError, ValueError) as error:
            raise PfmonError(f"--record={path}: {reason(error)}").about("--record") from None
        try:
            self._kept = KeptFiles(start.settings.sysroot)
            self._writer = RecordingWriter(self._whole.file, _head(start, engine, self._kept))
        except (OSError, MemoryError) as error:
            self._whole.abandon()
            raise LostError(f"--record={path}: {reason(error)}") from None
        self._encoder: Encoder | None = None
        self._mapped = 0
        self._error: BaseException | None = None
        self._objects = LoadedObjects(start.program, lambda: self._engine.mapped)
        for image in start.program.images:
            if image.path in self._kept.paths:
                self._writer.keep(digest(image.data), image.data)

    def consumer(self, reader: Consumer, addresses: bool) -> Consumer:
        """Return the engine's consumer, which records and passes the stream to ``reader``; ``addresses``: the reader
        needs them."""
        self._encoder = Encoder(self._engine.table, self._engine.traced, self._chunk, None if addresses else reader)
        return Tee(self._encoder, reader) if addresses else self._encoder

    def _chunk(self, blocks: bytes, chunk: bytes) -> None:
        """Write the next chunk of the stream, its new blocks, and the files mapped before it. After an error nothing
        more is written, and the run goes on."""
        if self._error:
            return
        mapped = self._engine.mapped[self._mapped :]
        self._mapped += len(mapped)
        try:
            self._writer.chunk(blocks, chunk, [self._mapped_file(one) for one in mapped])
        except (OSError, MemoryError) as error:
            self._error = error

    def finish(self, ending: ExitReport | None) -> LostError | None:
        """Complete the recording; return the error if it could not be written: the previous file stays. LostError: the
        stream is incomplete."""
        encoder = self._encoder
        assert encoder is not None  # set when the program ran
        try:
            encoder.finish()
            nothing_is_lost([self._engine.table.failure])
            if encoder.error:
                raise encoder.error
            if encoder.failure != Failure.NO_FAILURE:
                raise LostError(f"--record={self._path}: {encoder.failure.name}")
            if self._error:
                raise self._error
            self._keep_texts()
            threads = [list(one) for one in self._engine.threads]
            end = {"retired": self._engine.retired, "ending": list(ending) if ending else None, "threads": threads}
            self._writer.finish(end)
            self._whole.finish()
        except LostError:
            self.abandon()
            raise
        except (OSError, MemoryError) as error:
            self.abandon()
            failed = LostError(f"--record={self._path}: the recording could not be written: {reason(error)}")
            if encoder.error:  # then the counters have not seen the whole stream
                raise failed from None
            return failed
        return None

    def _mapped_file(self, mapped: MappedFile) -> dict[str, Any]:
        """Return a recording's entry of a file that the program maps; one that cannot be read now will have no
        names."""
        data = mapped.content or contents(mapped.path)
        found = mapped._replace(sha256="" if data is None else digest(data))
        known = mapped.path in self._kept.paths
        kept = data is not None and self._kept.takes(mapped.path, data)
        if data is not None and kept and not known:
            self._writer.keep(found.sha256, data)
        return {name: value for name, value in found._asdict().items() if name != "content"} | {"kept": kept}

    def _keep_texts(self) -> None:
        """Keep the sources of the executed code of kept files."""
        table = self._engine.table
        found = texts(self._objects, (table.block(number).ip for number in table.numbers()), self._kept.paths)
        if found:
            self._writer.keep_texts(found)

    def abandon(self) -> None:
        """There will be no recording, if there is none yet."""
        self._writer.stop()
        self._whole.abandon()


def _head(start: StartRequest, engine: Engine, kept: KeptFiles) -> dict[str, Any]:
    """Return a recording's header about the run: keys as in docs/dev/stream.md."""
    images = start.program.images
    return {
        "pfmon": VERSION,
        "instruction_set": int(engine.instruction_set),
        "payload_bytes": engine.table.payload_bytes,
        "traced": engine.traced,
        "command": [os.fsdecode(word) for word in start.arguments],
        "processor": start.processor,
        "sysroot": start.settings.sysroot,
        "nanoseconds_per_instruction": start.settings.nanoseconds_per_instruction,
        "files": [_file(image, kept) for image in images],
        "system": start.system is not None,
    }


def _file(image: Image, kept: KeptFiles) -> dict[str, Any]:
    """Return a recording's entry of a file."""
    path = image.path if os.path.isabs(image.path) else os.path.join(os.getcwd(), image.path)
    sha256, taken = digest(image.data), kept.takes(image.path, image.data)
    return {"path": path, "sha256": sha256, "bias": image.bias, "kept": taken}
