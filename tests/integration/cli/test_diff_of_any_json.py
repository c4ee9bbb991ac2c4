"""`pfmon diff` on JSON of any shape: a difference, or one line and status 2."""

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from command import example, pfmon
from grids import each

from pfmon.errors import PfmonError
from pfmon.library.results.result_files import diff
from pfmon.report.differences.difference_text import difference_text

FIB = (example("fib"), "5")
NOT_RESULTS = "neither results (--json), nor a baseline, nor a recording"
WRONG: list[Any] = [
    None,
    True,
    -1,
    1 << 70,
    10**400,
    0.5,
    1e308,
    "x",
    "\ud800",
    [],
    [[]],
    {},
    {"a": 1},
    [None],
    ["x", 1],
]
FILES = {
    "counts": ("--json", "--per-function", "-e", "ia64_inst_retired,loads_retired"),
    "cycles": ("--json", "--report=cpi"),
}


@cache
def written(kind: str) -> Any:
    """The results of a run."""
    return json.loads(pfmon("--no-cmd-output", *FILES[kind], *FIB).stdout)


def places(found: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something is, once for all the items of a list."""
    yield path
    items = found.items() if isinstance(found, dict) else enumerate(found[:1]) if isinstance(found, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def changed(found: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The same with another value there; without it, if that is Ellipsis."""
    if not path:
        return {} if value is ... else value
    made = copy.deepcopy(found)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return made


def judged(path: Path, found: Any, other: str) -> str:
    """The refusal of a file by `pfmon diff`; "" for a difference, which can be printed."""
    path.write_text(json.dumps(found))
    try:
        for first, second in ((str(path), other), (other, str(path))):
            made = diff(first, second)
            (difference_text(made, 20) + json.dumps(made.to_dict())).encode()
    except PfmonError as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*FILES, "baseline"])
@pytest.mark.parametrize("values", [5, pytest.param(len(WRONG) + 1, marks=pytest.mark.exhaustive)])
def test_every_wrong_value_is_one_line_or_makes_no_difference(kind: str, values: int, tmp_path: Path) -> None:
    """Everywhere that many values, drawn at random."""
    pick = Random(kind)
    other = tmp_path / "other"
    if kind == "baseline":
        pfmon("--no-cmd-output", f"--save-baseline={other}", "-e", "loads_retired", *FIB)
        found = json.loads(other.read_text())
    else:
        found = written(kind)
        other.write_text(json.dumps(found))
    for path in places(found):
        for value in pick.sample([..., *WRONG], values):
            said = judged(tmp_path / "changed", changed(found, path, value), str(other))
            assert said in ("", f"{tmp_path / 'changed'}: {NOT_RESULTS}"), (path, value, said)


@pytest.mark.slow
@each("text", ["5", "[]", "{}", "null", '"x"', "[1, 2]", '{"events": 5}', "", "x", "[" * 100_000])
def test_json_that_is_no_result_is_one_line(text: str, tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text(json.dumps(written("counts")))
    bad.write_text(text)
    for files in ((good, bad), (bad, good)):
        done = pfmon("diff", *map(str, files))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"pfmon: {bad}: {NOT_RESULTS}\n"


def test_names_that_are_no_characters_have_backslashes(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(json.dumps(changed(written("counts"), ("command", 0), "\udcff")))
    done = pfmon("diff", str(tmp_path / "a"), str(tmp_path / "a"))
    assert done.returncode == 0 and r"A: " in done.stdout and r"\udcff 5, PMU" in done.stdout
