"""The counted process: runs one test between two markers and writes its reports to a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pfmon.testing.markers import Markers


class CountedChild:
    """The pytest plugin of the counted process."""

    def __init__(self, config: pytest.Config) -> None:
        config.option.xmlpath = None  # the parent process writes it
        self._config = config
        self._reports: list[Any] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Wrap the test's function in the markers, excluding fixtures."""
        if isinstance(item, pytest.Function):
            item.obj = Markers().around(item.obj)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a report of the test."""
        self._reports.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_sessionfinish(self) -> None:
        """Write the reports."""
        Path(self._config.option.pfmon_child).write_text(json.dumps(self._reports))
