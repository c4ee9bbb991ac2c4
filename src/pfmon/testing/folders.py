"""A directory that has the same name in every run: what a test does follows, a little, from the names that it sees."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from zlib import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def folder_for(subject: str) -> Iterator[str]:
    """A new directory, which is removed behind it; it has another name if there is one for the subject already."""
    path = Path(gettempdir(), f"pfmon-{crc32(os.fsencode(subject)):08x}")
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        path = Path(mkdtemp(prefix="pfmon-"))
    try:
        yield str(path)
    finally:
        rmtree(path, ignore_errors=True)
