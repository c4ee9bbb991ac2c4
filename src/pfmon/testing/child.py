"""In the process that is counted: one test runs between two markers, and its reports go to a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pfmon.testing.markers import Markers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Child:
    """What this process does beside running a test."""

    def __init__(self, config: pytest.Config) -> None:
        config.option.xmlpath = None  # the process that started this one writes it
        self._config = config
        self._reports: list[Any] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Put the markers around the test's function, fixtures are outside of them."""
        if isinstance(item, pytest.Function):
            item.obj = Markers().around(item.obj)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what there is to say of the test."""
        self._reports.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_sessionfinish(self) -> None:
        """Hand it over."""
        Path(self._config.option.pfmon_child).write_text(json.dumps(self._reports))
