"""A project of somebody else is gated by the templates as they are: cmark, with its benchmark, from Debian's source.

A change that lets its buffers grow by what is needed, not by half as much again, is found by what it costs.
"""

import shutil
from pathlib import Path

import pytest
from ci_jobs import CI, read_yaml, run_action, shell
from debian_sources import source_of
from host_programs import RUNS_X86_64, needs

ACTION = read_yaml(CI / "github" / "action.yml")
CONFIGURE = "cmake -S . -B build -DCMARK_TESTS=OFF -DCMARK_SHARED=OFF > log"
BUILD = f"{CONFIGURE} && cmake --build build --target cmark_exe -j 2 > log"
COMMAND = "build/src/cmark bench/samples/*.md"
"""The samples of its benchmark, converted once."""
AMORTIZED = "bufsize_t new_size = target_size + target_size / 2;"

pytestmark = [RUNS_X86_64, needs("cc", "cmake"), pytest.mark.slow]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its repository, with the source as a commit."""
    found = source_of("cmark", tmp_path_factory.mktemp("debian"))
    if found is None:
        pytest.skip("Debian's sources cannot be had here")
    shell(["git init -q .", "git add -A", "git commit -q -m base"], found)
    return found


def changed(project: Path, folder: Path, before: str, after: str) -> Path:
    """A copy of the repository with a commit that replaces a line of its buffers."""
    copy = folder / "git"
    shutil.copytree(project, copy, symlinks=True)
    file = copy / "src" / "buffer.c"
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    shell(["git commit -q -a -m head"], copy)
    return copy


def test_project_with_a_benchmark_is_gated_by_the_copied_template(project: Path, tmp_path: Path) -> None:
    worse = changed(project, tmp_path, AMORTIZED, "bufsize_t new_size = target_size;")
    failed = run_action(ACTION, worse, {"build": BUILD, "command": COMMAND}, tmp_path)
    assert [one.split(":")[0] for one in failed] == ["Compare the counts (3)"], failed
    summary = (tmp_path / "summary").read_text()
    assert "### pfmon: instructions grew" in summary
    assert "realloc" in summary


@pytest.mark.exhaustive
def test_change_of_a_comment_passes(project: Path, tmp_path: Path) -> None:
    same = changed(project, tmp_path, "Oversize the buffer by 50%", "Oversize the buffer by a half")
    assert run_action(ACTION, same, {"build": BUILD, "command": COMMAND}, tmp_path) == []
    assert "| same |" in (tmp_path / "summary").read_text()
