"""What holds for all tests."""

import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import host_programs
import pytest
from hypothesis import settings

from pfmon.library.command_program import is_obeyed


def pytest_configure(config: pytest.Config) -> None:
    """Once for all workers: what the tests need of the host is installed, where that is allowed."""
    if not hasattr(config, "workerinput"):
        host_programs.install()
    # How long an example takes says something of the machine that tests run on, and of what else it does.
    settings.register_profile("pfmon", deadline=None)
    settings.load_profile("pfmon")


LONGEST = Path(__file__).parent / "testing"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first: no worker waits for it at the end."""
    items.sort(key=lambda item: not item.path.is_relative_to(LONGEST))


def pytest_report_header() -> list[str]:
    """What is missing."""
    return host_programs.header()


MANY_FILES = 200


def open_files() -> int:
    """How many files this process has open."""
    return len([*Path("/proc/self/fd").iterdir()])


class Kept:
    """Files that were still open behind the last collection: those of engines that tests keep."""

    files = 0


def pytest_runtest_teardown() -> None:
    """Engines that a test does not close are files until they are collected, and select() takes no more than 1024.

    With all that tests keep, a collection takes longer than most tests: one is due only when many files are new.
    """
    if open_files() > Kept.files + MANY_FILES:
        gc.collect()
        Kept.files = open_files()


@pytest.fixture(scope="session", autouse=True)
def compiled_modules() -> Iterator[None]:
    """Commands that tests start find Python's modules compiled, wherever Python may not write beside the sources.

    Compiling them anew takes longer than all else that most of these commands do.
    """
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPYCACHEPREFIX", folder)
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        for name in filter(is_obeyed, list(os.environ)):  # each would be a notice in every run
            patch.delenv(name)
        yield
