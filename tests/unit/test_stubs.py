"""The stubs of the extension modules: what stubtest (.ci/run) does not compare with the modules."""

import ast
import re
from enum import IntEnum
from importlib import import_module
from pathlib import Path

from grids import each

SOURCE = Path(__file__).parents[2] / "src"
STUBS = sorted(SOURCE.rglob("*.pyi"))
STAGES = [stub for stub in STUBS if stub.name.startswith("_")]

SECTION = re.compile(r"^# (\S+\.p(?:yx|xd))$", re.MULTILINE)
"""The heading of a source file's names in a stub."""


def extension(stub):
    """The module that a stub describes."""
    return import_module(".".join(stub.relative_to(SOURCE).with_suffix("").parts))


def classes(stub):
    """Class at run time -> its definition in the stub. Protocols and the like are only in the stub."""
    module = extension(stub)
    found = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ClassDef)]
    return {getattr(module, node.name): node for node in found if hasattr(module, node.name)}


def members(node):
    """Name -> value of the members of an enumeration's stub."""
    return {
        item.targets[0].id: eval(compile(ast.Expression(item.value), "stub", "eval"))
        for item in node.body
        if isinstance(item, ast.Assign)
    }


def names(text):
    """The names that a section of a stub, or all of it, describes."""
    body = ast.parse(text).body
    named = [node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    targets = [node.target for node in body if isinstance(node, ast.AnnAssign)]
    return [*named, *(target.id for target in targets if isinstance(target, ast.Name))]


@each("stub", STUBS, ids=lambda stub: stub.stem)
def test_enumerations_have_the_members_and_values_of_the_stub(stub):
    for found, node in classes(stub).items():
        if issubclass(found, IntEnum):
            assert members(node) == {name: int(value) for name, value in found.__members__.items()}, node.name


@each("stub", STUBS, ids=lambda stub: stub.stem)
def test_classes_have_the_bases_of_the_stub(stub):
    for found, node in classes(stub).items():
        above = ["IntEnum"] if issubclass(found, IntEnum) else [base.__name__ for base in found.__bases__]
        assert [base.id for base in node.bases] == [name for name in above if name != "object"], node.name


@each("stub", STUBS, ids=lambda stub: stub.stem)
def test_a_stub_names_nothing_twice(stub):
    found = names(stub.read_text())
    assert len(found) == len(set(found))


@each("stub", STAGES, ids=lambda stub: stub.stem)
def test_a_stub_has_one_section_for_each_file_by_name(stub):
    files = SECTION.findall(stub.read_text())
    assert files and files == sorted(set(files))
    for file in files:
        together = stub.with_suffix(Path(file).suffix).read_text()
        assert f'include "{file}"' in together, file


@each("stub", STAGES, ids=lambda stub: stub.stem)
def test_a_section_has_the_names_of_its_file(stub):
    _, *parts = SECTION.split(stub.read_text())
    for file, text in zip(parts[::2], parts[1::2], strict=True):
        source = (stub.parent / file).read_text()
        for name in names(text):
            if hasattr(extension(stub), name):
                assigned = rf"(?: {{4}})?(?:\w+, )*{name}(?:, \w+)* = "  # as a member of an unnamed enum, too
                defined = rf"^(?:(?:cdef class|class|def|cpdef enum|cpdef [\w\[\], ]+) {name}\b|{assigned})"
                assert re.search(defined, source, re.MULTILINE), (file, name)
