"""The command in a process that can import no module from the start of its guest on.

``python no_late_imports.py FILE LIMIT WORD...``: FILE gets the name of each module whose import was refused, and the
stack of that import; LIMIT: bytes that a file may have from then on
("": any).
"""

import resource
import signal
import sys
import traceback
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from pfmon.__main__ import command
from pfmon.engine import registry

OPTIONAL = {"capstone.ccapstone"}
"""Modules that capstone looks for again and again and goes on without."""


class ImportBan:
    """The first finder of modules: refuses all, and notes them in a file."""

    def __init__(self, path: str, limit: str) -> None:
        self._path, self._limit = path, limit

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """Called for a module that is not in sys.modules (importlib.abc.MetaPathFinder)."""
        if name in OPTIONAL:
            return None
        with open(self._path, "a") as file:
            file.write(f"import of {name}\n{''.join(traceback.format_stack()[:-1])}\n")
        raise ImportError(f"{name} is imported after the start of the guest")

    def begin(self) -> None:
        """From here on nothing is imported."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
            if self._limit:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (int(self._limit), int(self._limit)))


def ban_at_start(ban: ImportBan) -> None:
    """The ban begins when an engine, or a recording's, is told to run."""

    def banned(made: Any) -> Any:
        def engine_of(*arguments: Any, **options: Any) -> Any:
            engine = made(*arguments, **options)
            run = engine.run

            def banned_run(*arguments: Any) -> Any:
                ban.begin()
                return run(*arguments)

            engine.run = banned_run
            return engine

        return engine_of

    registry.start, registry.replay = banned(registry.start), banned(registry.replay)


def main() -> None:
    """Run the command."""
    path, limit, *words = sys.argv[1:]
    sys.argv[1:] = words
    ban_at_start(ImportBan(path, limit))
    command()


if __name__ == "__main__":
    main()
