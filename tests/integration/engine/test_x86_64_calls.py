"""The x86_64 engine: what system calls return is what they return natively."""

import re
import subprocess
from pathlib import Path

import pytest
from x86_64_host import MARKS, PFMON, SUPPORT, compiled

pytestmark = [*MARKS, pytest.mark.slow]

PARTS = re.findall(r'^    \{"([-a-z]+)", ', (SUPPORT / "x86_64_calls.c").read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that prints what calls return."""
    return compiled(tmp_path_factory.mktemp("calls"), "calls", "-lrt", "-pthread")


@pytest.mark.parametrize("part", PARTS)
def test_calls_return_what_they_return_natively(calls: Path, part: str) -> None:
    native = subprocess.run([calls, part], capture_output=True, text=True, check=True)
    done = subprocess.run([*PFMON, "-e", "none", calls, part], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == native.stdout.splitlines()
    assert native.stdout
