"""The commands of the README and of the pages do what the pages say: those with an output print it, the others run.

A block marked ``console`` is a command with its output: all lines, or, where ``...`` stands for some, the others in
their order. A block without a mark has commands alone, which are run one after the other. ``text`` is not run.
"""

import re
import shlex
from pathlib import Path

import pytest
from command import EXAMPLES, pfmon
from grids import first_quick
from host_programs import missing
from page_commands import blocks, contains, told

ROOT = Path(__file__).resolve().parents[3]
PAGES = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")))]
EMULATORS = {"x86_64": "qemu-x86_64", "ppc64": "qemu-ppc64"}
"""Folder of the examples -> what runs them."""
ABSENT = re.compile(r"PROGRAM|\./\w+")
"""A program that is not here."""
OF_OTHER_TESTS = ("docs/reports.md",)  # test_reports_page.py
SLOW = ("--smt ", "hashmap 200000", "hashmap 400000", "--unlimited", "ibs_op", "latency_gt", "cache_lat8")


def plain(page: str) -> list[str]:
    """The commands of a page without their output."""
    lines = [line for text in blocks(page, "") if text.startswith("pfmon ") for line in text.splitlines()]
    assert page == "README.md" or all(line.startswith("pfmon ") for line in lines), page
    return [line.removeprefix("pfmon ") for line in lines if not ABSENT.search(line)]


def readme_run() -> tuple[str, list[str]]:
    """The README's first command, and what it is said to print."""
    text = (ROOT / "README.md").read_text()
    found = re.search(r"<!-- run -->\n```\n.*&& \.venv/bin/pfmon (.*)\n```\n(?:.*\n)*?```\n((?:.*\n)*?)```", text)
    assert found
    return found[1], found[2].splitlines()


def skip_without_emulator(words: str) -> None:
    for folder, program in EMULATORS.items():
        if f"examples/{folder}/" in words and missing().get(program):
            pytest.skip(f"{program} is not here")


def marked(words: str, *values: object) -> object:
    """The case of a test, slow if its command is."""
    marks = [pytest.mark.slow] if any(what in words for what in SLOW) else []
    return pytest.param(words, *values, id=words[:90], marks=marks)


COMMANDS = [(page, *one) for page in PAGES for one in told(page)] + [("README.md", *readme_run())]


@pytest.mark.parametrize(("words", "lines"), [marked(words, lines) for _, words, lines in COMMANDS])
def test_a_command_prints_what_the_page_says(words: str, lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without_emulator(words)
    monkeypatch.chdir(ROOT)
    done = pfmon(*shlex.split(words))
    printed = (done.stderr + done.stdout).splitlines()
    assert contains(printed, lines), "\n".join(printed[:60])


RUN = [page for page in PAGES if page not in OF_OTHER_TESTS and plain(page)]


@pytest.mark.parametrize("page", first_quick(RUN))
def test_commands_without_output_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, as a later one may need a file of an earlier one."""
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    for words in plain(page):
        skip_without_emulator(words)
        done = pfmon(*shlex.split(words))
        assert done.returncode == 0, f"pfmon {words}\n{done.stderr}"


def test_the_pages_have_commands() -> None:
    assert min(len(told(page)) for page in ("docs/first-steps-ia64.md", "docs/first-steps-x86-64.md")) > 8
    assert told("README.md") and len(RUN) >= 4
