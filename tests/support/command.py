"""Running the pfmon command as a user does."""

import subprocess
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name: str) -> str:
    """The path of an example program."""
    return str(EXAMPLES / "ia64" / name)


def pfmon(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """What the command prints and returns."""
    return subprocess.run(
        [sys.executable, "-m", "pfmon", *words], capture_output=True, text=True, check=False, timeout=120, **options
    )


def refused(*words: str, **options: Any) -> str:
    """The one line that a mistake gets: exit status 2, nothing on standard output, no traceback."""
    done = pfmon(*words, **options)
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.startswith("pfmon: ")
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("\n")
    return done.stderr
