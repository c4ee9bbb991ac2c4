"""The examples in docs/dev/pmus.md and in docstrings run."""

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

from grids import each

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "dev" / "pmus.md"
MODULES = [
    "pfmon",
    "pfmon.pmu",
    "pfmon.pmu.model.pmu_model",
    "pfmon.pmu.model.request",
    "pfmon.pmu.qualify.opcodes",
    "pfmon.pmu.model.derived",
]


def test_the_pages_examples_run() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert tried > 15 and failed == 0


@each("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried and not failed


def test_the_package_has_its_pmus_without_another_import() -> None:
    code = "import pfmon; print(pfmon.pmu('Montecito').name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("montecito\n", "")
