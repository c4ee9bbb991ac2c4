"""The start of a followed task: its program, for names, and the addresses of its triggers."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress

from pfmon.engine.api import Task
from pfmon.errors import BadValueError, PfmonError
from pfmon.library.preparing.symbol_lookup import symbols_of
from pfmon.library.resolving.request_builder import NOWHERE
from pfmon.library.resolving.run_parts import TriggerOptions
from pfmon.library.resolving.triggers import triggers
from pfmon.pmu.model.options import Resolve
from pfmon.pmu.qualify.breakpoint_ranges import BUNDLE
from pfmon.program import image
from pfmon.program.image import DebugDirectories, Program
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.program.mapped_files import MappedFile
from pfmon.session.run.controls import Trigger
from pfmon.session.run.run_plan import TaskStart


class TaskStarts:
    """``program`` and ``planned`` are those of the program that was named: what it forks has the same. ``wanted``: the
    triggers, unparsed; ``sysroot``, ``debug``: where programs and their debug files are."""

    def __init__(
        self,
        program: Program | None,
        planned: Sequence[Trigger],
        wanted: TriggerOptions,
        sysroot: str | None,
        debug: DebugDirectories,
    ) -> None:
        self._program, self._planned, self._wanted = program, planned, wanted
        self._sysroot, self._debug = sysroot, debug
        self._programs: dict[str, Program | None] = {}

    def __call__(self, task: Task | None, mapped: Callable[[], Sequence[MappedFile]]) -> TaskStart:
        debug = self._debug
        if task is None or task.named:
            return TaskStart(LoadedObjects(self._program, mapped, debug), self._planned)
        program = self._loaded(task)
        return TaskStart(LoadedObjects(program, mapped, debug), self._triggers(program))

    def _loaded(self, task: Task) -> Program | None:
        """The program that a task executed; None: it cannot be read, and has no names."""
        path = task.command[0]
        if not path.startswith("/"):
            with suppress(OSError):  # it is no process of the host
                path = f"{os.readlink(f'/proc/{task.pid}/cwd')}/{path}"
        if path not in self._programs:
            try:
                self._programs[path] = image.load(path, self._sysroot)
            except PfmonError:
                self._programs[path] = None
        return self._programs[path]

    def _triggers(self, program: Program | None) -> Sequence[Trigger]:
        if not self._wanted.addresses:
            return ()
        symbols = symbols_of((lambda: program) if program else None, None, self._debug)
        return triggers(self._wanted, *map(somewhere, (symbols.code, symbols.data)))


def somewhere(resolve: Resolve) -> Resolve:
    """A resolver for which a name that a program does not have is where nothing ever is."""
    nowhere: dict[str, int] = {}

    def resolved(text: str) -> tuple[int, int]:
        try:
            return resolve(text)
        except BadValueError:
            raise
        except PfmonError:
            start = nowhere.setdefault(text, NOWHERE + 2 * BUNDLE * len(nowhere))
            return start, start + BUNDLE

    return resolved
