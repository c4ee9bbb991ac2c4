"""The pytest plugin: `pytest --pfmon` counts marked tests, and fails those whose counts increased.

pytest loads this module in every run; the implementation is imported on use.
"""

from __future__ import annotations

from argparse import SUPPRESS
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pfmon.testing.counted_programs import Programs


BASELINES = "pfmon-baseline.json"
MARK = (
    "pfmon(events=None, tolerance=None): with --pfmon, count the test in a process of its own and compare "
    "with the baseline; events: names; tolerance: '1%,LLC_MISSES=5%'"
)
DEPENDENT = ("events", "tolerance", "baseline", "save", "strict")
"""Options --pfmon-... that need --pfmon."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, and a setting of the configuration file."""
    group = parser.getgroup("pfmon", "counting with pfmon")
    group.addoption("--pfmon", action="store_true", help="count marked tests (@pytest.mark.pfmon), compare with before")
    group.addoption("--pfmon-events", metavar="EVENT,...", help="events to count (instructions)")
    group.addoption("--pfmon-tolerance", metavar="[EVENT=]PERCENT,...", help="increase that is accepted (1%%)")
    group.addoption("--pfmon-baseline", metavar="FILE", help=f"the counts to compare with (rootdir/{BASELINES})")
    group.addoption("--pfmon-save", action="store_true", help="keep the counts in that file instead of comparing")
    group.addoption("--pfmon-strict", action="store_true", help="a test without a baseline fails")
    group.addoption("--pfmon-child", metavar="FILE", help=SUPPRESS)
    parser.addini("pfmon_child_options", "more options for pytest in the process that is counted", "args", [])


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register what this run needs. UsageError: options that do not go together."""
    config.addinivalue_line("markers", MARK)
    if config.option.pfmon_child:
        from pfmon.testing.counted_child import CountedChild

        config.pluginmanager.register(CountedChild(config), "pfmon-child")
    elif config.option.pfmon:
        from pfmon.testing.marked_tests import MarkedTests

        config.pluginmanager.register(MarkedTests(config), "pfmon-tests")
    else:
        for name in DEPENDENT:
            if getattr(config.option, f"pfmon_{name}"):
                raise pytest.UsageError(f"--pfmon-{name} needs --pfmon")


@pytest.fixture
def pfmon_run(request: pytest.FixtureRequest) -> Programs:
    """``pfmon_run(["program", "argument"], events="...")`` runs a program, compares its counts with the baseline, and
    returns the run (docs/ci.md). Without --pfmon the test is skipped."""
    from pfmon.testing.counted_programs import Programs

    return Programs.of(request)
