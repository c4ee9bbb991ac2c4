"""What holds for all tests."""

import tempfile
from collections.abc import Iterator

import host_programs
import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Once for all workers: what the tests need of the host is installed, where that is allowed."""
    if not hasattr(config, "workerinput"):
        host_programs.install()


def pytest_report_header() -> list[str]:
    """What is missing."""
    return host_programs.header()


@pytest.fixture(scope="session", autouse=True)
def compiled_modules() -> Iterator[None]:
    """Commands that tests start find Python's modules compiled, wherever Python may not write beside the sources.

    Compiling them anew takes longer than all else that most of these commands do.
    """
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPYCACHEPREFIX", folder)
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield
