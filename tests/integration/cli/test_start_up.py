"""A count loads only what it needs: the modules here take 1 to 8 ms each, and a run has 0.1 s for all."""

import subprocess
import sys

import pytest
from command import example

SLOW = {"argparse", "bz2", "dataclasses", "difflib", "hashlib", "inspect", "logging", "pathlib", "shutil", "tomllib"}


@pytest.mark.slow
def test_a_count_imports_no_slow_module_that_it_does_not_need() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "pfmon", "-e", "ia64_inst_retired", example("noploop"), "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "pfmon.engine.ia64._ia64" in imported
    assert not SLOW & imported
