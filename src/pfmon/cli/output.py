"""The places that results and the program's output go to."""

from __future__ import annotations

import os
import sys

from pfmon.errors import PfmonError
from pfmon.whole_files import write_whole


class Results:
    """Where results go: standard output, or a file that stays as it was until there are results."""

    def __init__(self, outfile: str, append: bool) -> None:
        """Raises PfmonError when the file could not be written."""
        self.outfile = outfile
        self.append = append
        self._early = ""
        self._standard = -1 if outfile else _standard_output()
        if append and not outfile:
            raise PfmonError("--append wants --outfile=FILE")
        if outfile:
            check_can_be_written(outfile, f"--outfile={outfile}")

    def early(self, text: str) -> None:
        """Results that come while the program runs: shown at once on standard output, kept for a file."""
        if not self.outfile:
            self._show(text)
        else:
            self._early += text

    def _show(self, text: str) -> None:
        with os.fdopen(os.dup(self._standard), "w") as stream:
            stream.write(text)

    def write(self, text: str) -> None:
        """Put the results where they belong, all at once."""
        text = self._early + text
        if not self.outfile:
            self._show(text)
        elif self.append:
            with open(self.outfile, "a") as stream:
                stream.write(text)
        else:
            write_whole(self.outfile, text)


def check_can_be_written(path: str, option: str) -> None:
    """PfmonError, in the words of the ``option`` that names the file, when it could not be written."""
    target = path if os.path.exists(path) else os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise PfmonError(f"{option}: is a directory")
    if not os.path.exists(target):
        raise PfmonError(f"{option}: there is no directory {target}")
    if not os.access(target, os.W_OK):
        raise PfmonError(f"{option}: no permission to write")


def _standard_output() -> int:
    """A descriptor of standard output that outlives what the program does to it."""
    if sys.stdout is None:  # closed when pfmon was started: descriptor 1 is something else by now
        raise PfmonError("standard output is closed; --outfile=FILE puts the results elsewhere")
    return os.dup(1)
