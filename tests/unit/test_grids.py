"""Joined tests try every case and name those that fail; what is exhaustive runs only where -m names it."""

import subprocess
import sys
from pathlib import Path

import pytest
from grids import diagonal, each, few, first_quick, for_each, sampled

ROOT = Path(__file__).parents[2]


def test_every_case_is_tried_and_those_that_fail_are_named() -> None:
    tried = []

    def check(n: int) -> None:
        tried.append(n)
        assert n not in (2, 5), "wrong"

    with pytest.raises(AssertionError, match="2 of 7 cases fail:\n2: AssertionError\n  wrong") as raised:
        for_each(range(7), check)
    assert tried == [*range(7)] and "\n5: " in str(raised.value)


def test_no_cases_fail_and_skipped_ones_are_skipped() -> None:
    with pytest.raises(AssertionError, match="no cases"):
        for_each([], print)
    with pytest.raises(pytest.skip.Exception, match="not here"):
        for_each([1, 2], lambda _: pytest.skip("not here"))


def marked(values: list[object]) -> list[str]:
    return [",".join(mark.name for mark in one.marks) if hasattr(one, "marks") else "" for one in values]


def test_few_keep_the_ends_and_first_quick_the_first() -> None:
    kept = marked(few(range(20), 5))
    assert len(kept) == 20 and kept.count("") == 5 and kept[0] == kept[-1] == ""
    assert marked(few(range(3), 5)) == ["", "", ""]
    assert marked(few(range(3), 1)) == ["", "exhaustive", "exhaustive"]
    assert marked(first_quick([(1, 2), (3, 4)])) == ["", "slow"]
    assert first_quick([(1,), (3, 4)], single=True)[1].values == ((3, 4),)


@diagonal
@pytest.mark.slow
@pytest.mark.parametrize(("b", "c"), first_quick([(1, 2), (3, 4)]), ids=["low", "high"])
@pytest.mark.parametrize("a", few(range(5), 3))
def crossed(a: int, b: int, c: int) -> None:
    raise NotImplementedError


@diagonal
@each("a", range(3))
@each(("b", "c"), [(1, 2), pytest.param(3, 4, marks=pytest.mark.slow)])
def crossed_grid(a: int, b: int, c: int) -> None:
    assert (a, b, c) != (2, 3, 4)


def test_a_diagonal_has_every_value_and_exhaustive_runs_all_combinations() -> None:
    slow, crossing = crossed.pytestmark
    assert slow.name == "slow" and crossing.args[0] == ["a", "b", "c"]
    chosen = {one.values: {mark.name for mark in one.marks} for one in crossing.args[1]}
    assert {*chosen} == {(a, b, b + 1) for a in range(5) for b in (1, 3)}
    assert [one.id for one in crossing.args[1]][:3] == ["0-low", "0-high", "1-low"]
    usual = {values: marks for values, marks in chosen.items() if "exhaustive" not in marks}
    assert [*usual.values()].count(set()) == 2 and usual[0, 1, 2] == set()
    assert len({a for a, *_ in usual}) == 3 and {0, 4} < {a for a, *_ in usual}
    assert {b for _, b, _ in usual} == {1, 3}


def test_a_diagonal_of_a_grid_is_tried_and_the_rest_is_exhaustive() -> None:
    parts = {one.id: one.values[0] for one in crossed_grid.pytestmark[-1].args[1]}
    cases = [tuple(case.values.values()) for case in parts["quick"] + parts["slow"]]
    assert sorted(cases) == [(1, 2, 0), (1, 2, 2), (3, 4, 1)] and len(parts["all"]) == 6
    crossed_grid(chosen_cases=parts["quick"])
    with pytest.raises(AssertionError, match="1 of 6 cases fail"):
        crossed_grid(chosen_cases=parts["all"])


@pytest.mark.parametrize("one", [1], indirect=True)
def indirect(one: int) -> None:
    raise NotImplementedError


def test_a_diagonal_of_an_indirect_parametrization_is_refused() -> None:
    with pytest.raises(ValueError, match="does not know"):
        diagonal(indirect)


@sampled(3)
@each("a", range(10))
@each(("b", "c"), [(1, 2), pytest.param(3, 4, marks=pytest.mark.slow)])
def grid(a: int, b: int, c: int, tmp_path: Path) -> None:
    tmp_path.joinpath("own").touch(exist_ok=False)
    assert (a, b, c) != (9, 3, 4)


def test_a_grid_has_all_combinations_in_a_folder_of_their_own(tmp_path: Path) -> None:
    parts = {one.id: (one.values[0], [mark.name for mark in one.marks]) for one in grid.pytestmark[-1].args[1]}
    assert {name: marks for name, (_, marks) in parts.items()} == {"quick": [], "slow": ["slow"], "all": ["exhaustive"]}
    assert len(parts["all"][0]) == 20 and len(parts["quick"][0]) + len(parts["slow"][0]) == 5
    with pytest.raises(AssertionError, match="1 of 20 cases fail:\nb=3, c=4, a=9: "):
        grid(chosen_cases=parts["all"][0], tmp_path=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("chosen", "tests"), [((), 2), (("-m", "not slow"), 1), (("-m", "exhaustive"), 1)])
def test_exhaustive_tests_run_where_they_are_named(chosen: tuple[str, ...], tests: int, tmp_path: Path) -> None:
    tmp_path.joinpath("conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    tmp_path.joinpath("test_it.py").write_text("""
import pytest
def test_quick(): pass
@pytest.mark.slow
def test_slow(): pass
@pytest.mark.exhaustive
def test_whole(): pass
""")
    words = [sys.executable, "-m", "pytest", "-n0", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]
    paths = ["-o", f"pythonpath={ROOT / 'tests' / 'support'}", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run([*words, *chosen, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and f"{tests} passed" in done.stdout, done.stdout
