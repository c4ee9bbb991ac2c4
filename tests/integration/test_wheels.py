"""The scripts that make wheels and try them, and how pfmon is told which compiler it has."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "building"))
wheels = pytest.importorskip("wheels")  # a source tree has it, an installed package has not
import compiler_options  # noqa: E402

sys.path.remove(str(ROOT / "building"))


@pytest.mark.parametrize(("says", "clang"), [("Debian clang version 14.0.6", True), ("gcc (Debian 12.2.0)", False)])
def test_options_are_those_of_the_compiler(
    says: str, clang: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "a compiler"
    compiler.write_text(f"#!/bin/sh\necho '{says}'\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", f"'{compiler}' -m64")
    wanted = compiler_options.CLANG if clang else compiler_options.GCC
    assert compiler_options.compiler_options() == wanted


def test_absent_compiler_is_left_to_setuptools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nowhere/cc")
    assert compiler_options.compiler_options() == compiler_options.GCC


def test_interpreters_with_headers_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / f"python{version}").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    if not wheels.has_headers(Path(sys.executable)):
        pytest.skip("this Python has no headers")
    assert wheels.interpreters()[version] == tmp_path / f"python{version}"


@pytest.mark.exhaustive
@pytest.mark.timeout(2400)
def test_wheel_is_made_and_runs_without_a_compiler(tmp_path: Path) -> None:
    """pip and, as root, debootstrap fetch what they need: minutes."""
    python = sys.executable
    wheels.run(python, "building/wheels.py", "--to", str(tmp_path), "--python", python)
    (wheel,) = tmp_path.glob("*-manylinux_2_28_x86_64.whl")
    if (sys.version_info.major, sys.version_info.minor) == (3, 11):  # bookworm's
        assert "WRONG" not in wheels.run(python, "building/try_wheel.py", str(wheel))
