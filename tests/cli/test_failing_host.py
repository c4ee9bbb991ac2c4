"""The N-th write, fsync, rename, mmap of a run fails, for every N: a documented status, a line that says why, and
nothing that the user had is lost."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command import example
from preloaded import preloaded

SUPPORT = Path(__file__).parents[1] / "support"
KINDS = ("write", "fsync", "rename", "mmap", "ftruncate", "fallocate")
LOST = 125
MINE = "mine: {}\n"
"""What is in a file before the run."""


class Case(NamedTuple):
    """A command, in which {} is the folder, and the files that it writes there."""

    words: str
    files: str
    before: str | None = None  # files that are there, if not those

    @property
    def there(self) -> list[str]:
        return (self.files if self.before is None else self.before).split()


COUNT = "-e ia64_inst_retired"
SAMPLES = f"{COUNT} --long-smpl-periods=500 --smpl-print-counts"
CASES = {
    "counts": Case(
        f"{COUNT} --outfile={{}}/counts --record={{}}/record --save-baseline={{}}/base FIB 3", "counts record base"
    ),
    "fresh": Case(
        f"{COUNT} --outfile={{}}/counts --record={{}}/record --save-baseline={{}}/base FIB 3", "counts record base", ""
    ),
    "printed": Case(f"{COUNT} FIB 3", ""),
    "json": Case(f"{COUNT} --json --outfile={{}}/json FIB 3", "json"),
    "appended": Case(f"{COUNT} --append --outfile={{}}/counts FIB 3", "counts"),
    "samples": Case(
        f"{SAMPLES} --outfile={{}}/counts --smpl-outfile={{}}/samples --export=csv:{{}}/table "
        "--export=pprof:{}/profile --report=html:{}/page FIB 3",
        "counts samples table profile page",
    ),
    "fresh samples": Case(f"{SAMPLES} --smpl-outfile={{}}/samples --export=csv:{{}}/table FIB 3", "samples table", ""),
    "eager": Case(f"{SAMPLES} --smpl-outfile={{}}/samples --smpl-eager-save FIB 3", "samples", ""),
    "machine": Case("-e cpu_cycles,l1d_read_misses_all --outfile={}/counts FIB 3", "counts"),
    "two programs": Case(
        f"{COUNT} --outfile={{}}/counts --record={{}}/record --smt-output={{}}/said --smt FIB FIB 3",
        "counts record.0 record.1 said",
    ),
    "numbered": Case(f"{COUNT} --outfile={{}}/counts-%n --record={{}}/record-%n FIB 3", "counts-1 record-1", ""),
    "crash": Case(f"{COUNT} --crash-report={{}}/crash CRASH", "crash"),
    "difference": Case("diff --outfile={}/text --html={}/page BASE BASE", "text page"),
}
VARIES = ("page", "crash", "json")
"""Files that say when they were made, or how long it took."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return preloaded((SUPPORT / "failing_host.c").read_text(), tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What words of the commands stand for."""
    from ia64_program import write_program

    folder = tmp_path_factory.mktemp("inputs")
    crash = write_program(folder / "crash", ["ld8 r4=[r0]"])
    base = folder / "base"
    words = [sys.executable, "-m", "pfmon", *COUNT.split(), f"--save-baseline={base}", example("fib"), "3"]
    subprocess.run(words, check=True, capture_output=True)
    return {"FIB": example("fib"), "CRASH": str(crash), "BASE": str(base)}


def runs(case: Case, kind: str, library: Path, inputs: dict[str, str], folder: Path) -> list[dict[str, Any]]:
    """One for each N; the first is undisturbed."""
    words = [inputs.get(word, word).replace("{}", str(folder)) for word in case.words.split()]
    command = [sys.executable, str(SUPPORT / "failing_host.py"), str(folder), kind, str(len(case.there))]
    environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": str(SUPPORT)}
    done = subprocess.run([*command, *case.there, *words], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_whatever_the_host_refuses_nothing_is_lost(
    name: str, kind: str, library: Path, inputs: dict[str, str], tmp_path: Path
) -> None:
    case = CASES[name]
    first, *others = runs(case, kind, library, inputs, tmp_path / "out")
    assert set(first["files"]) == set(case.files.split()), first
    for one in others:
        check(case, first, one)
    if kind in ("write", "fsync", "rename") and case.files and name not in ("appended", "eager", "crash"):
        assert any(one["status"] == LOST for one in others)  # something was refused


def check(case: Case, first: dict[str, Any], one: dict[str, Any]) -> None:
    """One run beside that in which nothing failed."""
    status, said = one["status"], one["err"].splitlines()
    assert status in (first["status"], LOST, 2), one["number"]  # 2: before the run
    assert all(line.startswith("pfmon: ") for line in said), (one["number"], one["err"])
    assert status == first["status"] or 1 <= len(said) <= 1 + len(first["err"].splitlines()) + 1, (one["number"], said)
    named = set(re.findall(r"(\S+/\.\S+\.\d+)", one["err"]))
    for name, content in one["files"].items():
        if name.startswith("."):
            assert any(path.endswith(f"/{name}") for path in named), (one["number"], name, said)
            continue
        before = MINE.format(name).encode().hex() if name in case.there else None
        whole = content == first["files"].get(name) or name.startswith(VARIES)
        partly = name == "samples" and ("the samples up to there are in it" in one["err"] or "eager" in case.words)
        programs = name == "said" and first["files"][name].startswith(content)  # the program's own write failed
        assert content == before or whole or partly or programs, (one["number"], name)
        if name in first["files"] and status == first["status"] and f"{name}: " not in one["err"]:
            assert content != before, (one["number"], name)
    missing = set(case.there) - set(one["files"])
    assert not missing, (one["number"], missing)
