"""What the compiler learns from: runs of a build, which have to run."""

import subprocess
import sys
from pathlib import Path

import pytest

from pfmon import compiled

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "building"))
profile_guided = pytest.importorskip("profile_guided")  # a source tree has it, an installed package has not
sys.path.remove(str(ROOT / "building"))


def train(library: Path) -> None:
    profile_guided.train(Path(compiled.HERE), library, Path(compiled.LIST).read_text(), ROOT / "examples" / "ia64")


@pytest.mark.slow
def test_a_build_runs_all_programs_on_all_caches() -> None:
    train(Path(compiled.FILE))


def test_a_build_that_does_not_run_is_said(tmp_path: Path) -> None:
    library = tmp_path / Path(compiled.FILE).name
    library.write_bytes(b"no library")
    with pytest.raises(subprocess.CalledProcessError):
        train(library)
