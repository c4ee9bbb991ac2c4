"""Engines that a test does not close are files until they are collected, and select() takes no more than 1024."""

import gc
from pathlib import Path

MANY_FILES = 200


def open_files() -> int:
    """How many files this process has open."""
    return len([*Path("/proc/self/fd").iterdir()])


class Kept:
    """Files that were still open behind the last collection: those of engines that tests keep."""

    files = 0


def close_collected() -> None:
    """With all that tests keep, a collection takes longer than most tests: one is due only when many files are new."""
    if open_files() > Kept.files + MANY_FILES:
        gc.collect()
        Kept.files = open_files()
