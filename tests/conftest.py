"""What holds for all tests."""

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import example_counts
import host_programs
import pytest
from kept_memory import forget_what_is_left
from open_files import close_collected
from shared_figures import share_figures

import pfmon
from pfmon.library.resolving.command_program import is_obeyed


def pytest_configure(config: pytest.Config) -> None:
    """Once for all workers: what the tests need of the host is installed, where that is allowed."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:  # by a shell that started pytest in the background, or nohup
            signal.signal(number, usual)
    if not hasattr(config, "workerinput"):
        host_programs.install(is_exhaustive(config))
    example_counts.load_profile(is_exhaustive(config))
    share_figures()


def is_exhaustive(config: pytest.Config) -> bool:
    """Whether ``-m`` names the whole grids and long lists."""
    return "exhaustive" in config.option.markexpr


OBJECTS = 20_000
"""New objects that the collector looks through at once: Python's default is 700."""
LONGEST = Path(__file__).parent / "integration" / "testing"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Whole grids and long lists are for runs whose ``-m`` names them; these try more examples of properties, too.

    What takes longest begins first: no worker waits for it at the end.
    """
    if is_exhaustive(config):
        for item in filter(has_examples, items):
            item.add_marker(pytest.mark.exhaustive)
    else:
        left_out = [item for item in items if item.get_closest_marker("exhaustive")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]
    items.sort(key=lambda item: not item.path.is_relative_to(LONGEST))


def has_examples(item: pytest.Item) -> bool:
    """Whether hypothesis draws examples for it."""
    test = getattr(item, "obj", None)
    return any(getattr(test, name, False) for name in ("is_hypothesis_test", "has_examples"))


def pytest_collection_finish() -> None:
    """What is loaded stays: the collector need not look through it behind every few hundred new objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS)


def pytest_report_header() -> list[str]:
    """What is missing."""
    return host_programs.header()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Close files of what the test has left; behind the last test that needs it, forget what tests have kept."""
    forget_what_is_left(item, nextitem)
    close_collected()


@pytest.fixture(scope="session", autouse=True)
def compiled_modules() -> Iterator[None]:
    """Commands that tests start find Python's modules compiled, wherever Python may not write beside the sources.

    Compiling them anew takes longer than all else that most of these commands do.
    """
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if not os.access(Path(pfmon.__file__).parent, os.W_OK):
            patch.setenv("PYTHONPYCACHEPREFIX", folder)
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        for name in filter(is_obeyed, list(os.environ)):  # each would be a notice in every run
            patch.delenv(name)
        yield


def pytest_sessionfinish() -> None:
    """The process that runs commands ends."""
    if "command" in sys.modules:
        sys.modules["command"].end_server()
