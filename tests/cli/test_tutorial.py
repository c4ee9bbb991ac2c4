"""The commands of the tutorial and of the README print what these pages say."""

import re
import shlex
from pathlib import Path

import pytest
from command import pfmon

ROOT = Path(__file__).resolve().parents[2]
CONSOLE = re.compile(r"```console\n\$ pfmon (.*)\n((?:.*\n)*?)```")
CUT = "..."


def told(page: str) -> list[tuple[str, list[str]]]:
    """Each command of a page, without pfmon, and the lines that follow it."""
    return [(words, text.splitlines()) for words, text in CONSOLE.findall((ROOT / page).read_text())]


def readme_run() -> tuple[str, list[str]]:
    """The README's first command, and what it is said to print."""
    text = (ROOT / "README.md").read_text()
    found = re.search(r"<!-- run -->\n```\n.*&& \.venv/bin/pfmon (.*)\n```\n(?:.*\n)*?```\n((?:.*\n)*?)```", text)
    assert found
    return found[1], found[2].splitlines()


COMMANDS = [*told("docs/tutorial.md"), *told("README.md"), readme_run()]


@pytest.mark.parametrize(("words", "lines"), COMMANDS, ids=[words for words, _ in COMMANDS])
def test_a_command_prints_what_the_page_says(words: str, lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    done = pfmon(*shlex.split(words))
    printed = (done.stderr + done.stdout).splitlines()
    if lines[-1] == CUT:
        lines = lines[:-1]
        assert len(printed) > len(lines)
        printed = printed[: len(lines)]
    assert printed == lines


def test_the_pages_have_commands() -> None:
    assert len(told("docs/tutorial.md")) > 8 and told("README.md")
