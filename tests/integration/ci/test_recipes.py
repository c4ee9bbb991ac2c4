"""The recipes of docs/ci.md for other frameworks, as they stand there, where these are installed."""

import shutil
from pathlib import Path

import pytest
from ci_jobs import CI, shell
from host_programs import RUNS_X86_64

PAGE = (CI.parents[1] / "docs" / "ci.md").read_text()
ROWS = [
    [cell.strip().strip("`").replace("\\|", "|") for cell in line.replace("\\|", "\0").split("|")[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("| ") and "./words" in line
]
RECIPES = {folder: (build.replace("\0", "|"), command) for _, folder, build, command in ROWS}
NEEDED = {
    "google-benchmark": ("g++", "/usr/include/benchmark/benchmark.h"),
    "go": ("go",),
    "criterion": ("cargo", "/usr/share/cargo/registry/criterion-0.3.6"),
}
"""Programs and files that a recipe needs."""
MORE_WORK = {
    "google-benchmark": ("words_benchmark.cpp", "number < 200", "number < 300"),
    "go": ("words.go", "counts := ", "_ = strings.Fields(text)\n\tcounts := "),
    "criterion": ("benches/counting.rs", ".repeat(2000)", ".repeat(3000)"),
}
"""A file, and a change that makes half as much work again."""

pytestmark = [RUNS_X86_64, pytest.mark.slow]


def missing(*needed: str) -> list[str]:
    return [one for one in needed if not (Path(one).exists() if one.startswith("/") else shutil.which(one))]


def test_every_folder_of_the_table_has_a_recipe() -> None:
    assert {*RECIPES} == {*NEEDED}


@pytest.mark.parametrize(
    "name",
    ["google-benchmark", "go", pytest.param("criterion", marks=pytest.mark.exhaustive)],  # it takes minutes
)
@pytest.mark.timeout(900)
def test_a_benchmark_is_gated(name: str, tmp_path: Path) -> None:
    """The same source twice has the same counts to the last digit; more work fails."""
    if left := missing(*NEEDED[name]):
        pytest.skip(f"{', '.join(left)} not here")
    build, command = RECIPES[name]
    file, before, after = MORE_WORK[name]
    home = {"GOCACHE": str(tmp_path / "cache"), "GOFLAGS": "-mod=mod"}
    folder = tmp_path / "base"
    shutil.copytree(CI / name, folder)
    results = []
    for side in ("base", "same", "more"):
        if side == "more":
            text = (folder / file).read_text()
            assert text.count(before) == 1
            (folder / file).write_text(text.replace(before, after))
        done = shell([build], folder, **home) if side != "same" else None
        assert not done or done.returncode == 0, done.stderr
        results.append(str(tmp_path / f"{side}.json"))
        words = f"pfmon -e instructions --per-function --json --no-cmd-output --outfile={results[-1]} -- {command}"
        done = shell([words], folder)
        assert done.returncode == 0, done.stderr
    same = shell([f"pfmon check {results[0]} {results[1]} --tolerance 0%"], tmp_path)
    assert same.returncode == 0, same.stdout + same.stderr
    more = shell([f"pfmon check {results[0]} {results[2]} --tolerance 10%"], tmp_path)
    assert more.returncode == 3, more.stdout + more.stderr


def test_a_test_of_ctest_fails_when_its_program_does_more_work(tmp_path: Path) -> None:
    if left := missing("cmake", "ctest", "cc"):
        pytest.skip(f"{', '.join(left)} not here")
    folder = tmp_path / "ci" / "ctest"
    shutil.copytree(CI / "ctest", folder)
    source = folder.parent / "words.c"
    source.write_bytes((CI / "words.c").read_bytes())
    build = ["cmake -S . -B b", "cmake --build b"]
    done = shell([*build, "cmake --build b --target baselines", "ctest --test-dir b"], folder)
    assert done.returncode == 0, done.stdout + done.stderr
    text = source.read_text()
    assert text.count("letter < 26") == 1
    source.write_text(text.replace("letter < 26", "letter < 260").replace("counts[26]", "counts[260]"))
    done = shell([*build, "ctest --test-dir b --output-on-failure"], folder)
    assert "grew by more than the tolerance" in done.stdout
    assert "1 tests failed out of 1" in done.stdout
