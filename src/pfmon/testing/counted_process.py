"""Run one test in a process of its own, of which a region counts: the call of the test's function."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import pfmon
from pfmon.errors import PfmonError, UnsupportedError
from pfmon.library.results.run_result import Run
from pfmon.testing.fixed_folders import folder_for
from pfmon.testing.markers import REGION, START, STOP

NEUTRAL = {"xdist": "-n0", "_cov": "--no-cov", "benchmark": "--benchmark-disable"}
"""Plugins that would start processes, trace, or repeat the test, and the options that disable them."""

AT_ADDRESSES = {"trigger_code_start_addresses": START, "trigger_code_stop_addresses": STOP}
"""What counts where an engine does not see regions."""

OWN = "--pfmon"
WITH_VALUE = ("--pfmon-events", "--pfmon-tolerance", "--pfmon-baseline")
"""Options of this plugin with a value."""
SELECTING = ("-k", "-m", "--deselect")
"""Options with a value that choose tests: the process has one, whichever others run, and its words are on its stack."""


def run_test(item: pytest.Item, given: Sequence[str], events: Sequence[str]) -> tuple[Run, list[pytest.TestReport]]:
    """Run a test under pfmon; return the run, and the test's reports (none: its process ended before). ``given``: the
    words of pytest's own command line. PfmonError: it cannot be counted."""
    try:
        return _run_test(item, given, events, region=REGION)
    except UnsupportedError:  # its process may have written by then: it begins anew in a folder of its own
        return _run_test(item, given, events, engine="qemu", **AT_ADDRESSES)
    except PfmonError as error:
        if "--region" not in error.subjects:
            raise
        return _run_test(item, given, events, **AT_ADDRESSES)  # the engine here does not see regions


def _run_test(
    item: pytest.Item, given: Sequence[str], events: Sequence[str], **options: Any
) -> tuple[Run, list[pytest.TestReport]]:
    with folder_for(f"{item.path}::{item.nodeid}") as folder:
        reports = Path(folder, "reports")
        run = pfmon.run(
            [sys.executable, "-m", "pytest", *arguments(item, given, folder), f"--pfmon-child={reports}"],
            events=list(events),
            unlimited=True,
            environment=environment(os.environ),
            stdin=pfmon.DEVNULL,
            capture=True,
            **options,
        )
        content = json.loads(reports.read_text()) if reports.exists() else []
    return run, [_report(item.config, data) for data in content]


def _report(config: pytest.Config, data: Mapping[str, Any]) -> pytest.TestReport:
    """Return a report from the data that the process wrote."""
    made = config.hook.pytest_report_from_serializable(config=config, data=data)
    assert isinstance(made, pytest.TestReport)
    if made.skipped and isinstance(made.longrepr, list):  # file, line, reason: JSON has no tuples
        made.longrepr = tuple(made.longrepr)
    return made


def arguments(item: pytest.Item, given: Sequence[str], folder: str) -> list[str]:
    """Return pytest's command line for one test, with its own directories."""
    config = item.config
    words = without_own(given)
    for path in config.option.file_or_dir:
        if path in words:
            words.reverse()
            words.remove(path)  # the last one: options precede paths
            words.reverse()
    if config.inipath:
        words += ["-c", str(config.inipath)]
    words += [f"--rootdir={config.rootpath}", f"--basetemp={folder}/tmp", "-o", f"cache_dir={folder}/cache"]
    words += ["-k", "", "-m", ""]  # nothing of the configuration's addopts leaves the test out
    words += [option for name, option in NEUTRAL.items() if config.pluginmanager.hasplugin(name)]
    _, colons, name = item.nodeid.partition("::")
    return [*words, *config.getini("pfmon_child_options"), f"{item.path}{colons}{name}"]


def without_own(words: Sequence[str]) -> list[str]:
    """Return a command line without this plugin's options and those that choose tests, so that the counts are the same
    when saving and comparing, and for one test and all."""
    kept, is_value = [], False
    for word in words:
        if not is_value and word != OWN and not word.startswith((f"{OWN}-", *SELECTING)):
            kept.append(word)
        is_value = not is_value and word in (*WITH_VALUE, *SELECTING)
    return kept


def environment(host: Mapping[str, str]) -> dict[str, str | None]:
    """Return the host's environment without variables that name the test or worker, and with a fixed hash seed."""
    kept: dict[str, str | None] = {
        name: value
        for name, value in host.items()
        if not name.startswith("PYTEST_XDIST_") and name != "PYTEST_CURRENT_TEST"
    }
    return {**kept, "PYTHONHASHSEED": "0"}
