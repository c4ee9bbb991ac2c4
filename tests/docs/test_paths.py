"""The documentation names files that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATH = re.compile(r"`((?:src|tests|docs|benchmarks|examples)/[\w./-]*\w)`")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    # NAME in a path stands for any name.
    missing = [path for path in PATH.findall(page.read_text()) if not any(ROOT.glob(path.replace("NAME", "*")))]
    assert not missing


def test_the_pattern_finds_paths() -> None:
    assert PATH.findall("see `src/pfmon/engine` and `row()`") == ["src/pfmon/engine"]
