"""The engine that replays a recording word by word: any event can be counted, on any machine, at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pfmon.engine.api import Capabilities, ExitReport
from pfmon.engine.guest_pmu import PerformanceData
from pfmon.errors import PfmonError
from pfmon.isa.common.instruction_properties import MODULES, properties
from pfmon.needed_modules import import_needed
from pfmon.program import image, system_image
from pfmon.program.file_digest import digest
from pfmon.program.guest_functions import GuestFunction
from pfmon.program.image import Program
from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import BlockTable, Consumer, Decoder, InstructionSet, enter_blocks
from pfmon.stream.recording.recording_file import (
    BLOCKS,
    END,
    MAPPED,
    STREAM,
    TEXTS,
    DamagedRecording,
    RecordingPiece,
    RecordingReader,
)

if TYPE_CHECKING:
    from pfmon.program.loaded_objects import LoadedObjects


class ReplayEngine:
    """A recorded run. ``partial``: replay a damaged recording up to the damage; ``addresses``: with those of
    accesses; ``listing``: code is listed after the run."""

    def __init__(self, path: str, *, partial: bool = False, addresses: bool = False, listing: bool = False) -> None:
        """Read the head of a recording. Raises PfmonError."""
        self._reader = RecordingReader(path)
        self._head = self._reader.head
        self._partial = partial
        self._stopping = False
        self._listed: Program | None = None
        self.mapped: list[MappedFile] = []
        """The files that the program had mapped executable so far."""
        self.sources: Mapping[str, str] = {}
        """The kept source files by path, once they have been read at the end."""
        self._kept: dict[str, bytes] = {}
        self._threads: list[tuple[int, int]] | None = None
        self.damage = ""
        """The place of the damage, once a partial run has reached it."""
        try:
            self.instruction_set = InstructionSet(int(self._head["instruction_set"]))
            self.traced = bool(self._head["traced"]) and addresses
            self.table = BlockTable(self.instruction_set, int(self._head["payload_bytes"]))
            self.command: list[str] = [str(word) for word in self._head["command"]]
            self._files: list[dict[str, Any]] = list(self._head["files"])
            self._system = bool(self._head.get("system", False))
            self.table.whole_system = self._system
        except (KeyError, TypeError, ValueError) as error:
            raise PfmonError(f"{path}: its head is not that of a recording: {error}") from None
        if listing:
            self._import_listing()
        self.retired = 0
        self.ip = 0

    def program(self, sysroot: str | None = None) -> Program:
        """The recorded program, at its addresses, for its symbols. PfmonError: the file is gone or has changed, and is
        not kept."""
        if self._listed is None:
            path, kept = str(self._files[0]["path"]), self._content(self._files[0])
            loaded = (
                system_image.load(path, kept or None)
                if self._system
                else image.load(path, sysroot or self._head.get("sysroot"), content=kept or None)
            )
            images = []
            for one, recorded in zip(loaded.images, self._files, strict=False):
                if digest(one.data) != recorded["sha256"]:
                    raise PfmonError(f"{one.path}: has changed since {self._reader.path} was recorded")
                bias = recorded.get("bias")
                images.append(one._replace(bias=bias if isinstance(bias, int) else one.bias))
            self._listed = Program(images[0], images[1] if len(images) > 1 else None)
        return self._listed

    @property
    def capabilities(self) -> Capabilities:
        """Its features."""
        system = self._system
        return Capabilities(addresses=True, performance_data=False, takes_turns=True, system=system, regions=not system)

    functions: Sequence[GuestFunction] = ()
    """No Python functions are marked."""

    @property
    def threads(self) -> Sequence[tuple[int, int]]:
        """The turns of its threads, if the recording is whole."""
        if self._threads is None:
            reader = RecordingReader(self._reader.path)
            self._threads = []
            try:
                for piece in reader.pieces(only=END):
                    self._threads = [(int(one), int(other)) for one, other in reader.json(piece).get("threads", ())]
            except (ValueError, TypeError, DamagedRecording):  # `run` reports it
                pass
            finally:
                reader.close()
        return self._threads

    def set_monitoring(self, on: bool, locked: bool) -> None:
        """PfmonError when the program is to read counters: a recording does not change."""
        if not locked:
            raise PfmonError("--insecure: a recorded program cannot read counters; run the program itself")

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        """Write the stream to the consumer. Damaged: the recording is not whole (without ``partial``)."""
        decoder = Decoder(self.table, bool(self._head["traced"]), self.traced)
        try:
            for piece in self._reader.pieces():
                if self._stopping:
                    return None
                if piece.kind == BLOCKS:
                    enter_blocks(self.table, piece.data)
                elif piece.kind == STREAM:
                    decoder.decode(piece.data, consumer)
                elif piece.kind == MAPPED:
                    self.mapped += self._files_in(piece)
                elif piece.kind == TEXTS:
                    self.sources = {path: str(text) for path, text in self._reader.json(piece).items()}
                elif piece.kind == END:
                    end = self._reader.json(piece)
                    self.retired = int(end["retired"])
                    return ExitReport(*end["ending"]) if end["ending"] else None
        except (ValueError, DamagedRecording) as error:
            damage = (
                error
                if isinstance(error, DamagedRecording)
                else DamagedRecording(f"{self._reader.path}: damaged: {error}")
            )
            if not self._partial:
                raise damage from None
            self.damage = str(damage).partition("; --partial")[0]
        return None

    def everything_mapped(self) -> list[MappedFile]:
        """All files that the program maps executable, up to the first damage."""
        reader = RecordingReader(self._reader.path)
        found: list[MappedFile] = []
        try:
            for piece in reader.pieces(only=MAPPED):
                found += self._files_in(piece)
        except DamagedRecording:  # `run` reports it
            pass
        finally:
            reader.close()
        return found

    def _files_in(self, piece: RecordingPiece) -> list[MappedFile]:
        try:
            return [self._mapped_file(**one) for one in self._reader.json(piece)["files"]]
        except (KeyError, TypeError) as error:
            raise ValueError(f"files that are mapped: {error}") from None

    def _mapped_file(self, kept: bool = False, **fields: Any) -> MappedFile:
        one = MappedFile(**fields)
        return one._replace(content=self._content({"sha256": one.sha256, "kept": kept}))

    def _content(self, file: Mapping[str, Any]) -> bytes:
        """Return the content of a file that the recording keeps; empty: it does not."""
        if not file.get("kept"):
            return b""
        sha256 = str(file["sha256"])
        if sha256 not in self._kept:
            self._kept[sha256] = self._reader.kept(sha256) or b""
        return self._kept[sha256]

    def stop(self) -> None:
        """Make `run` return after the next chunk."""
        self._stopping = True

    def _import_listing(self) -> None:
        """Import what lists code, before the recording is read."""
        module = MODULES.get(self.instruction_set, "pfmon.engine.qemu.describe.capstone_listing")
        import_needed({module: True, "pfmon.program.loaded_objects": True})

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        """Address | slot and text of every instruction in a range of code: from the program's file, or, where
        instructions differ in length, from the executed blocks."""
        if self.instruction_set not in MODULES:
            from pfmon.engine.qemu.describe.capstone_listing import listing
            from pfmon.engine.qemu.qemu_targets import TARGETS

            return listing(self.table, TARGETS[self.instruction_set], first, beyond)
        instructions = properties(self.instruction_set)
        return instructions.listing(self._objects().bundle, first, beyond)

    def _objects(self) -> LoadedObjects:
        """The program's files, with symbols and code."""
        from pfmon.program.loaded_objects import LoadedObjects

        return LoadedObjects(self.program(), lambda: self.mapped)

    def close(self) -> None:
        """Close the file."""
        self._reader.close()
