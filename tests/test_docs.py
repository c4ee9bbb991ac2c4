"""The documentation tells the truth: the files that it names exist, and the README's commands are what they seem."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
NAMED = re.compile(r"`((?:src|docs|tests|benchmarks|examples|tools)/[\w./*-]+|\.ci/run)`")
LINKED = re.compile(r"\]\(([\w./-]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text()
    for name in NAMED.findall(text):
        pattern = name.rstrip("/").replace("NAME", "*")  # a page may speak of a file to be added
        assert list(ROOT.glob(pattern)), f"{page.name} names {name}"
    for name in LINKED.findall(text):
        assert (page.parent / name).exists(), f"{page.name} links to {name}"


def test_readme_has_exactly_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    commands = re.findall(r"<!-- (\w+) -->\n```\n(.*)\n```", text)
    assert [kind for kind, _ in commands] == ["run", "test"]
    assert commands[1][1].endswith("python -m pytest")
