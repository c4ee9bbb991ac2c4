"""What the compiler learns from: runs of a build, which have to run."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pfmon

ROOT = Path(__file__).parents[2]
PACKAGE = Path(pfmon.__file__).parent
sys.path.append(str(ROOT / "building"))
profile_guided = pytest.importorskip("profile_guided")  # a source tree has it, an installed package has not
sys.path.remove(str(ROOT / "building"))


@pytest.mark.slow
@pytest.mark.parametrize("programs", [slice(None, None, 6), pytest.param(slice(None), marks=pytest.mark.exhaustive)])
def test_a_build_runs_programs_on_all_caches(programs: slice, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PROGRAMS", "X86_PROGRAMS"):
        monkeypatch.setattr(profile_guided, name, getattr(profile_guided, name)[programs])
    profile_guided.train(PACKAGE.parent, ROOT / "examples")


@pytest.mark.slow
def test_a_build_that_does_not_run_is_said(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "pfmon", ignore=shutil.ignore_patterns("*.c", "__pycache__", "*.bin"))
    for library in (tmp_path / "pfmon").rglob("_machine*.so"):
        library.write_bytes(b"no library")
    with pytest.raises(subprocess.CalledProcessError):
        profile_guided.train(tmp_path, ROOT / "examples")
