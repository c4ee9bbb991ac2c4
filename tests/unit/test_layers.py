"""Imports point only backwards along program, stream, isa, engine, signals, machine, pmu, counting, session, report,
library, testing, cli."""

import ast
import re
from pathlib import Path

import pytest
from grids import first_quick

SOURCE = Path(__file__).resolve().parents[2] / "src" / "pfmon"

# The handlers of IA-64 instructions, beside which their encodings stand.
HANDLERS = "engine.ia64._ia64"

# What each stage may import. Of an engine the stages behind it see what an engine is, and nothing of any one.
ENGINE = {
    "engine.api",
    "engine.guest_pmu",
    "engine.guest_settings",
    "engine.registry",
    "engine.system_settings",
}
ALLOWED = {
    "program": set(),
    "stream": set(),
    "isa": {"stream", HANDLERS},
    "engine": {"isa", "program", "stream"},
    "signals": {"stream"},
    "machine": {"isa", "stream", "signals"},
    "pmu": {"signals"},
    "counting": {"stream", "signals", "machine", "pmu"},
    "session": {"program", "stream", "signals", "machine", "pmu", "counting", *ENGINE},
    "report": {"program", "stream", "signals", "machine", "pmu", "counting", "session", *ENGINE},
    "library": {"program", "stream", "signals", "machine", "pmu", "counting", "session", "report", *ENGINE},
    "testing": {"stream", "pmu", "counting", "session", "report", "library", *ENGINE},
    "cli": {"program", "stream", "signals", "machine", "pmu", "counting", "session", "report", "library", *ENGINE},
}
SHARED = {"errors", "version"}

# Rooms of a stage that others may import alone: what an engine is.
ROOMS = {HANDLERS, *ENGINE}
STAGES = [stage for stage in ALLOWED if (SOURCE / stage).is_dir()]


def python_imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def cython_imports(path: Path) -> set[str]:
    return set(re.findall(r"^\s*(?:from|cimport|import)\s+(pfmon[\w.]*)", path.read_text(), re.M))


def stages_imported(path: Path) -> set[str]:
    names = python_imports(path) if path.suffix in (".py", ".pyi") else cython_imports(path)
    parts = [name.split(".") for name in names if name.split(".")[0] == "pfmon"]
    return {room_of(part) for part in parts if len(part) > 1 and (part[1] in ALLOWED or part[1] in SHARED)}


def room_of(module: list[str]) -> str:
    """The room that a module is in, or else its stage."""
    return next((room for room in ROOMS if f"{'.'.join(module[1:])}.".startswith(f"{room}.")), module[1])


def is_allowed(room: str, allowed: set[str]) -> bool:
    return room in allowed or room.partition(".")[0] in allowed


@pytest.mark.parametrize("stage", first_quick(STAGES))
def test_stage_imports_only_earlier_stages(stage: str) -> None:
    for path in sorted((SOURCE / stage).rglob("*")):
        if path.suffix in (".py", ".pyi", ".pyx", ".pxd"):
            forward = {
                room for room in stages_imported(path) if not is_allowed(room, ALLOWED[stage] | SHARED | {stage})
            }
            assert not forward, f"{path.relative_to(SOURCE)} imports {', '.join(sorted(forward))}"


def test_every_folder_is_a_stage() -> None:
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= set(ALLOWED)


LINUX = SOURCE / "engine" / "linux"
IA64_ABI = LINUX / "abi" / "ia64"
LINUX_MODULES = sorted(path for path in LINUX.rglob("*.py") if not path.is_relative_to(IA64_ABI))


@pytest.mark.slow
def test_linux_layer_imports_nothing_of_an_instruction_set() -> None:
    """An ABI alone, a folder of engine/linux/abi, imports what belongs to an instruction set or to its engine."""
    own = re.compile(r"pfmon\.(isa\.|engine\.(ia64|qemu|replay)\b|engine\.linux\.abi\.\w+\.)")
    neutral = ("pfmon.engine.linux.abi.linux_abi.", "pfmon.engine.linux.abi.structures.")
    for path in LINUX_MODULES:
        found = {name for name in python_imports(path) if own.match(name) and not name.startswith(neutral)}
        assert not found, f"{path.relative_to(SOURCE)} imports {', '.join(sorted(found))}"


@pytest.mark.slow
def test_linux_layer_uses_registers_through_the_abi() -> None:
    declared = ast.parse((IA64_ABI / "ia64_registers.py").read_text())
    names = {node.name for node in ast.walk(declared) if isinstance(node, ast.FunctionDef)}
    assert {"gr", "ar", "um", "cfm", "set_secure"} <= names
    for path in LINUX_MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("registers"):
                assert node.attr not in names, f"{path.relative_to(SOURCE)}:{node.lineno} uses {node.attr}"


def modules_imported(tree: ast.AST) -> set[str]:
    """Modules of pfmon that a module imports, also within functions; not those imported for types alone."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        found |= modules_imported(node)
    return found


@pytest.mark.slow
def test_modules_of_the_engines_import_in_one_direction() -> None:
    """Each module imports, directly or not, only modules that do not import it."""
    modules = {
        ".".join(("pfmon", *path.relative_to(SOURCE).with_suffix("").parts)): path
        for path in (SOURCE / "engine").rglob("*.py")
        if path.stem != "__init__"
    }
    imports = {name: modules_imported(ast.parse(path.read_text())) & set(modules) for name, path in modules.items()}
    left = dict(imports)
    while free := [name for name, imported in left.items() if not imported & set(left)]:
        for name in free:
            del left[name]
    assert not left, f"import each other, or modules that do: {', '.join(sorted(left))}"
