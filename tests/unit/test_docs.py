"""The documentation tells the truth: what it names and links exists, and each page has its readers.

Sources are named in docs/dev alone, by folder or by the name of a module, which no other has.
"""

import re
from functools import cache
from pathlib import Path

from grids import each

ROOT = Path(__file__).resolve().parents[2]
DEV = ROOT / "docs" / "dev"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
OF_USERS = sorted((ROOT / "docs").glob("*.md"))
FOLDERS = ("src", "tests", "benchmarks", "building", "examples", "docs")
PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./*-]+|\.ci/\w+)`")
MODULE = re.compile(r"`([\w-]+\.(?:py|pyx|pxd|pyi|csv|c|h|toml|json|bin))`")
SOURCE = re.compile(r"(?<![\w/.])(?:src|tests|benchmarks|building)/\w|\b\w+\.(?:pyx|pxd|pyi)\b|`test_\w+\.py`")
LINK = re.compile(r"!?\[[^]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)
BUILT = {"tables.bin"}


def label(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links: lower case, words joined by dashes; a second one has -1."""
    found: dict[str, int] = {}
    names = set()
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.M):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        names.add(f"{name}-{found[name]}" if name in found else name)
        found[name] = found.get(name, 0) + 1
    return names


def links(page: Path) -> list[tuple[Path, str]]:
    """The files, and the anchors in them, that a page links to."""
    found = []
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            found.append(((page.parent / name).resolve() if name else page, anchor))
    return found


@cache
def file_names() -> set[str]:
    return {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()}


@each("page", PAGES, ids=label)
def test_files_that_a_page_names_exist(page: Path) -> None:
    for name in PATH.findall(page.read_text()):
        pattern = name.rstrip("/").replace("NAME", "*")  # a page may speak of a file to be added
        assert list(ROOT.glob(pattern)), f"{page.name} names {name}"


@each("page", sorted(DEV.glob("*.md")), ids=label)
def test_modules_that_a_page_names_exist(page: Path) -> None:
    named = {name for name in MODULE.findall(page.read_text()) if "NAME" not in name and "STAGE" not in name}
    assert named - file_names() - BUILT == set()


@each("page", [ROOT / "README.md", *OF_USERS], ids=label)
def test_pages_of_users_name_no_sources(page: Path) -> None:
    assert [line for line in page.read_text().splitlines() if SOURCE.search(line)] == []


@each("page", PAGES, ids=label)
def test_links_and_anchors_resolve(page: Path) -> None:
    for file, anchor in links(page):
        assert file.exists(), f"{page.name} links to {file}"
        if anchor:
            assert anchor in anchors(file), f"{page.name} links to {file.name}#{anchor}"


def test_each_page_is_reached_from_the_readme_and_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    assert index in {file for file, _ in links(ROOT / "README.md")}
    listed = {file for file, _ in links(index)}
    assert [label(page) for page in PAGES if page.is_relative_to(index.parent) and page not in listed | {index}] == []


def test_readme_has_exactly_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    commands = re.findall(r"<!-- (\w+) -->\n```\n(.*)\n```", text)
    assert [kind for kind, _ in commands] == ["run", "test"]
    assert commands[1][1].endswith("python -m pytest")


def test_pages_that_sources_name_exist() -> None:
    named = re.compile(r"\bdocs/[\w./-]+\.(?:md|json|svg)\b")
    sources = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".pyx", ".pxd", ".c", ".h")]
    found = {name for path in sources for name in named.findall(path.read_text())}
    assert len(found) > 5
    assert [name for name in sorted(found) if not (ROOT / name).exists()] == []
