"""Large test programs that are not part of the project: PFMON_TEST_PROGRAMS says in which folder they are. Tests that
want them are skipped where they are not."""

import os
from pathlib import Path

import pytest


def folder(name: str) -> Path:
    """The folder with these programs; one that is not there if there are none."""
    return Path(os.environ.get("PFMON_TEST_PROGRAMS", "/nonexistent")) / name


def needs(name: str) -> pytest.MarkDecorator:
    """Skips tests where the programs are not."""
    return pytest.mark.skipif(not folder(name).is_dir(), reason=f"the test programs in {name} are not here")


def rows(name: str) -> list[list[str]]:
    """The rows of the programs' cases.tsv; none where they are not."""
    table = folder(name) / "cases.tsv"
    return [line.split("\t") for line in table.read_text().splitlines()[1:]] if table.is_file() else []
