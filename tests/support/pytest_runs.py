"""pytest in a process of its own, with pfmon's plugin and no other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import forked

PLUGINS = ("-p", "pfmon", "-p", "no:cacheprovider")
ALONE = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What pytest says of the tests in a folder, in a child of this process, which has it loaded."""
    return forked(words, lambda: _main(folder, words))


def _main(folder: Path, words: tuple[str, ...]) -> int:
    """As ``python -m pytest`` begins there."""
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    kept = _environment()
    os.environ.clear()
    os.environ.update(kept)
    return pytest.main([*PLUGINS, *words])


def start_pytest(folder: Path, *words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """The same of an interpreter that begins anew; ``path``: where programs are looked up."""
    environment = {**_environment(), **({} if path is None else {"PATH": path})}
    command = [sys.executable, "-m", "pytest", *PLUGINS, *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def _environment() -> dict[str, str]:
    """Without what this run of pytest has put there."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | {ALONE: "1"}
