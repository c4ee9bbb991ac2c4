"""The material to teach with (examples/teaching): the commands of each page print what it says, the figures in its text
are theirs, and its picture shows its sweep."""

import importlib.util
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from types import ModuleType

import pytest
from command import EXAMPLES, pfmon
from grids import first_quick
from host_programs import RUNS_X86_64
from page_commands import BLOCK, ROOT, contains, told
from page_figures import PageFigure, figures, numbers, problem
from sweeps_here import swept_here

TEACHING = EXAMPLES / "teaching"
TOPICS = sorted(path.parent.name for path in TEACHING.glob("*/README.md"))
TABLE = "sweep -q --table "
"""A command that prints `SweptTable.text()`: test_sweep_dimensions.py."""
LINK = re.compile(r"\]\(([^)#\s]+)")

pytestmark = RUNS_X86_64


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory with the examples, in which sweeps leave their results."""
    folder = tmp_path_factory.mktemp("checkout")
    kept = shutil.ignore_patterns("*.sweep")
    shutil.copytree(TEACHING, folder / "examples" / "teaching", ignore=kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


def page_of(topic: str) -> str:
    return f"examples/teaching/{topic}/README.md"


def pictures() -> ModuleType:
    """The module that draws the pictures."""
    spec = importlib.util.spec_from_file_location("pictures", TEACHING / "pictures.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("topic", first_quick(TOPICS))
def test_a_topic_is_what_its_page_says(topic: str, checkout: Path) -> None:
    for words, lines in told(page_of(topic)):
        if words.startswith(TABLE):
            assert swept_here(words.removeprefix(TABLE)).text().splitlines() == lines
            continue
        done = pfmon(*shlex.split(words))
        printed = (done.stderr + done.stdout).splitlines()
        assert done.returncode == 0 and contains(printed, lines), "\n".join([f"$ pfmon {words}", *printed[:60]])


@pytest.mark.parametrize("topic", TOPICS)
def test_the_picture_shows_the_sweep_of_the_page(topic: str) -> None:
    (name,) = [name for name in pictures().PICTURES if name.startswith(f"{topic}/")]
    kept = re.search(r"<dc:description>(.*?)</dc:description>", (TEACHING / f"{name}.svg").read_text(), re.S)
    (lines,) = [lines for words, lines in told(page_of(topic)) if words.startswith(TABLE)]
    assert kept and json.loads(unescape(kept[1])) == [line.split() for line in lines]


@pytest.mark.parametrize("topic", TOPICS)
def test_figures_in_the_text_are_those_of_the_runs(topic: str) -> None:
    text = (ROOT / page_of(topic)).read_text()
    printed = "\n".join(block for _, block in BLOCK.findall(text))
    sources = [path.read_text() for path in (TEACHING / topic).iterdir() if path.suffix in (".c", ".s", ".toml")]
    known = set().union(*map(numbers, [printed, *sources]))
    known |= {one.text.replace(",", "") for one in figures(text) if one.computed}
    assert [found for one in figures(text) if (found := problem(one, known))] == []


def test_a_wrong_figure_is_found() -> None:
    text = "It takes 3.4<!-- 17 / 5 --> times, 3.5<!-- 17 / 5 --> and 99; 20<!-- 1 / 5 -->% and `98`.\n```\n97\n```\n"
    known = {"17"}
    assert [problem(one, known) for one in figures(text)] == ["", "3.5: 17 / 5 is 3.4", "99 is nowhere", ""]
    assert problem(PageFigure("12", "skylake:l2.latency", False), set()) == ""
    assert problem(PageFigure("5", "10 / 2 + 77 - 77", False), set()) == "5: 77 is nowhere"


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_has_a_picture_a_question_and_links_that_lead_somewhere(topic: str) -> None:
    text = (ROOT / page_of(topic)).read_text()
    assert "\n**Question.** " in text and "\n<details><summary>Answer</summary>\n" in text
    targets = [target for target in LINK.findall(text) if "://" not in target]
    assert {Path(target).suffix for target in targets} >= {".svg", ".toml"}
    assert [target for target in targets if not (TEACHING / topic / target).resolve().exists()] == []


def test_all_topics_are_listed() -> None:
    listed = re.findall(r"\(\.\./examples/teaching/([\w-]+)/README\.md\)", (ROOT / "docs" / "teaching.md").read_text())
    assert sorted(listed) == TOPICS and len(TOPICS) == 10
