"""A directory with the same name in every run: the counts of a test depend slightly on the names that it sees."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from zlib import crc32


@contextmanager
def folder_for(subject: str) -> Iterator[str]:
    """Yield a new directory and remove it afterwards; its name differs if the subject's directory exists already."""
    path = Path(gettempdir(), f"pfmon-{crc32(os.fsencode(subject)):08x}")
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        path = Path(mkdtemp(prefix="pfmon-"))
    try:
        yield str(path)
    finally:
        rmtree(path, ignore_errors=True)
