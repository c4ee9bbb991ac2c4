"""The HTML page of a run: what is in it, and what a browser makes of it."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from browser import data_of, outcome, shown
from command import example, pfmon, refused
from cpp_program import HEADER, MAIN_FILE, NAME, write_cpp_program
from grids import first_quick
from host_programs import needs

import pfmon as library
from pfmon.report.html.run_page import run_page
from pfmon.session.profile.cpi_stack import CpiStack, FunctionRow
from pfmon.session.profile.omissions import Omission

HASHMAP = (example("hashmap"), "500")


def made(path: Path, *words: str, program: Sequence[str] = HASHMAP) -> Path:
    """The page of a run."""
    done = pfmon("--no-cmd-output", "--no-progress", f"--report=html:{path}", *words, *program)
    assert (done.returncode, done.stderr) == (0, "")
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("html") / "run.html")


@pytest.mark.slow
def test_cycles_are_those_of_the_cycle_breakdown(page: Path) -> None:
    cpi = library.run(HASHMAP, report="cpi", capture=True).cpi
    data = data_of(page)
    assert cpi and data["cpi"]["cycles"] == cpi.cycles and data["cpi"]["instructions"] == cpi.instructions
    assert {part["name"]: dict(part["of"]) for part in data["cpi"]["parts"]} == cpi.parts
    assert [(row[0], tuple(row[3:9]), row[9]) for row in data["functions"]["rows"]] == [
        (row.name, row.cycles, row.instructions) for row in cpi.functions
    ]


def test_calls_and_instructions_add_up_to_the_run(page: Path) -> None:
    data = data_of(page)
    sums = [sum(column) for column in zip(*(row[3:] for row in data["calls"]["rows"]), strict=True)]
    assert sum(sums[:-1]) == data["cpi"]["cycles"] and sums[-1] == data["cpi"]["instructions"]
    for listing in data["listings"]:
        assert listing["whole"]
        function = data["functions"]["rows"][listing["function"]]
        counts = [row[2] for row in listing["rows"] if row[2]]
        assert [sum(column) for column in zip(*counts, strict=True)] == function[3:10]


@pytest.mark.slow
def test_counts_stay_what_they_are_beside_the_page(tmp_path: Path) -> None:
    words = ("-e", "cpu_cycles,loads_retired", "--no-cmd-output", "--no-progress", "--per-function")
    alone = pfmon(*words, *HASHMAP)
    done = pfmon(*words, f"--report=html:{tmp_path / 'page'}", *HASHMAP)
    assert (done.returncode, done.stdout, done.stderr) == (0, alone.stdout, alone.stderr)
    data = data_of(tmp_path / "page")
    run = library.run(HASHMAP, events="cpu_cycles,loads_retired", per_function=True, capture=True)
    assert run.functions
    assert {row[0]: tuple(row[10:]) for row in data["functions"]["rows"] if any(row[10:])} == {
        row.name: row.values for row in run.functions
    }
    assert [count["count"] for count in data["counts"]] == [count.value for count in run.counts]


@pytest.mark.slow
@needs("chromium-headless-shell")
def test_it_opens_without_an_error_and_a_function_is_found(page: Path) -> None:
    found = shown(
        page,
        """
        const names = () => rows("functions").map((row) => row[0]);
        const before = names();
        key(document.body, "/");
        const focused = document.activeElement.id;
        type(document.getElementById("search"), "LOOK");
        const after = names(), hits = [...document.querySelectorAll("#functions tr.hit td:first-child")];
        const counted = document.getElementById("found").textContent;
        key(document.getElementById("search"), "Enter");
        const here = document.querySelector("tr.hit.here td").innerText;
        const found = hits.map((cell) => cell.innerText);
        const marked = document.querySelectorAll('#flame g.frame rect[fill="#e24bd3"]').length;
        type(document.getElementById("search"), "");
        const left = document.querySelectorAll("tr.hit").length;
        [...document.querySelectorAll("#functions td button")].find((one) => one.innerText === "lookup").click();
        return {before, focused, after, marked, found, here, counted, left,
          callers: [...document.querySelectorAll("#callers h3")].map((one) => one.innerText),
          calling: document.querySelector("#callers .pair table tbody td").innerText,
          drawn: document.documentElement.dataset.drawn,
          shown: document.getElementById("function").selectedOptions[0].text, code: rows("code").length};
        """,
    )
    assert found["drawn"] == "yes" and found["focused"] == "search"
    assert "main" in found["before"] and found["after"] == found["before"]  # the search takes no row away
    assert found["found"] == ["lookup"] and "look" in found["here"] and found["marked"] == 1
    assert re.fullmatch(r"\d+ found", found["counted"]) and found["left"] == 0
    assert found["callers"] == ["lookup", "Called by", "Calls"] and found["calling"] == "main"
    assert found["shown"].startswith("lookup (") and found["code"] > 20


@pytest.mark.slow
@needs("chromium-headless-shell")
def test_tables_are_sorted_by_their_headings(page: Path) -> None:
    found = shown(
        page,
        """
        const heads = [...document.querySelectorAll("#functions th")];
        const head = heads.find((one) => one.innerText.startsWith("instructions"));
        const column = () => rows("functions").map((row) => Number(row[6].replaceAll(",", "")));
        head.querySelector("button").click();
        const down = [column(), head.getAttribute("aria-sort")];
        head.querySelector("button").click();
        return [down, [column(), head.getAttribute("aria-sort")]];
        """,
    )
    (down, said_down), (up, said_up) = found
    assert down == sorted(down, reverse=True) and up == down[::-1] and len(set(down)) > 2
    assert (said_down, said_up) == ("descending", "ascending")


@pytest.mark.slow
@needs("chromium-headless-shell")
def test_the_graph_of_calls_is_gone_through_by_keys(page: Path) -> None:
    found = shown(
        page,
        """
        const graph = document.querySelector("#flame .flame"), said = document.getElementById("flame-said"), all = [];
        for (const name of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp", "Enter"]) {
          key(graph, name);
          all.push(said.textContent.split(" ")[0]);
        }
        const zoomed = [...graph.querySelectorAll("g.frame")].length;
        key(graph, "Escape");
        const button = [...document.querySelectorAll("#flame button")].find((one) => one.textContent === "flame");
        button.click();
        const frames = graph.querySelectorAll("g.frame").length;
        return {all, zoomed, pressed: button.getAttribute("aria-pressed"), frames};
        """,
    )
    first, second, third, beside, back, chosen = found["all"]
    assert (first, second, back, chosen) == ("_start", "main", "main", "main")
    assert third != beside and {third, beside} < {"lookup", "insert", "memset", "printf", "atol", "malloc"}
    assert found["pressed"] == "true" and found["frames"] >= found["zoomed"] > 3


@pytest.mark.slow
@needs("chromium-headless-shell")
def test_light_and_dark_are_told_apart(page: Path) -> None:
    found = shown(
        page,
        """
        const seen = () => [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor];
        const first = seen();
        document.getElementById("theme").click();
        return [first, seen()];
        """,
    )
    assert sorted(name for name, _ in found) == ["dark", "light"] and len({colour for _, colour in found}) == 2


@needs("chromium-headless-shell")
@pytest.mark.parametrize(
    ("words", "sections"),
    first_quick(
        [
            (("-e", "loads_retired", "--print-interval=0.01"), {"counts", "time"}),
            (("-e", "loads_retired", "-e", "cpu_cycles", "--switch-timeout=0.01", "--true-values"), {"counts"}),
            (
                ("-e", "cpu_cycles", "--long-smpl-periods=1000", "--smpl-stacks", "--smpl-outfile=/dev/null"),
                {"counts", "samples"},
            ),
        ]
    ),
)
def test_what_was_asked_for_is_shown_and_drawn(words: Sequence[str], sections: set[str], tmp_path: Path) -> None:
    found = shown(
        made(tmp_path / "page.html", *words),
        """
        const sections = [...document.querySelectorAll("main section")];
        return sections.map((one) => [one.id, one.querySelectorAll("svg *").length]);
        """,
    )
    usual = {"findings", "summary", "cycles", "functions", "callers", "flame", "code", "pipeline", "data", "latencies"}
    assert {name for name, _ in found} == usual | sections
    drawn = {"flame", "latencies"} | (sections - {"counts"})
    drawn |= {"counts"} if "--true-values" in words else set()
    assert all(dict(found)[name] > 10 for name in drawn)


def test_nothing_in_a_page_is_from_elsewhere(page: Path) -> None:
    text = page.read_text()
    assert not re.search(r"<(script|img|link|iframe)[^>]*(src|href)=\"(?!data:)", text)
    assert "@import" not in text and not re.search(r"url\(\s*['\"]?https?:", text)


@pytest.mark.slow
def test_a_name_cannot_end_the_data(tmp_path: Path) -> None:
    words = (example("fib"), "5", "</script><!--<b>", "\udcff")
    page = made(tmp_path / "page.html", program=words)
    assert data_of(page)["command"] == list(words)


@pytest.mark.slow
@needs("chromium-headless-shell")
def test_ten_thousand_functions_open_in_two_seconds(tmp_path: Path) -> None:
    run = library.run(HASHMAP, report="html", capture=True)
    surveyed = run.surveyed
    assert surveyed
    rows = [
        FunctionRow(f"name_of_function_{n}", 1 << 62 | n << 6, (n, n, n, 0, 5, 0), 3 * n) for n in range(10_000, 0, -1)
    ]
    cpi: CpiStack = surveyed.cpi._replace(functions=rows)
    calls = [surveyed.calls[0]._replace(parent=-1)]
    calls += [surveyed.calls[1]._replace(parent=n // 3, name=f"name_of_function_{n}") for n in range(6000)]
    text = run_page(surveyed._replace(cpi=cpi, calls=calls), run.command, run.pmu, "0", [], run.programming)
    path = tmp_path / "large.html"
    path.write_text(text)
    assert len(text) < 5_000_000
    times = []
    while len(times) < 3 and (not times or min(times) >= 2000):  # a host that is busy is given another chance
        seen = outcome(path, 'return rows("functions").length;')
        assert seen["found"] == 40
        times.append(seen["milliseconds"])
    assert min(times) < 2000


@pytest.mark.slow
@needs("chromium-headless-shell")
def test_what_the_model_leaves_out_is_said_below_the_cycles(tmp_path: Path) -> None:
    run = library.run(HASHMAP, report="html", capture=True)
    surveyed = run.surveyed
    assert surveyed
    cpi = surveyed.cpi._replace(omissions=[Omission("of the instructions have no row", 0.07)])
    path = tmp_path / "run.html"
    path.write_text(run_page(surveyed._replace(cpi=cpi), run.command, run.pmu, "0", [], run.programming))
    found = shown(path, "return document.querySelector('#cycles').textContent;")
    assert "not modelled: 7.0% of the instructions have no row" in found


def test_the_page_stays_when_a_run_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.write_text("old")
    assert "no_such_event" in refused(f"--report=html:{path}", "-e", "no_such_event", *HASHMAP)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("word", "said"),
    first_quick(
        [
            ("html", "--report=html wants a file: --report=html:FILE"),
            ("html:", "--report=html wants a file: --report=html:FILE"),
            ("html:/no/such/page", "--report=html:/no/such/page: there is no directory /no/such"),
            ("cpi:page", "--report=cpi is printed with the counts and takes no file: --outfile=page"),
        ]
    ),
)
def test_mistakes_are_said_in_a_line(word: str, said: str) -> None:
    assert refused(f"--report={word}", *HASHMAP) == f"pfmon: {said}\n"


@pytest.mark.slow
def test_a_full_disk_is_said_in_a_line() -> None:
    done = pfmon("--report=html:/dev/full", "--no-cmd-output", *HASHMAP)
    assert (done.returncode, done.stderr) == (125, "pfmon: --report=html:/dev/full: no space left on device\n")


@pytest.mark.slow
def test_a_recording_gives_the_page_of_the_run(page: Path, tmp_path: Path) -> None:
    assert pfmon("--record", str(tmp_path / "run"), "--no-cmd-output", *HASHMAP).returncode == 0
    again = made(tmp_path / "page", f"--replay={tmp_path / 'run'}", program=())
    assert data_of(again) == data_of(page)


def test_the_library_gives_the_same_page(page: Path) -> None:
    run = library.run(HASHMAP, report="html", capture=True)
    assert run.to_html() == page.read_text()
    with pytest.raises(library.PfmonError, match='report="html"'):
        library.run(HASHMAP, capture=True).to_html()


@pytest.fixture(scope="module")
def cpp_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a program with DWARF (cpp_program.py)."""
    folder = tmp_path_factory.mktemp("cpp")
    return made(folder / "cpp.html", program=(str(write_cpp_program(folder / "program")),))


def test_source_lines_have_what_their_instructions_counted(cpp_page: Path) -> None:
    data = data_of(cpp_page)
    lines = {(data["files"][row[0]]["path"], row[1]): row[8] for row in data["lines"]}
    assert lines.pop((MAIN_FILE, 6)) > 0  # however long it takes to exit
    assert lines == {  # a bundle is three instructions; the loop runs ten times
        (MAIN_FILE, 3): 3,
        (MAIN_FILE, 4): 10 * (3 + 3),
        (HEADER, 20): 10 * 3,
        (HEADER, 11): 10 * 3,
        (HEADER, 12): 10 * 3,
    }


@pytest.mark.slow
@needs("chromium-headless-shell")
def test_a_source_line_leads_to_its_instructions(cpp_page: Path) -> None:
    found = shown(
        cpp_page,
        """
        const links = [...document.querySelectorAll("#lines td button")];
        const all = [];
        for (const name of ["shape.h:11", "main.cpp:4"]) {
          links.find((one) => one.innerText === name).click();
          const heading = document.querySelector("#code tr.found");
          all.push([document.getElementById("function").selectedOptions[0].text, heading.innerText.trim()]);
        }
        return all;
        """,
    )
    (area, first), (main, second) = found
    assert area.startswith(f"{NAME} (") and first == "shape.h:11"
    assert main.startswith("main (") and second == "main.cpp:4"


@pytest.mark.slow
@needs("chromium-headless-shell")
def test_a_run_in_which_nothing_ran_has_a_page(tmp_path: Path) -> None:
    prepared = library.prepare(HASHMAP, report="html", capture=True)
    prepared.stop()
    path = tmp_path / "page.html"
    path.write_text(prepared.run().to_html())
    said = shown(path, 'return document.querySelector("main").innerText;')
    assert "Nothing has run." in said and "NaN" not in said
