"""The counts of one run of pytest, collected from the tests' reports, including those of other processes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pfmon.errors import PfmonError
from pfmon.library.results.baseline import Baseline, from_object
from pfmon.library.results.tolerances import tolerances
from pfmon.testing.counted_events import names_of
from pfmon.testing.plugin import BASELINES
from pfmon.testing.verdicts import Baselines, CountedTest, Verdict

PROPERTY = "pfmon"
"""The user property of a report that holds counts."""


class CollectedCounts:
    """The counts so far, notes on them, and the baselines."""

    def __init__(self, config: pytest.Config) -> None:
        """UsageError: the file holds no baselines."""
        self._config = config
        path = Path(config.invocation_params.dir, config.option.pfmon_baseline or config.rootpath / BASELINES)
        try:
            self._baselines = Baselines(path)
        except PfmonError as error:
            raise pytest.UsageError(str(error)) from None
        self._counted: list[CountedTest] = []
        self._notes: list[str] = []

    def wanted(self, events: str | Sequence[str] | None, tolerance: str | None) -> tuple[list[str], str]:
        """Return the names of the events to count, and the tolerance: a test's own, or else those of the options.
        PfmonError: they are invalid."""
        options = self._config.option
        names = names_of(events or options.pfmon_events)
        if tolerance is not None:
            tolerances("tolerance", tolerance, names)
            return names, tolerance
        general = options.pfmon_tolerance or ""
        tolerances("--pfmon-tolerance", general, None)
        return names, general

    def judge(self, counted: CountedTest, tolerance: str, properties: list[tuple[str, object]]) -> str:
        """Return why the test fails due to its counts, "" if it does not; add the counts to its ``properties``."""
        options = self._config.option
        verdict = Verdict() if options.pfmon_save else self._baselines.verdict(counted, tolerance)
        told = {"test": counted.test, "note": verdict.note, **counted.baseline._asdict()}
        properties.append((PROPERTY, json.dumps(told)))
        if verdict.grew:
            return f"more than before ({self._baselines.path}):\n{verdict.grew}"
        if options.pfmon_strict and not verdict.compared:
            return f"--pfmon-strict: {verdict.note}"
        return ""

    def add_report(self, report: pytest.TestReport) -> None:
        """Process a report of this process or another one."""
        for name, value in report.user_properties:
            if name == PROPERTY:
                told = json.loads(str(value))
                if report.passed:
                    self._counted.append(CountedTest(told["test"], from_object(told)))
                if told["note"]:
                    self._notes.append(f"{told['test']}: {told['note']}")

    def make_file(self) -> None:
        """Make the file of baselines without any, if they are to be saved and there is none. UsageError: it cannot be
        written."""
        if self._config.option.pfmon_save and not self._baselines.path.exists():
            try:
                self._baselines.save([])
            except PfmonError as error:
                raise pytest.UsageError(str(error)) from None

    def save(self) -> str:
        """Save the counts if requested; return a message about it."""
        if not self._config.option.pfmon_save or not self._counted:
            return ""
        self._baselines.save(self._counted)
        return f"{len(self._counted)} baselines saved in {self._baselines.path}"

    def lines(self, verbose: bool) -> list[str]:
        """Return the summary: notes, and with ``verbose`` all counts."""
        counts = [f"{one.test}: {_counts(one.baseline)}" for one in self._counted] if verbose else []
        return [*counts, *self._notes]


def _counts(baseline: Baseline) -> str:
    return ", ".join(f"{value} {name}" for name, value in baseline.counts.items())
