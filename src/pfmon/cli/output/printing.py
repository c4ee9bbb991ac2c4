"""Texts on standard output, and notices on standard error, beside the results.

A standard error that is closed or full loses notices, and nothing else: neither counts nor the exit status.
"""

from __future__ import annotations

import os
import sys

from pfmon.errors import LostError, PfmonError, reason


def print_notice(text: str) -> None:
    """Print a notice of one line, unbuffered."""
    print_text(f"pfmon: {text}\n")


def print_text(text: str) -> None:
    """Print text, unbuffered."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def write_standard(text: str, descriptor: int = 1) -> None:
    """Write to standard output, all at once. LostError: it cannot be written; BrokenPipeError: nobody reads it."""
    left = memoryview(text.encode(errors="surrogateescape"))
    try:
        while left:
            left = left[os.write(descriptor, left) :]
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LostError(f"standard output: {reason(error)}; --outfile=FILE puts the results elsewhere") from None


def show(text: str) -> None:
    """Print an answer. PfmonError: standard output is closed; LostError: it takes no more."""
    if sys.stdout is None:
        raise PfmonError("standard output is closed")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LostError(f"standard output: {reason(error)}") from None


def standard_output() -> int:
    """Return a duplicate of standard output, which the program cannot close."""
    if sys.stdout is None:  # closed when pfmon was started: descriptor 1 may be another file by now
        raise PfmonError("standard output is closed; --outfile=FILE puts the results elsewhere").about("--outfile")
    try:
        os.write(1, b"")
    except OSError as error:
        raise PfmonError(f"standard output: {reason(error)}; --outfile=FILE puts the results elsewhere").about(
            "--outfile"
        ) from None
    return os.dup(1)
