"""pytest in a process of its own, with pfmon's plugin and no other."""

import os
import subprocess
import sys
from pathlib import Path


def run_pytest(folder: Path, *words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """What pytest says of the tests in a folder; ``path``: where programs are looked up."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **({} if path is None else {"PATH": path})}
    command = [sys.executable, "-m", "pytest", "-p", "pfmon", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
