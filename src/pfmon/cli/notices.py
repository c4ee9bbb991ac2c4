"""Notices on standard error, beside the results.

A standard error that is closed or full loses notices, and nothing else: neither counts nor the exit status.
"""

from __future__ import annotations

import sys


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
