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
ENGINE = {"engine.api", "engine.guest_pmu", "engine.guest_settings", "engine.registry"}
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
