"""The places that results and the program's output go to."""

import os
import sys
from typing import TYPE_CHECKING

from pfmon.errors import PfmonError

if TYPE_CHECKING:
    from pathlib import Path  # takes long to load, and is wanted for files only


class Results:
    """Where results go: standard output, or a file that stays as it was until there are results."""

    def __init__(self, outfile: str, append: bool) -> None:
        """Raises PfmonError when the file could not be written."""
        self.outfile = _path(outfile) if outfile else None
        self.append = append
        self._early = ""
        self._standard = -1 if outfile else _standard_output()
        if append and not outfile:
            raise PfmonError("--append wants --outfile=FILE")
        if self.outfile is not None:
            self._check(self.outfile)

    @staticmethod
    def _check(path: "Path") -> None:
        target = path if path.exists() else path.absolute().parent
        if path.is_dir():
            raise PfmonError(f"--outfile={path}: is a directory")
        if not target.exists():
            raise PfmonError(f"--outfile={path}: there is no directory {target}")
        if not os.access(target, os.W_OK):
            raise PfmonError(f"--outfile={path}: no permission to write")

    def early(self, text: str) -> None:
        """Results that come while the program runs: shown at once on standard output, kept for a file."""
        if self.outfile is None:
            self._show(text)
        else:
            self._early += text

    def _show(self, text: str) -> None:
        with os.fdopen(os.dup(self._standard), "w") as stream:
            stream.write(text)

    def write(self, text: str) -> None:
        """Put the results where they belong, all at once."""
        text = self._early + text
        if self.outfile is None:
            self._show(text)
        elif self.append:
            with self.outfile.open("a") as stream:
                stream.write(text)
        else:
            self._replace(self.outfile, text)

    @staticmethod
    def _replace(path: "Path", text: str) -> None:
        if path.exists() and not path.is_file():  # a device or a pipe
            path.write_text(text)
            return
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        fresh.write_text(text)
        fresh.replace(path)


def _path(name: str) -> "Path":
    from pathlib import Path

    return Path(name)


def _standard_output() -> int:
    """A descriptor of standard output that outlives what the program does to it."""
    if sys.stdout is None:  # closed when pfmon was started: descriptor 1 is something else by now
        raise PfmonError("standard output is closed; --outfile=FILE puts the results elsewhere")
    return os.dup(1)
