"""Destinations of results and of the program's output."""

from __future__ import annotations

import os
from collections.abc import Callable

from pfmon.atomic_write import append_whole, check_whole, write_whole
from pfmon.cli.output.printing import print_notice, print_text, standard_output, write_standard
from pfmon.errors import LostError, PfmonError, reason

STANDARD = "-"
"""The file name that stands for standard output."""


class ResultOutput:
    """The destination of results: standard output, or a file that is replaced atomically."""

    def __init__(self, outfile: str, append: bool, structured: bool = False) -> None:
        """``outfile``: "" and "-" are standard output; ``structured``: the results are JSON, without any other text.
        Raises PfmonError if the file cannot be written."""
        self.outfile = "" if outfile == STANDARD else outfile
        self.append = append
        self._early = ""
        self._structured = structured
        self._standard = -1 if self.outfile else standard_output()
        append_wants_a_file(self.outfile, append)
        if self.outfile:
            check_can_be_written(self.outfile, f"--outfile={self.outfile}")

    def said(self, text: str) -> None:
        """Write the text of --verbose: to standard error, or into a results file that is text."""
        if self.outfile and not self._structured:
            self._early += text
        else:
            print_text(text)

    def early(self, text: str) -> None:
        """Write results during the run: at once on standard output, with the final results in a file."""
        if not self.outfile:
            self._show(text)
        else:
            self._early += text

    def _show(self, text: str) -> None:
        write_standard(text, self._standard)

    def write(self, text: str) -> None:
        """Put the results where they belong, all at once. LostError: they cannot be written."""
        text = self._early + text
        if not self.outfile:
            self._show(text)
            return
        write_output(self.outfile, text, f"--outfile={self.outfile}", append=self.append)


class Outputs:
    """The outputs of a run that has ended: when one cannot be written, the others are."""

    def __init__(self) -> None:
        self._failed: list[PfmonError | BrokenPipeError] = []

    def write(self, one: Callable[[], int | None]) -> int:
        """Write one of them: what it returns."""
        try:
            return one() or 0
        except (PfmonError, BrokenPipeError) as error:
            self.add_error(error)
            return 0

    def add_error(self, error: PfmonError | BrokenPipeError) -> None:
        """Add the error of an output that could not be written; the same error is said once."""
        if str(error) not in map(str, self._failed):
            self._failed.append(error)

    def status(self, status: int) -> int:
        """The exit status when all is written. PfmonError, BrokenPipeError: the first that is not; others are said."""
        for error in self._failed[1:]:
            print_notice(str(error))
        if self._failed:
            raise self._failed[0]
        return status


def append_wants_a_file(outfile: str, append: bool) -> None:
    """Raise PfmonError for --append without a file."""
    if append and outfile in ("", STANDARD):
        raise PfmonError("--append wants --outfile=FILE").about("--append", "--outfile")


def check_can_be_written(path: str, option: str) -> None:
    """PfmonError, in the words of the ``option`` that names the file, when it could not be written."""
    subjects = (option, option.partition("=")[0])
    try:
        target = path if os.path.lexists(path) else os.path.dirname(os.path.abspath(path))
    except OSError as error:  # the current directory was removed
        raise PfmonError(f"{option}: {reason(error)}").about(*subjects) from None
    if os.path.isdir(path):
        raise PfmonError(f"{option}: is a directory").about(*subjects)
    if not os.path.lexists(target):
        raise PfmonError(f"{option}: there is no directory {target}").about(*subjects)
    try:
        check_whole(path)
    except PermissionError as error:
        why = reason(error)
        raise PfmonError(f"{option}: {'no permission to write' if why == 'permission denied' else why}").about(
            *subjects
        ) from None
    except (OSError, ValueError) as error:
        raise PfmonError(f"{option}: {reason(error)}").about(*subjects) from None


def write_output(path: str, text: str, option: str, append: bool = False) -> None:
    """Write a file whole, or append to it. LostError, in the words of the ``option`` that names the file: it cannot be
    written."""
    try:
        (append_whole if append else write_whole)(path, text)
    except OSError as error:
        raise LostError(f"{option}: {reason(error)}") from None


def check_crash_report(path: str, two_programs: bool) -> None:
    """PfmonError when a file of --crash-report could not be written; with two programs each has its own
    (library.coupled_programs.of_thread)."""
    names = (f"{path}.0", f"{path}.1") if two_programs else (path,)
    for name in names if path else ():
        check_can_be_written(name, f"--crash-report={path}")


def write_crash_report(path: str, report: str) -> None:
    """Write the report on a killed program to the file of --crash-report, if given. LostError: it cannot be written."""
    if not path:
        return
    if not report:
        print_notice("--crash-report: this program's engine provides no further details")
        return
    write_output(path, report, f"--crash-report={path}")
