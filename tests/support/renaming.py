"""Names that another process changes meanwhile."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SWAP = """
import os, sys
os.chdir(sys.argv[1])
print(flush=True)
while True:
    os.rename("here", "spare"); os.rename("link", "here")
    os.rename("here", "link"); os.rename("spare", "here")
"""


@contextmanager
def renaming(root: Path) -> Iterator[None]:
    """Another process swaps the directory `here` and the link `link` all the time."""
    with subprocess.Popen([sys.executable, "-c", SWAP, root], stdout=subprocess.PIPE) as other:
        assert other.stdout
        other.stdout.readline()
        yield
        other.kill()
