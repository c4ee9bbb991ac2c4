"""The command's modules come from one file when it has them as they are, and from their sources otherwise."""

import marshal
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from guests import EXAMPLES

import pfmon

PACKAGE = Path(pfmon.__file__).parent
LOOK = """
import sys
import typing  # puts things into sys.modules that are no modules
from pfmon import code_cache
cache = code_cache.install()
import pfmon.part.inner
cache.keep()
inner, part = sys.modules["pfmon.part.inner"], sys.modules["pfmon.part"]
print(inner.VALUE, type(inner.__loader__).__name__, inner.__file__, part.__path__[0], inner.where())
"""


@pytest.fixture(name="place")
def package_with_a_module(tmp_path: Path) -> Path:
    """A folder with a package of this name that has the cache and a module."""
    package = tmp_path / "pfmon"
    (package / "part").mkdir(parents=True)
    shutil.copy(PACKAGE / "code_cache.py", package)
    for name in ("__init__.py", "part/__init__.py"):
        (package / name).write_text('"""A package."""\n')
    write(package, 1)
    return tmp_path


def write(package: Path, value: int) -> None:
    (package / "part" / "inner.py").write_text(
        f"import sys\nVALUE = {value}\ndef where():\n    return sys._getframe().f_code.co_filename\n"
    )


def look(place: Path, **environment: str) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        env={**kept, "PYTHONPATH": str(place), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


def file_of(place: Path) -> Path:
    (path,) = (place / "pfmon" / "__pycache__").glob("modules.*.bin")
    return path


def expected(place: Path, value: int, loader: str) -> list[str]:
    inner = place / "pfmon" / "part" / "inner.py"
    return [str(value), loader, str(inner), str(inner.parent), str(inner)]


def test_the_second_run_takes_modules_from_the_file(place: Path) -> None:
    assert look(place) == expected(place, 1, "SourceFileLoader")
    shutil.rmtree(place / "pfmon" / "part" / "__pycache__")
    assert look(place) == expected(place, 1, "Loader")
    assert not (place / "pfmon" / "part" / "__pycache__").exists()


def test_a_changed_module_is_loaded_from_its_source_and_kept(place: Path) -> None:
    look(place)
    write(place / "pfmon", 22)
    assert look(place) == expected(place, 22, "SourceFileLoader")
    assert look(place) == expected(place, 22, "Loader")


def test_a_change_that_leaves_the_size_is_seen(place: Path) -> None:
    look(place)
    write(place / "pfmon", 2)
    os.utime(place / "pfmon" / "part" / "inner.py", (4, 4))  # Python's own files tell no two times of a second apart
    assert look(place)[0] == "2"


def test_a_module_that_is_gone_is_not_found(place: Path) -> None:
    look(place)
    (place / "pfmon" / "part" / "inner.py").unlink()
    with pytest.raises(subprocess.CalledProcessError):
        look(place)


OTHER = marshal.dumps((1, 2, 3))


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\x00", b"no file of ours", marshal.dumps(3), OTHER),
        *(len(OTHER).to_bytes(8, "little") + OTHER, b"\xff" * 99, bytes(99)),
    ],
)
def test_a_file_that_cannot_be_used_is_none(place: Path, content: bytes) -> None:
    look(place)
    file_of(place).write_bytes(content)
    assert look(place) == expected(place, 1, "SourceFileLoader")
    assert look(place) == expected(place, 1, "Loader")


@pytest.mark.slow
def test_a_cut_file_is_none(place: Path) -> None:
    look(place)
    whole = file_of(place).read_bytes()
    for size in range(0, len(whole), 97):
        file_of(place).write_bytes(whole[:size])
        assert look(place)[:1] == ["1"]


@pytest.mark.parametrize("place_in_head", [0, 1])
def test_a_file_of_another_python_or_place_is_none(place: Path, place_in_head: int) -> None:
    look(place)
    whole = file_of(place).read_bytes()
    size = int.from_bytes(whole[:8], "little")
    values = list(marshal.loads(whole[8 : 8 + size]))
    values[place_in_head] = "another"
    head = marshal.dumps(tuple(values))
    file_of(place).write_bytes(len(head).to_bytes(8, "little") + head + whole[8 + size :])
    assert look(place) == expected(place, 1, "SourceFileLoader")


def test_a_package_that_was_moved_is_loaded_from_where_it_is(
    place: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    look(place)
    moved = tmp_path_factory.mktemp("moved")
    shutil.move(place / "pfmon", moved)
    assert look(moved) == expected(moved, 1, "SourceFileLoader")


@pytest.mark.parametrize("variable", ["PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"])
def test_where_python_writes_no_such_files_none_is_written(place: Path, variable: str) -> None:
    look(place, **{variable: str(place / "elsewhere")})
    assert not list((place / "pfmon").glob("__pycache__/modules*"))


def test_a_folder_that_cannot_be_written_is_no_error(place: Path) -> None:
    look(place)
    file = file_of(place)
    file.unlink()
    file.mkdir()
    (file / "in the way").touch()
    assert look(place) == expected(place, 1, "SourceFileLoader")
    assert [path.name for path in file.parent.glob("modules*")] == [file.name]


@pytest.mark.parametrize("options", [[], ["--record", "/dev/null"], ["--json"], ["--report", "cpi"]])
def test_commands_end_well_where_python_writes_such_files(options: list[str], tmp_path: Path) -> None:
    events = [] if "cpi" in options else ["-e", "ia64_inst_retired"]
    command = [sys.executable, "-m", "pfmon", *options, *events, str(EXAMPLES / "ia64" / "queens"), "4"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, env=kept, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
