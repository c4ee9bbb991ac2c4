"""All compiled modules are in one extension file, and found there."""

import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from pfmon import compiled

PACKAGE = Path(compiled.HERE)
NAMES = Path(compiled.LIST).read_text().split()


def test_every_module_in_the_list_is_loaded_from_the_file() -> None:
    for name in NAMES:
        module = import_module(name)
        assert module.__file__ == compiled.FILE and module.__name__ == name


def test_the_list_is_that_of_the_sources() -> None:
    paths = PACKAGE.rglob("*.pyx")
    own = [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in paths]
    assert sorted(NAMES) == sorted(["pfmon._cython_utility", *own])


def test_no_module_has_an_extension_file_of_its_own() -> None:
    plugin = PACKAGE / "engine" / "qemu" / "plugin.so"  # qemu loads it, and Python does not
    assert [str(path) for path in PACKAGE.rglob("*.so") if path != plugin] == [compiled.FILE]


def test_other_names_are_left_to_other_finders() -> None:
    finder = compiled.Compiled()
    assert finder.find_spec("pfmon.errors", None) is None
    assert finder.find_spec("a", None) is None  # the last part of one of the names


def test_what_was_not_built_says_so(tmp_path: Path) -> None:
    (tmp_path / "pfmon").mkdir()
    for name in ("__init__.py", "compiled.py", "errors.py"):
        shutil.copy(PACKAGE / name, tmp_path / "pfmon")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import pfmon"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: pfmon is not built here")
