"""Programs run and counted by tests."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import pytest

import pfmon
from pfmon.engine import registry
from pfmon.errors import PfmonError
from pfmon.library.keywords import options_of
from pfmon.library.resolving.command_program import find_program
from pfmon.library.resolving.run_parts import Processor
from pfmon.library.results.baseline import baseline_of, executed_by, without_folder
from pfmon.library.results.run_result import Run
from pfmon.library.run_api import Command
from pfmon.testing.collected_counts import CollectedCounts
from pfmon.testing.verdicts import CountedTest


class Programs:
    """The fixture pfmon_run, a callable that runs a program."""

    def __init__(self, results: CollectedCounts, item: pytest.Item) -> None:
        self._results = results
        self._item = item
        self._used: set[str] = set()

    @classmethod
    def of(cls, request: pytest.FixtureRequest) -> Self:
        """Return the fixture of a test; skip the test without --pfmon."""
        if request.config.option.pfmon_child:
            pytest.fail("pfmon_run is for tests without the mark: a marked test is counted itself", pytrace=False)
        tests = request.config.pluginmanager.get_plugin("pfmon-tests")
        if tests is None:
            pytest.skip("pfmon_run counts with --pfmon alone")
        return cls(tests.results, request.node)

    def __call__(
        self,
        command: Command,
        *,
        events: str | Sequence[str],
        name: str = "",
        tolerance: str | None = None,
        input: bytes | None = None,
        **options: Any,
    ) -> Run:
        """Run a program to its end, compare its counts and return the run, with the program's output. ``name``
        distinguishes several programs of one test; ``input``: the program's input; ``options``: those of pfmon.run. The
        test fails if a count increased, or if the program fails."""
        test = f"{self._item.nodeid}::{name}" if name else self._item.nodeid
        if test in self._used:
            pytest.fail(f"pfmon_run runs two programs in {test}: give each a name=", pytrace=False)
        self._used.add(test)
        if reason := _why_not(command):
            pytest.skip(f"--pfmon: {reason}")
        try:
            run, reason = self._counted(test, command, self._results.wanted(events, tolerance), input, options)
        except PfmonError as error:
            run, reason = None, f"pfmon: {error}"
        if run is None or reason:
            pytest.fail(reason, pytrace=False)
        return run

    def _counted(
        self, test: str, command: Command, wanted: tuple[list[str], str], given: bytes | None, options: dict[str, Any]
    ) -> tuple[Run, str]:
        """Return the run, and why the test fails, "" if it does not. PfmonError: the program cannot be counted."""
        names, tolerance = wanted
        run = pfmon.run(command, events=names, unlimited=True, capture=True, input=given, **options)
        if run.status or run.stopped:
            said = os.fsdecode(run.error_output or b"").strip()
            return run, f"pfmon: {run.command[0]} did not succeed: its status is {run.status}\n{said}"
        asked = options_of({"events": names, **options})
        processor = Processor(run.pmu, asked.machine, asked.machine_settings)
        counts = {name: count.value for name, count in zip(names, run.counts, strict=True)}
        made = baseline_of([*map(without_folder, run.command)], processor, asked, counts)
        counted = CountedTest(test, executed_by(made, run.programming.engine))
        reason = self._results.judge(counted, tolerance, self._item.user_properties)
        return run, reason and f"{test}: {reason}"


def _why_not(command: Command) -> str:
    """Return why such programs cannot be counted here; "": they can, or the run reports the error."""
    program = command if isinstance(command, str | bytes | os.PathLike) else command[0]
    try:
        instruction_set = registry.instruction_set_of(find_program(os.fsdecode(program)))
    except PfmonError:
        return ""
    try:
        if instruction_set is not None:
            registry.check_emulator(instruction_set)
    except PfmonError as error:
        return str(error)
    return ""
