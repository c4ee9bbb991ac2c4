"""Where a page is, is said once; --open shows it in the browser, and fails nothing."""

import json
import os
import pty
from pathlib import Path

import pytest
from command import example, pfmon, pfmon_after, pfmon_here, refused

from pfmon.cli.output.written_page import DISPLAYS

FIB = example("fib"), "5"


@pytest.fixture(name="folder", autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture(name="opened")
def addresses_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the addresses that the browser was given."""
    browser, opened = folder / "browser", folder / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {opened}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    return opened


def results(name: str = "results.json") -> str:
    assert pfmon("--json", f"--outfile={name}", "-e", "loads_retired", *FIB).returncode == 0
    return name


def test_a_run_says_where_its_page_is() -> None:
    done = pfmon("--report=html:page.html", *FIB)
    assert (done.returncode, done.stderr) == (0, "pfmon: page.html: the page; --open shows it in the browser\n")
    assert pfmon("--report=html:page.html", "--no-progress", *FIB).stderr == ""
    done = pfmon("--json", "--report=html:page.html", *FIB)
    assert json.loads(done.stdout) and done.stderr.count("page.html") == 1


def test_on_a_terminal_it_is_an_address(folder: Path) -> None:
    reader, writer = pty.openpty()
    pfmon_after(lambda: os.dup2(writer, 2), "--report=html:a page.html", "--no-cmd-output", *FIB)
    shown = os.read(reader, 4096).decode()
    assert f"file://{folder}/a%20page.html: the page" in shown


def test_the_pages_of_tasks_are_one_line() -> None:
    done = pfmon("--report=html:%p.html", "--follow-all", *FIB)
    (page,) = Path().glob("*.html")
    assert done.stderr == f"pfmon: {page}: the page; --open shows it in the browser\n"


def test_open_gives_the_page_to_the_browser(folder: Path, opened: Path) -> None:
    done = pfmon_here("--report=html:page.html", "--open", *FIB)
    assert (done.returncode, done.stderr) == (0, "pfmon: page.html: the page\n")
    assert opened.read_text() == f"file://{folder}/page.html\n"


def test_a_comparison_is_opened_too(folder: Path, opened: Path) -> None:
    one = results()
    done = pfmon_here("diff", one, one, "--html=diff.html", "--open")
    assert (done.returncode, done.stderr) == (0, "pfmon: diff.html: the page\n")
    assert opened.read_text() == f"file://{folder}/diff.html\n"
    assert pfmon("diff", one, one, "--html=diff.html", "--quiet").stderr == ""


@pytest.mark.slow
def test_a_sweep_is_opened_too(folder: Path, opened: Path) -> None:
    pytest.importorskip("pyarrow")
    program = f'[[program]]\ncommand = ["{FIB[0]}", "5"]\n[[machine]]\nname = "itanium2"\n'
    (folder / "one.toml").write_text(f'events = ["loads_retired"]\n{program}')
    assert pfmon_here("sweep", "one.toml", "--workers=1", "--quiet", "--open").returncode == 0
    assert opened.read_text() == f"file://{folder}/one.sweep/index.html\n"


@pytest.mark.parametrize("browser", [None, "/no/such/browser"])
def test_without_a_browser_the_run_succeeds(browser: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if browser:
        monkeypatch.setenv("BROWSER", browser)
    done = pfmon_here("--report=html:page.html", "--open", *FIB)
    assert done.returncode == 0 and (folder / "page.html").exists()
    assert done.stderr.splitlines()[1:] == [
        f"pfmon: --open: no browser can be shown here; the page is file://{folder}/page.html "
        "(BROWSER=COMMAND names one)"
    ]


@pytest.mark.parametrize("words", [(*FIB,), ("diff",)])
def test_open_wants_a_page(words: tuple[str, ...]) -> None:
    files = [results()] * 2 if words == ("diff",) else []
    verb, program = (words, ()) if files else ((), words)
    assert "--open shows a page: give --" in refused(*verb, "--open", *files, *program)
