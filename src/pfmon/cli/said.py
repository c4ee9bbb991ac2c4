"""What pfmon says beside its results: on standard error, where that takes it.

A standard error that is closed or full loses what is said, and nothing else: neither counts nor the exit status.
"""

from __future__ import annotations

import sys


def say(text: str) -> None:
    """A line for the user, at once."""
    say_text(f"pfmon: {text}\n")


def say_text(text: str) -> None:
    """Text for the user, at once."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        return
