"""Marked tests: each runs in a counted process of its own instead of this one."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from pfmon.engine import registry
from pfmon.errors import PfmonError
from pfmon.library.options.run_options import Options
from pfmon.library.resolving.run_parts import Processor
from pfmon.library.results.baseline import baseline_of
from pfmon.library.results.run_result import Run
from pfmon.stream._stream import InstructionSet
from pfmon.testing.collected_counts import CollectedCounts
from pfmon.testing.counted_process import run_test
from pfmon.testing.verdicts import CountedTest

MARK = "pfmon"
FIXTURE = "pfmon_run"
KEYWORDS = {"events", "tolerance"}
PYTHON = ("python", " ".join(sys.version.split()))
"""The command recorded in baselines: counts of another build are not comparable."""

NOTHING = "nothing was counted: none of these tests is marked (@pytest.mark.pfmon) or uses pfmon_run"

REPORTS = pytest.StashKey[dict[str, pytest.TestReport]]()
"""Phase (call, teardown) -> the report of the test's own process."""


class MarkedTests:
    """Runs marked tests in counted processes, and collects all results."""

    def __init__(self, config: pytest.Config) -> None:
        """UsageError: the options or the file of baselines are wrong."""
        self._config = config
        self.results = CollectedCounts(config)
        worker: dict[str, Any] | None = getattr(config, "workerinput", None)  # of pytest-xdist
        self._is_worker = worker is not None
        self._given: list[str] = worker["pfmon_words"] if worker else [*map(os.fspath, config.invocation_params.args)]
        self._saved = ""
        self._nothing_to_count = False

    def pytest_sessionstart(self) -> None:
        """Make the files that this run leaves: pytest lists the folders of tests, so a counted process is the same in
        a first run, which saves, and in later ones."""
        if self._is_worker:
            return
        self.results.make_file()
        if cache := getattr(self._config, "cache", None):
            cache.mkdir("pfmon")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Find out whether any of the tests that will run counts something."""
        counting = (
            item.get_closest_marker(MARK) or FIXTURE in getattr(item, "fixturenames", ()) for item in session.items
        )
        self._nothing_to_count = not any(counting)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Pass the command line's words to a worker of pytest-xdist."""
        node.workerinput["pfmon_words"] = self._given

    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        """Skip marked tests if nothing can be counted."""
        marked = [item for item in items if item.get_closest_marker(MARK)]
        reason = _why_not() if marked else ""
        for item in marked:
            if reason:
                item.add_marker(pytest.mark.skip(reason=f"--pfmon: {reason}"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Replace the item's phases by starting the process that runs it, which also sets up its fixtures."""
        if item.get_closest_marker(MARK):
            vars(item).update(setup=_nothing, teardown=_nothing, runtest=partial(self._run, item))

    def _run(self, item: pytest.Item) -> None:
        try:
            failure = self._counted(item)
        except PfmonError as error:
            failure = f"pfmon: {error}"
        if failure:
            pytest.fail(failure, pytrace=False)

    def _counted(self, item: pytest.Item) -> str:
        """Run and judge a test; return why it has no reports, "" if it has. PfmonError: it cannot be counted."""
        names, tolerance = self._wanted(item)
        run, reports = run_test(item, self._given, names)
        if not reports:
            return _no_reports(run)
        item.stash[REPORTS] = _by_phase(reports)
        call = item.stash[REPORTS]["call"]
        call.sections += [("pfmon", note) for note in run.notes if call.when == "call"]
        if call.passed:
            counts = {name: count.value for name, count in zip(names, run.counts, strict=True)}
            counted = CountedTest(item.nodeid, baseline_of(PYTHON, Processor(run.pmu), Options(), counts))
            if reason := self.results.judge(counted, tolerance, call.user_properties):
                call.outcome, call.longrepr = "failed", f"{item.nodeid}: {reason}"
            item.stash[REPORTS]["teardown"].user_properties = call.user_properties  # source of JUnit's XML
        return ""

    def _wanted(self, item: pytest.Item) -> tuple[list[str], str]:
        """Return the events to count, and the tolerance. PfmonError: invalid arguments of the mark or the options."""
        mark = item.get_closest_marker(MARK)
        assert mark is not None
        if mark.args or not mark.kwargs.keys() <= KEYWORDS:
            raise PfmonError("the mark takes events= and tolerance= alone")
        return self.results.wanted(mark.kwargs.get("events"), mark.kwargs.get("tolerance"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport | None:
        """Return the report of the test's own process for a phase that ran there."""
        return item.stash.get(REPORTS, {}).get(call.when) if call.excinfo is None else None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect counts, including those of pytest-xdist's workers."""
        if report.when == "call":
            self.results.add_report(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Save the baselines."""
        if not self._is_worker:
            try:
                self._saved = self.results.save()
            except PfmonError as error:
                self._saved = str(error)
                session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the summary of counts."""
        lines = self.results.lines(self._config.get_verbosity() > 0)
        lines += [self._saved] if self._saved else []
        lines += [NOTHING] if self._nothing_to_count else []
        if lines:
            terminalreporter.section("pfmon")
            for line in lines:
                terminalreporter.line(line)


def _nothing() -> None:
    """Stand in for a test's setup and teardown outside of its process."""


def _why_not() -> str:
    """Return why this Python cannot be counted; "": it can."""
    try:
        if registry.instruction_set_of(sys.executable) is not InstructionSet.X86_64:
            return "this Python is no x86-64 program"
        registry.check_emulator(InstructionSet.X86_64)
    except PfmonError as error:
        return str(error)
    return ""


def _by_phase(reports: Sequence[pytest.TestReport]) -> dict[str, pytest.TestReport]:
    """Return the reports of the call and of the teardown; a test that was not called has its setup's report instead."""
    found = {report.when or "": report for report in reports}
    return {"call": found.get("call") or found["setup"], "teardown": found["teardown"]}


def _no_reports(run: Run) -> str:
    """Return how a test's process ended that wrote no reports."""
    said = "".join(os.fsdecode(text or b"") for text in (run.output, run.error_output)).strip()
    how = f"a signal killed it: {run.death.text}, at {run.death.where}" if run.death else f"its status is {run.status}"
    return f"pfmon: the test's process ended before the test did ({how})\n{said}"
