"""Comparison of tests' counts with those of earlier runs, all of which are in one file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pfmon.atomic_write import write_whole
from pfmon.bounded_files import read_bounded
from pfmon.errors import PfmonError
from pfmon.library.results.baseline import Baseline, differences, from_object, other_engine
from pfmon.library.results.tolerances import tolerances
from pfmon.report.baseline_table import compare, table
from pfmon.version import VERSION


class CountedTest(NamedTuple):
    """The counts of a test, or of a program that it ran."""

    test: str
    baseline: Baseline


class Verdict(NamedTuple):
    """The result of a comparison: a table of counts that increased in ``grew`` ("": none), and a one-line note."""

    grew: str = ""
    note: str = ""
    compared: bool = True


class Baselines:
    """The file: an object ``tests`` with a baseline for each test."""

    def __init__(self, path: Path) -> None:
        """PfmonError: the file exists and holds no baselines."""
        self.path = path
        self._tests: dict[str, Baseline] = {}
        try:
            found = json.loads(read_bounded(path).decode())
            self._tests = {str(name): from_object(one) for name, one in found["tests"].items()}
        except FileNotFoundError:
            pass
        except OSError as error:
            raise PfmonError(f"--pfmon-baseline={path}: {(error.strerror or str(error)).lower()}") from None
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            raise PfmonError(
                f"--pfmon-baseline={path}: these are no baselines; remove the file, and --pfmon-save makes it anew"
            ) from None

    def verdict(self, counted: CountedTest, tolerance: str) -> Verdict:
        """Compare counts with the baseline."""
        now = counted.baseline
        before = self._tests.get(counted.test)
        if before is None:
            return Verdict(note="no baseline; --pfmon-save makes it", compared=False)
        known = {name: value for name, value in now.counts.items() if name in before.counts}
        reason = next(differences(before, now._replace(counts=known)), "") or other_engine(before, now)
        if reason or not known:
            why = reason or "it has none of these events"
            return Verdict(note=f"not compared with the baseline: {why}; --pfmon-save makes it anew", compared=False)
        changes = compare(before.counts, known, tolerances("tolerance", tolerance, None).of)
        shrunk = ", ".join(f"{one.name} {one.text()}" for one in changes if one.shrank)
        missing = ", ".join(name for name in now.counts if name not in known)
        notes = [f"fewer than before: {shrunk}"] if shrunk else []
        notes += [f"no baseline of {missing}; --pfmon-save makes it"] if missing else []
        grown = [one for one in changes if one.grew]
        return Verdict(table(grown) if grown else "", "; ".join(notes), not missing)

    def save(self, counted: Iterable[CountedTest]) -> None:
        """Replace the baselines of counted tests; other tests keep theirs. PfmonError: the file cannot be written."""
        tests = {**self._tests, **dict(counted)}
        content = {"pfmon": VERSION, "tests": _objects(tests)}
        try:
            write_whole(str(self.path), json.dumps(content, indent=2) + "\n")
        except OSError as error:
            raise PfmonError(f"--pfmon-baseline={self.path}: {(error.strerror or str(error)).lower()}") from None


def _objects(tests: Mapping[str, Baseline]) -> dict[str, object]:
    """Return the baselines in an order independent of that of the tests."""
    return {name: tests[name]._asdict() for name in sorted(tests)}
