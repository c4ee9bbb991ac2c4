"""Libraries that are loaded before the C library (LD_PRELOAD), compiled by the tests that want them."""

import shutil
import subprocess
from pathlib import Path

import pytest


def preloaded(text: str, folder: Path, *words: str) -> Path:
    """The library of a C text; ``words``: for the compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    source, library = folder / "preloaded.c", folder / "preloaded.so"
    source.write_text(text)
    made = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl", *words]
    subprocess.run(made, check=True)
    return library
