"""The directory of a sweep: recordings and answers, known by what they are of, so that nothing is done twice."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from pathlib import Path

from pfmon.errors import PfmonError, reason
from pfmon.library.program import find_program
from pfmon.library.sweep.cell import digest_of
from pfmon.version import VERSION
from pfmon.whole_files import write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from pfmon.library.sweep.cell import Answer, Order
    from pfmon.library.sweep.plan import Cell, Program


class Store:
    """One sweep at a time has it: PfmonError while another one does, or when it cannot be written."""

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
        """Remove what was not whole when somebody was killed."""
        for name in ("recordings", "cells"):
            for path in (self.folder / name).glob(".*"):
                path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    # --- recordings

    def recording_order(self, program: Program) -> Order:
        """What makes a program's recording."""
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

    def recording(self, program: Program) -> str:
        """Where its recording is, or will be."""
        return program.recording or str(self.recording_order(program)["path"])

    def _digest(self, path: str) -> str:
        if path not in self._digests:
            self._digests[path] = digest_of(path)
        return self._digests[path]

    # --- cells

    def cell_order(self, cell: Cell, recording: str, beside: str = "") -> Order:
        """What counts a cell; ``beside``: the recording that the second hardware thread runs."""
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
        """What its answer is known by: the recordings, all figures of the machine, the events."""
        of = [VERSION, self._digest(recording), cell.content, cell.pmu, cell.events, cell.cpi]
        return _key([*of, self._digest(beside)] if beside else of)

    def answer(self, key: str) -> Answer | None:
        """The answer that is there; a damaged one is as good as none."""
        try:
            found: Answer = json.loads((self.folder / "cells" / f"{key}.json").read_text())
        except (OSError, ValueError):
            return None
        return found

    def keep(self, key: str, answer: Answer) -> None:
        """Keep an answer. PfmonError: it cannot be written."""
        path = self.folder / "cells" / f"{key}.json"
        try:
            write_whole(str(path), json.dumps(answer) + "\n")
        except OSError as error:
            raise PfmonError(f"{path}: {reason(error)}") from None


def _key(of: Any) -> str:
    return hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()[:32]
