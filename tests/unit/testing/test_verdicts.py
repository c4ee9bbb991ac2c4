"""Counts of tests beside a file of baselines."""

import json
from pathlib import Path

import pytest

from pfmon.errors import PfmonError
from pfmon.library.results.baseline import Baseline
from pfmon.testing import verdicts
from pfmon.testing.verdicts import Baselines, CountedTest


def counted(test: str = "t", python: str = "3.11", **counts: int) -> CountedTest:
    return CountedTest(test, Baseline(["python", python], "intel_v2", "intel_v2", [], {}, counts))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with one test."""
    path = tmp_path / "file"
    Baselines(path).save([counted(A=1000, B=10)])
    return path


def test_what_was_saved_is_compared(path: Path) -> None:
    assert Baselines(path).verdict(counted(A=1010, B=10), "") == ("", "", True)
    found = Baselines(path).verdict(counted(A=1011, B=2), "")
    assert "A" in found.grew and "\nB" not in found.grew and found.note == "fewer than before: B -80.000%"
    assert Baselines(path).verdict(counted(A=1011, B=10), "A=2%").grew == ""


def test_what_cannot_be_compared_is_told_and_did_not_grow(path: Path) -> None:
    for one, said in (
        (counted("other", A=5000), "no baseline"),
        (counted(python="3.12", A=5000), "3.12"),
        (counted(C=5000), "none of these events"),
    ):
        found = Baselines(path).verdict(one, "")
        assert (found.grew, found.compared) == ("", False) and said in found.note


def test_an_event_without_a_baseline_hides_no_growth_of_others(path: Path) -> None:
    found = Baselines(path).verdict(counted(A=5000, C=1), "")
    assert "A" in found.grew and "no baseline of C" in found.note and not found.compared


def test_tests_that_were_not_counted_keep_theirs_in_order(path: Path) -> None:
    Baselines(path).save([counted("z", A=1), counted("a", A=2)])
    tests = json.loads(path.read_text())["tests"]
    assert [(name, one["counts"]["A"]) for name, one in tests.items()] == [("a", 2), ("t", 1000), ("z", 1)]


def test_a_file_that_cannot_be_written_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = path.read_text()
    monkeypatch.setattr(verdicts, "write_whole", full)
    with pytest.raises(PfmonError, match=r"no space left"):
        Baselines(path).save([counted(A=1)])
    assert path.read_text() == before
