"""The places that results and the program's output go to."""

from __future__ import annotations

import os
import sys

from pfmon.errors import PfmonError
from pfmon.whole_files import write_whole

STANDARD = "-"
"""The name of standard output where a file's is wanted."""


class Results:
    """Where results go: standard output, or a file that stays as it was until there are results."""

    def __init__(self, outfile: str, append: bool, structured: bool = False) -> None:
        """``outfile``: "" and "-" are standard output; ``structured``: the results are JSON, which nothing else may
        stand in. Raises PfmonError when the file could not be written."""
        self.outfile = "" if outfile == STANDARD else outfile
        self.append = append
        self._early = ""
        self._structured = structured
        self._standard = -1 if self.outfile else _standard_output()
        append_wants_a_file(self.outfile, append)
        if self.outfile:
            check_can_be_written(self.outfile, f"--outfile={self.outfile}")

    def said(self, text: str) -> None:
        """What --verbose says before the run: to standard error, or into a file of results that are text."""
        if self.outfile and not self._structured:
            self._early += text
        else:
            sys.stderr.write(text)

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


def append_wants_a_file(outfile: str, append: bool) -> None:
    """PfmonError: --append without a file to add to."""
    if append and outfile in ("", STANDARD):
        raise PfmonError("--append wants --outfile=FILE")


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
