"""The HTML page in a narrow window, with long names, by keyboard and touch, in light and dark."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser import shown
from command import EXAMPLES, example
from grids import first_quick
from host_programs import needs
from ia64_tasks import Data, call, threads

import pfmon
from pfmon.report.html.run_page import run_page
from pfmon.session.profile.annotated_code import AnnotatedCode, LineCounts
from pfmon.session.profile.call_graph import CallGraph
from pfmon.session.profile.code_profile import Function, Source
from pfmon.session.profile.top_down import NODES

PAIRS = ", ".join(f"std::pair<int const, std::vector<T{n}> >" for n in range(40))
LONG = f"std::__detail::_Map_base<{PAIRS}>::operator[]"
LIBRARY = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30"

pytestmark = [pytest.mark.slow, needs("chromium-headless-shell")]

TOO_WIDE = """
    const scrolls = ".wide, .flame, pre, figure, select, details:not([open])";
    const found = [];
    for (const one of document.querySelectorAll("body *")) {
      if (one.parentElement.closest(scrolls) || one.closest("script, style, #tip, svg")) continue;
      const place = one.getBoundingClientRect(), card = one.closest("section");
      const right = card ? card.getBoundingClientRect().right : innerWidth;
      if (place.width && place.right > right + 0.5) found.push([one.tagName, one.className, place.right, right]);
    }
    const ids = [...document.querySelectorAll("section")].map((one) => one.id);
    return {found, page: document.scrollingElement.scrollWidth, window: innerWidth, ids};
"""


def written(path: Path, command: list[str], change: Callable[[Any], Any] = lambda surveyed: surveyed) -> Path:
    """The page of a run, of which some data was changed."""
    run = pfmon.run(command, report="html", capture=True)
    assert run.surveyed
    surveyed = change(run.surveyed)
    path.write_text(run_page(surveyed, run.command, run.pmu, "0", ["a note"], run.programming, run.counts))
    return path


def with_long_names(surveyed: Any) -> Any:
    """All functions but the first have a long name, and half of these are a library's; lines are of a file with a long
    path."""

    def renamed(function: Any) -> Any:
        if function.name in ("main", "_start"):
            return function
        return function._replace(
            name=LONG.replace("T0", function.name), object=LIBRARY if function.address & 64 else ""
        )

    functions = [renamed(row) for row in surveyed.cpi.functions]
    graph = surveyed.graph
    edges = [edge._replace(caller=renamed(edge.caller), callee=renamed(edge.callee)) for edge in graph.edges]
    places: AnnotatedCode = surveyed.places
    counts = (10,) * (len(surveyed.cpi.parts) + 1)
    lines = [LineCounts("/a/very/long/path/" * 20 + "file.c", 1, counts), LineCounts(__file__, 3, counts)]
    cause = surveyed.causes[0]._replace(function=renamed(Function("f", 1)), source=Source(__file__, 20), in_line=5)
    return surveyed._replace(
        cpi=surveyed.cpi._replace(functions=functions),
        graph=CallGraph({renamed(one): counts for one, counts in graph.inclusive.items()}, edges),
        calls=[row if row.name == "main" else row._replace(name=LONG) for row in surveyed.calls],
        places=places._replace(lines=lines),
        causes=[cause, *surveyed.causes[1:]],
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("layout") / "page.html", [example("hashmap"), "300"], with_long_names)


@pytest.mark.parametrize("width", [420, 900, 1400])
def test_nothing_runs_out_of_its_card_or_of_the_window(page: Path, width: int) -> None:
    found = shown(page, TOO_WIDE, width)
    assert found["window"] == width and len(found["ids"]) > 10
    assert found["found"] == [] and found["page"] <= width


def test_long_names_are_shortened_and_whole_in_tooltips(page: Path) -> None:
    found = shown(
        page,
        """
        const all = [...document.querySelectorAll("#functions td button[data-tip]")];
        const button = all.find((one) => one.innerText.startsWith("std::"));
        const address = [...document.querySelectorAll("#functions tbody tr")].map((row) => row.lastElementChild);
        return {shown: button.innerText, whole: button.dataset.tip,
          options: [...document.querySelectorAll("#function option")].map((one) => one.text.length),
          cut: address.filter((cell) => cell.scrollWidth > cell.clientWidth).length};
        """,
    )
    assert found["shown"] == "std::__detail::_Map_base<…>::operator[]"
    assert found["whole"].startswith("std::__detail::_Map_base<std::pair<int const") and len(found["whole"]) > 700
    assert max(found["options"]) < 160 and found["cut"] == 0


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("std::operator<< <char>(std::ostream&)", "std::operator<< <char>(std::ostream&)"),
        (f"operator<=> <{'A' * 80}>", "operator<=> <…>"),
        (f"f<g<{'A' * 80}>>::operator->()", "f<g<…>>::operator->()"),
        (f"f(int)::{{lambda({'A' * 300})#1}}::operator()() const", "f(int)::{lambda(…)#1}::operator()() const"),
    ],
)
def test_operators_are_not_taken_for_brackets(page: Path, name: str, short: str) -> None:
    assert shown(page, f'return shortName("{name}");') == short


def test_the_page_has_the_top_down_analysis(tmp_path: Path) -> None:
    made = written(tmp_path / "page.html", [str(EXAMPLES / "x86_64" / "fib"), "15"])
    found = shown(
        made,
        """
        const rows = [...document.querySelectorAll('table[aria-label="slots"] tbody tr')];
        return rows.map((row) => [...row.children].map((cell) => cell.innerText));
        """,
    )
    assert [row[0] or row[1] for row in found] == [name for part, of in NODES.items() for name in (part, *of)]
    slots = {row[0] or row[1]: int(row[2].replace(",", "").replace("\N{EN DASH}", "0")) for row in found}
    assert all(slots[part] == sum(slots[name] for name in of) for part, of in NODES.items())


def test_tooltips_come_by_keyboard_and_touch_and_go_by_escape(page: Path) -> None:
    found = shown(
        page,
        """
        const box = document.getElementById("tip"), bar = document.querySelector("#cycles .bar");
        const seen = () => (box.hidden ? null : box.innerText);
        const before = seen();
        bar.focus();
        const focused = seen(), described = bar.getAttribute("aria-describedby");
        key(bar, "Escape");
        const escaped = seen();
        document.querySelector("#functions th button[data-tip]").click();
        const touched = seen();
        document.body.click();
        const titles = document.querySelectorAll("main [title]").length;
        return {before, focused, described, escaped, touched, after: seen(), titles};
        """,
    )
    assert found["before"] is found["escaped"] is found["after"] is None and found["described"] == "tip"
    assert "inherent execution: " in found["focused"] and found["touched"] == "cycles of its own instructions"
    assert found["titles"] == 0  # no text that only a mouse reaches


def test_functions_of_a_library_are_one_row_that_opens(page: Path) -> None:
    found = shown(
        page,
        """
        const all = () => rows("functions").map((row) => row[0]);
        const cycles = () => rows("functions").map((row) => Number(row[1].replaceAll(",", "")));
        const buttons = () => [...document.querySelectorAll("#functions td button")];
        const opener = () => buttons().find((one) => one.innerText.includes("libstdc++"));
        const folded = all(), expanded = opener().getAttribute("aria-expanded");
        const own = cycles()[folded.findIndex((name) => name.includes("libstdc++"))];
        opener().click();
        const inside = [...document.querySelectorAll("#functions tr.within")];
        const within = inside.map((row) => Number(row.cells[1].innerText.replaceAll(",", "")));
        const open = [all().length, opener().getAttribute("aria-expanded")];
        opener().click();
        return {folded: folded.length, expanded, own, within, open, closed: all().length};
        """,
    )
    assert found["expanded"] == "false" and found["open"][1] == "true" and found["closed"] == found["folded"]
    assert found["open"][0] == found["folded"] + len(found["within"]) and len(found["within"]) > 1
    assert found["own"] == sum(found["within"])


CONTRASTS = """
    const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const linear = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const channel = (value) => linear(value / 255);
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const ratio = (a, b) => {
      const [x, y] = [light(a), light(b)].sort((m, n) => n - m);
      return (x + 0.05) / (y + 0.05);
    };
    const behind = (one) => {
      for (; one; one = one.parentElement) {
        const colour = rgb(getComputedStyle(one).backgroundColor);
        if (colour.length === 3 || colour[3] > 0) return colour;
      }
      return [255, 255, 255];
    };
    type(document.getElementById("search"), "main");
    for (const one of document.querySelectorAll("details")) {
      one.open = true;
      one.dispatchEvent(new Event("toggle"));
    }
    const bad = new Set();
    let count = 0;
    for (const theme of ["light", "dark"]) {
      setTheme(theme);
      for (const one of document.querySelectorAll("body *")) {
        const texts = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (one.closest("svg, script, style, .flame") || !texts) continue;
        const found = ratio(rgb(getComputedStyle(one).color), behind(one));
        count += 1;
        if (found < 4.5) bad.add(`${theme} ${one.tagName}.${one.className} ${found.toFixed(2)}`);
      }
      const style = getComputedStyle(document.documentElement);
      for (let part = 0; part < 6; part++) {
        const hex = style.getPropertyValue(`--f${part}`).trim();
        const colour = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
        if (ratio(colour, [20, 24, 31]) < 4.5) bad.add(`${theme} --f${part}`);
      }
    }
    return {bad: [...bad], count};
"""


def test_text_has_the_contrast_of_wcag_in_light_and_dark(page: Path) -> None:
    """4.5 to 1, WCAG 2.1, 1.4.3."""
    found = shown(page, CONTRASTS)
    assert found["bad"] == [] and found["count"] > 400


def test_everything_that_is_clicked_is_a_button_or_a_link_with_a_name(page: Path) -> None:
    found = shown(
        page,
        """
        const all = [...document.querySelectorAll("button, a, select, input, [tabindex]")];
        const nameless = all.filter((one) => !(one.textContent || one.getAttribute("aria-label") || "").trim());
        const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
        const twice = ids.filter((id, n) => ids.indexOf(id) !== n);
        return {nameless: nameless.map((one) => one.outerHTML.slice(0, 120)), twice};
        """,
    )
    assert found == {"nameless": [], "twice": []}


@pytest.mark.parametrize("name", first_quick(["hashmap", "sort", "matmul"]))
def test_pages_of_x86_64_programs_have_all_sections(tmp_path: Path, name: str) -> None:
    page = written(tmp_path / "page.html", [str(EXAMPLES / "x86_64" / name), "100"])
    found = shown(
        page,
        TOO_WIDE.replace("return {", "return {ids: [...document.querySelectorAll('section')].map((one) => one.id),"),
        420,
    )
    assert found["found"] == [] and found["page"] <= 420
    assert {"findings", "functions", "callers", "flame", "code", "data", "latencies"} <= set(found["ids"])


def test_threads_are_side_by_side(tmp_path: Path) -> None:
    """Thread n calls a function of six instructions n + 1 times."""
    data = Data()
    word = data.add("word", bytes(8))
    worker = ["adds r5=1,r4", "again:", "br.call.sptk.few b1=leaf", "adds r5=-1,r5", "cmp.eq p6,p7=r5,r0"]
    worker += ["(p7) br.cond.sptk.few again", *call("exit", 0), "leaf:", "nop.m 0", "br.ret.sptk.few b1"]
    program = threads(tmp_path / "calls", 4, worker, word, data)
    run = pfmon.run(program, report="html", capture=True, per_thread=True, events="ia64_inst_retired", quantum=5)
    assert run.surveyed and run.threads
    page = tmp_path / "page.html"
    page.write_text(run.to_html())
    found = shown(
        page, 'return {rows: rows("threads"), bars: document.querySelectorAll("#threads .bars .bar").length};'
    )
    figures = {row[0]: [int(value.replace(",", "")) for value in row[1::2]] for row in found["rows"]}
    assert found["bars"] == 5 and sum(figures["cycles"]) == run.surveyed.cpi.cycles
    counted = sorted(thread.retired for thread in run.threads)
    assert sorted(figures["instructions"]) == sorted(figures["IA64_INST_RETIRED"]) == counted


LOOPS = """#include <stdio.h>

static volatile long sums[4];

static void divide(long most)
{
    for (long i = 1; i <= most; i++)
        sums[0] += 1000000007L / i;
}

int main(void)
{
    divide(100000);
    printf("%ld\\n", sums[0]);
    return 0;
}
"""


@needs("cc")
def test_a_finding_leads_to_its_line_in_the_whole_file(tmp_path: Path) -> None:
    (tmp_path / "loops.c").write_text(LOOPS)
    command = ["cc", "-g", "-O1", "-fno-inline", "-march=x86-64", "-o", "loops", "loops.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    page = written(tmp_path / "page.html", [str(tmp_path / "loops")])
    found = shown(
        page,
        """
        const choice = document.getElementById("file"), files = [...choice.options].map((one) => one.text);
        choice.selectedIndex = files.findIndex((one) => one.includes("loops.c"));
        choice.dispatchEvent(new Event("change"));
        const all = [...document.querySelectorAll("#files tbody tr")].map((row) => row.lastElementChild.textContent);
        const retired = (line) => document.querySelectorAll("#files tbody tr")[line - 1].cells[0].innerText;
        const counts = [1, 4, 7, 8, 13].map(retired);
        document.querySelector("#findings dd button.link").click();
        const shown = document.querySelector("#callers h3").textContent;
        [...document.querySelectorAll("#findings dd button")].find((one) => one.innerText === "loops.c:8").click();
        const marked = document.querySelector("#files tr.found").cells[4].innerText;
        document.querySelector("#files tr.found button").click();
        return {all, counts, shown, marked, code: document.querySelector("#code tr.source.found").innerText};
        """,
    )
    assert found["all"] == LOOPS.split("\n")
    assert found["counts"][:2] == ["", ""] and all(int(one.replace(",", "")) for one in found["counts"][2:])
    assert int(found["counts"][3].replace(",", "")) > 2 * 100000 and found["shown"] == "divide"
    assert found["marked"] == "8" and found["code"].startswith("loops.c:8")
