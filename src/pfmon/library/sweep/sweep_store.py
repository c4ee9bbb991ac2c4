"""The directory of a sweep: recordings and answers, keyed by their inputs, so that no work is repeated."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from pathlib import Path
from typing import Any, Self

from pfmon.atomic_write import write_whole
from pfmon.errors import PfmonError, reason
from pfmon.library.resolving.command_program import find_program
from pfmon.library.sweep.sweep_cell import Answer, Order, digest_of
from pfmon.library.sweep.sweep_plan import Cell
from pfmon.library.sweep.sweep_programs import SweepProgram
from pfmon.version import VERSION


class Store:
    """The directory, locked by one sweep. PfmonError: another sweep has locked it, or it cannot be written."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self._digests: dict[str, str] = {}
        try:
            for name in ("recordings", "cells"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder / "lock", os.O_CREAT | os.O_RDWR, 0o644)
        except OSError as error:
            raise PfmonError(f"{folder}: {reason(error)}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise PfmonError(f"{folder}: another sweep is at work there") from None
        self._clear()

    def _clear(self) -> None:
        """Remove incomplete files of killed processes."""
        for name in ("recordings", "cells"):
            for path in (self.folder / name).glob(".*"):
                path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    # --- recordings

    def recording_order(self, program: SweepProgram) -> Order:
        """Return the order that records a program."""
        command = [find_program(program.command[0]), *program.command[1:]]
        of = [VERSION, command, self._digest(command[0]), dict(program.options)]
        of.append(self._digest(program.input) if program.input else "")
        path = self.folder / "recordings" / _key(of)
        return {
            "do": "record",
            "pfmon": VERSION,
            "path": str(path),
            "command": command,
            "input": program.input,
            "options": dict(program.options),
        }

    def recording(self, program: SweepProgram) -> str:
        """Return the path of a program's recording, existing or not."""
        return program.recording or str(self.recording_order(program)["path"])

    def _digest(self, path: str) -> str:
        if path not in self._digests:
            self._digests[path] = digest_of(path)
        return self._digests[path]

    # --- cells

    def cell_order(self, cell: Cell, recording: str, beside: str = "") -> Order:
        """Return the order that counts a cell; ``beside``: the recording of the second hardware thread."""
        return {
            "do": "count",
            "pfmon": VERSION,
            "path": str(Path(recording).absolute()),
            "digest": self._digest(recording),
            "beside": str(Path(beside).absolute()) if beside else "",
            "beside_digest": self._digest(beside) if beside else "",
            "machine": cell.base,
            "settings": list(cell.settings),
            "pmu": cell.pmu,
            "events": list(cell.events),
            "cpi": cell.cpi,
        }

    def cell_key(self, cell: Cell, recording: str, beside: str = "") -> str:
        """Return the key of a cell's answer, from the recordings, all figures of the machine and the events."""
        of = [VERSION, self._digest(recording), cell.content, cell.pmu, cell.events, cell.cpi]
        return _key([*of, self._digest(beside)] if beside else of)

    def answer(self, key: str) -> Answer | None:
        """Return the stored answer, None if there is none or it is damaged."""
        try:
            found: Answer = json.loads((self.folder / "cells" / f"{key}.json").read_text())
        except (OSError, ValueError):
            return None
        return found

    def keep(self, key: str, answer: Answer) -> None:
        """Store an answer. PfmonError: it cannot be written."""
        path = self.folder / "cells" / f"{key}.json"
        try:
            write_whole(str(path), json.dumps(answer) + "\n")
        except OSError as error:
            raise PfmonError(f"{path}: {reason(error)}") from None


def _key(of: Any) -> str:
    return hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()[:32]
