"""What holds for all tests."""

import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def compiled_modules() -> Iterator[None]:
    """Commands that tests start find Python's modules compiled, wherever Python may not write beside the sources.

    Compiling them anew takes longer than all else that most of these commands do.
    """
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPYCACHEPREFIX", folder)
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield
