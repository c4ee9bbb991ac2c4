"""Python in a process of its own in which a guest's memory lies between pages that nobody may touch."""

import os
import subprocess
import sys
from pathlib import Path

SUPPORT = Path(__file__).parent


def guards(directory: Path) -> Path:
    """The library that puts them there."""
    library = directory / "guarded_memory.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, SUPPORT / "guarded_memory.c"], check=True)
    return library


def run_guarded(directory: Path, *words: str, seconds: int = 300) -> subprocess.CompletedProcess[str]:
    """Python with these words, among the tests' support."""
    paths = os.pathsep.join(path for path in [str(SUPPORT), *sys.path] if path)
    environment = {**os.environ, "LD_PRELOAD": str(guards(directory)), "PYTHONPATH": paths, "PYTHONFAULTHANDLER": "1"}
    command = [sys.executable, *words]
    return subprocess.run(
        command, env=environment, cwd=SUPPORT.parents[1], capture_output=True, text=True, timeout=seconds, check=False
    )
