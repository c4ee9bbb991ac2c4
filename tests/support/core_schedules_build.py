"""Compiles core_schedules.pyx, once a run of the tests."""

import importlib.util
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

HERE = Path(__file__).resolve().parent
NAME = "core_schedules"


@cache
def compiled() -> ModuleType:
    """The module."""
    with TemporaryDirectory() as folder:
        code, made = Path(folder, f"{NAME}.c"), Path(folder, f"{NAME}.so")
        words = ["-I", str(HERE.parents[1] / "src"), "-o", str(code), str(HERE / f"{NAME}.pyx")]
        subprocess.run([sys.executable, "-m", "cython", "-3", *words], check=True)
        include = f"-I{sysconfig.get_path('include')}"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", include, "-o", made, code], check=True)
        found = importlib.util.spec_from_file_location(NAME, made)
        assert found is not None and found.loader is not None
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
    return module
