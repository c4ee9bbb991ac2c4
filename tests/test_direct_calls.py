"""Calls between compiled modules by name: which calls become such, and that they do what they did."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "building"))
direct_calls = pytest.importorskip("direct_calls")  # a source tree has it, an installed package has not
sys.path.remove(str(ROOT / "building"))

BASE_PXD = """
cdef class Shape:
    cdef long side
    cdef long area(self) noexcept nogil
    cdef long edge(self) noexcept nogil

cdef class Wide(Shape):
    cdef long around(self) noexcept nogil

cdef long doubled(long number) noexcept nogil
"""
BASE = """
cdef class Shape:
    def __init__(self, side):
        self.side = side

    cdef long area(self) noexcept nogil:
        return self.side * self.side

    cdef long edge(self) noexcept nogil:
        return self.side


cdef class Wide(Shape):
    cdef long area(self) noexcept nogil:
        return 2 * self.side * self.side

    cdef long around(self) noexcept nogil:
        return 4 * self.edge() + self.area()


cdef long doubled(long number) noexcept nogil:
    return 2 * number
"""
USER = """
from shapes cimport Shape, Wide, doubled

def area(Shape shape):
    return shape.area()

def edge(Shape shape):
    return shape.edge()

def edge_of_wide(Wide shape):
    return shape.edge()

def around(Wide shape):
    return shape.around()

def twice(number):
    return doubled(number)
"""
RUN = """
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
import sys
def loaded(name):
    loader = ExtensionFileLoader(name, sys.argv[1])
    module = module_from_spec(spec_from_loader(name, loader))
    sys.modules[name] = module
    loader.exec_module(module)
    return module
shapes, user = loaded("shapes"), loaded("user")
small, wide = shapes.Shape(3), shapes.Wide(5)
print(user.area(small), user.area(wide), user.edge(small), user.edge_of_wide(wide), user.around(wide), user.twice(21))
"""


@pytest.fixture(name="sources", scope="module")
def c_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("modules")
    for name, text in (("shapes.pxd", BASE_PXD), ("shapes.pyx", BASE), ("user.pyx", USER)):
        (folder / name).write_text(text)
    subprocess.run([sys.executable, "-m", "cython", "-3", "shapes.pyx", "user.pyx"], cwd=folder, check=True)
    return [folder / "shapes.c", folder / "user.c"]


def written(sources: list[Path], tmp_path: Path) -> dict[str, Path]:
    return {path.name: path for path in direct_calls.write_rewritten(sources, [], sources[0].parent, tmp_path)}


def through_tables(path: Path) -> set[str]:
    """The methods that a file calls through a table."""
    return set(re.findall(r"__pyx_vtab\)->(?:__pyx_base\.)*(\w+)\(", path.read_text()))


@pytest.mark.slow
def test_what_nothing_overrides_is_called_by_name(sources: list[Path], tmp_path: Path) -> None:
    assert through_tables(sources[1]) == {"area", "edge", "around"}
    files = written(sources, tmp_path)
    assert through_tables(files["user.c"]) == {"area"} == through_tables(files["shapes.c"])
    assert "(*__pyx_f_6shapes_doubled)" in sources[1].read_text()
    assert "(*__pyx_f_6shapes_doubled)" not in files["user.c"].read_text()


@pytest.mark.slow
def test_a_class_in_a_file_that_stays_as_it_is_may_override(sources: list[Path], tmp_path: Path) -> None:
    override = sources[0].parent / "other.pyx"
    override.write_text("""
from shapes cimport Shape
cdef class Thin(Shape):
    cdef long edge(self) noexcept nogil:
        return 1
""")
    subprocess.run([sys.executable, "-m", "cython", "-3", override.name], cwd=override.parent, check=True)
    files = direct_calls.write_rewritten(sources, [override.with_suffix(".c")], override.parent, tmp_path)
    assert through_tables(files[1]) == {"area", "edge"}


@pytest.mark.slow
def test_the_results_are_the_same(sources: list[Path], tmp_path: Path) -> None:
    from sysconfig import get_path

    files = written(sources, tmp_path)
    library = tmp_path / "both.so"
    command = ["gcc", "-O1", "-w", "-shared", "-fPIC", f"-I{get_path('include')}", "-o", str(library)]
    subprocess.run([*command, *map(str, files.values())], check=True)
    done = subprocess.run([sys.executable, "-c", RUN, str(library)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["9", "50", "3", "5", str(4 * 5 + 50), "42"]


@pytest.mark.slow
def test_a_file_that_did_not_change_is_not_written(sources: list[Path], tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in written(sources, tmp_path).values()}
    assert before == {path: path.stat().st_mtime_ns for path in written(sources, tmp_path).values()}


def test_the_loop_over_blocks_has_hardly_a_call_through_a_table(tmp_path: Path) -> None:
    """Those of the machine: predictors, watches and replacement policies, which are several."""
    folder = ROOT / "build" / "cython"
    paths = sorted((ROOT / "src").rglob("*.pyx"))
    files = [folder / path.relative_to(ROOT).with_suffix(".c") for path in paths]
    if not all(path.exists() for path in files):
        pytest.skip("a wheel is tested: only who builds pfmon in this tree has the C files")
    package = folder / "src" / "pfmon"
    own = [path for path in files if path.relative_to(package).parts[0] in ("counting", "machine", "stream")]
    made = direct_calls.write_rewritten(own, [path for path in files if path not in own], folder, tmp_path)
    (timing,) = [path for path in made if path.name == "timing.c"]
    assert through_tables(package / "machine" / "timing.c") > through_tables(timing)
    assert through_tables(timing) <= {"run", "hint", "begin", "take", "touch"}
