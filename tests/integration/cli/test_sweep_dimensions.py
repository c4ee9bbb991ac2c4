"""What a sweep varies: arguments of programs, figures, predictors; machines that are not named; labels and colours."""

import json
from pathlib import Path
from typing import Any

import pytest
from browser import data_of, shown
from command import EXAMPLES, example, pfmon, refused
from host_programs import RUNS_X86_64, needs
from sweeps_here import swept_here

import pfmon as library
from pfmon.library.sweep.sweep_labels import labels, varied_names
from pfmon.library.sweep.sweep_plan import Sweep, read

BRANCHY = str(EXAMPLES / "x86_64" / "branchy")
HASHMAP = example("hashmap")


def written(folder: Path, text: str) -> str:
    path = folder / "some.toml"
    path.write_text(text)
    return str(path)


def planned(folder: Path, text: str) -> Sweep:
    return read(written(folder, text))


def program(command: list[str], further: str = "") -> str:
    return f"[[program]]\ncommand = {json.dumps(command)}\n{further}\n"


def said(folder: Path, text: str) -> str:
    return refused("sweep", written(folder, text))


def test_without_a_machine_each_program_has_that_of_its_instruction_set(tmp_path: Path) -> None:
    wanted = planned(tmp_path, program([BRANCHY]) + program([HASHMAP]))
    assert [(cell.program, cell.machine, cell.pmu) for cell in wanted.cells] == [
        ("branchy", "skylake", "skylake"),
        ("hashmap", "itanium2", "itanium2"),
    ]
    for cell in wanted.cells:  # the events, too, are those of a run
        assert list(cell.events) == library.run(wanted.programs[cell.run].command, capture=True).counts.names


def test_a_recording_has_the_machine_of_its_program(tmp_path: Path) -> None:
    library.record(tmp_path / "run", [example("fib"), "3"], pmu="montecito", stdout=library.DEVNULL)
    (cell,) = planned(tmp_path, f'[[program]]\nrecording = "{tmp_path / "run"}"\n').cells
    assert cell.machine == "itanium2"


def test_a_pmu_stands_for_its_machine(tmp_path: Path) -> None:
    text = 'pmu = "zen3"\n' + program([BRANCHY])
    assert [cell.machine for cell in planned(tmp_path, text).cells] == ["zen3"]
    assert "pmu stands for [[machine]]" in said(tmp_path, text + '[[machine]]\nname = "zen3"\n')
    assert "zen33" in said(tmp_path, text.replace("zen3", "zen33"))


def test_arguments_of_a_program_are_tried_in_all_combinations(tmp_path: Path) -> None:
    values = 'arguments = { count = [10, 20], "a,b" = [["x", 1], ["y", 2]] }'
    wanted = planned(tmp_path, program([BRANCHY, "{count}", "-{a}{b}", "last"], values))
    assert [one.command[1:] for one in wanted.programs.values()] == [
        [count, word, "last"] for count in ("10", "20") for word in ("-x1", "-y2")
    ]
    assert {cell.program for cell in wanted.cells} == {"branchy last"}
    assert [dict(cell.figures) for cell in wanted.cells][1] == {"count": 10, "a": "y", "b": 2}


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ("arguments = { count = [1] }", "the command has no {count}"),
        ("arguments = { percent = [] }", "a list of values is wanted"),
        ("arguments = { percent = [1.5] }", "texts and whole numbers are wanted"),
        ("arguments = 3", "program.arguments is a table"),
    ],
)
def test_mistakes_in_arguments_are_said(values: str, text: str, tmp_path: Path) -> None:
    assert text in said(tmp_path, program([BRANCHY, "{percent}"], values))
    assert "is the name of another column" in said(tmp_path, program([BRANCHY, "{pmu}"], "arguments = { pmu = [1] }"))


MACHINES = """
[figures]
"l1d.size,l1d.ways" = [["16K", 8], ["32K", 8], ["64K", 16]]
memory.latency = [100, 200]
prefetch.degree = [2]
[[machine]]
name = "skylake"
set = ["l2.latency=12", "memory.walk=20"]
[[machine]]
name = "skylake"
set = ["l2.latency=14", "memory.walk=20"]
"""


def test_labels_name_what_differs_alone(tmp_path: Path) -> None:
    cells = planned(tmp_path, program([BRANCHY]) + MACHINES).cells
    assert varied_names(cells) == ["l1d.size", "memory.latency"]  # ways follow from the size
    assert labels(cells)[0] == "skylake, l2.latency=12, l1d.size=16K, memory.latency=100"
    assert len({*labels(cells)}) == len(cells) == 2 * 3 * 2
    (one,) = planned(tmp_path, program([BRANCHY])).cells
    assert labels([one]) == ["branchy"]


@RUNS_X86_64
def test_kinds_of_predictors_are_values_of_a_figure(tmp_path: Path) -> None:
    kinds = ["bimodal", "hybrid", "tage"]
    text = f'events = ["branch-misses"]\n[figures]\npredictor.kind = {json.dumps(kinds)}\n'
    path = written(tmp_path, text + program([BRANCHY, "300", "20"]))
    header, *rows = [line.split() for line in swept_here(path).text().splitlines()]
    assert header == ["predictor.kind", "branch-misses"]
    for kind, misses in rows:
        run = library.run([BRANCHY, "300", "20"], events="branch-misses", set={"predictor.kind": kind}, capture=True)
        assert run.counts[0].value == int(misses)
    assert [kind for kind, _ in rows] == kinds


def test_replacement_policies_are_values_of_a_figure_of_the_itaniums(tmp_path: Path) -> None:
    kinds = ["lru", "nru", "plru", "random"]
    text = f'events = ["l1d_read_misses_all"]\n[figures]\nl1d.replacement = {json.dumps(kinds)}\nl1d.size = ["2K"]\n'
    swept = swept_here(written(tmp_path, text + program([HASHMAP, "100"])))
    assert swept.column("l1d.replacement") == kinds and swept.varied == ["l1d.replacement"]
    for kind, misses in zip(kinds, swept.column("L1D_READ_MISSES_ALL"), strict=True):
        changes = {"l1d.replacement": kind, "l1d.size": "2K"}
        run = library.run([HASHMAP, "100"], events="l1d_read_misses_all", set=changes, capture=True)
        assert run.counts[0].value == misses
    assert len(set(swept.column("L1D_READ_MISSES_ALL"))) > 1


@RUNS_X86_64
def test_the_library_has_the_table_of_the_command(tmp_path: Path) -> None:
    values = "arguments = { percent = [1, 50] }"
    path = written(tmp_path, program([BRANCHY, "300", "{percent}"], values))
    swept = library.sweep(path, workers=1)
    assert pfmon("sweep", "-q", "--table", path).stdout == swept.text()
    rows = swept.to_dict()
    assert [row["percent"] for row in rows] == swept.column("percent") == [1, 50]
    assert rows[1]["branch-misses"] > rows[0]["branch-misses"]
    with pytest.raises(library.UnknownNameError, match="percentage"):
        swept.column("percentage")


COLOURS = """
const fills = (id) => [...document.querySelectorAll(`#${id} rect`)].map((one) => [
  Number(one.querySelector("title").textContent.split("\\n")[2].replaceAll(",", "")), one.getAttribute("fill")]);
const choose = (id, label, text) => {
  const select = document.querySelector(`#${id} select[aria-label="${label}"]`);
  select.selectedIndex = [...select.options].findIndex((one) => one.text === text);
  select.dispatchEvent(new Event("change"));
};
choose("machines", "show", "branch-misses");
choose("pairs", "show", "branch-misses");
choose("pairs", "across", "percent");
choose("pairs", "down", "predictor.kind");
const whole = fills("machines");
const maps = ["300", "600"].map((count) => { choose("pairs", "count", count); return fills("pairs"); });
const scale = document.querySelector("#machines figcaption").textContent;
choose("curves", "over", "predictor.kind");
const over = [...document.querySelectorAll("#curves circle title")].map((one) => one.textContent);
return {whole, maps, scale, over};
"""


@pytest.mark.slow
@needs("chromium-headless-shell")
@RUNS_X86_64
def test_a_colour_is_one_value_in_all_maps_of_a_page(tmp_path: Path) -> None:
    text = 'events = ["branch-misses"]\n[figures]\npredictor.kind = ["bimodal", "tage"]\n'
    values = "arguments = { count = [300, 600], percent = [2, 50] }"
    path = written(tmp_path, text + program([BRANCHY, "{count}", "{percent}"], values))
    page = tmp_path / "index.html"
    page.write_text(swept_here(path).to_html())
    rows = [dict(zip(data_of(page)["columns"], row, strict=True)) for row in data_of(page)["rows"]]
    found: dict[str, Any] = shown(page, COLOURS)
    assert len(found["whole"]) == len(rows) == 8 and [len(one) for one in found["maps"]] == [4, 4]
    colours = dict(map(tuple, found["whole"]))
    assert all(colours[value] == fill for one in found["maps"] for value, fill in one)
    most = max(row["branch-misses"] for row in rows)
    assert len({*colours.values()}) == len(colours) and f"from 0 (green) to {most} (red)" in found["scale"]
    assert len(found["over"]) == 8 and any("tage: " in title for title in found["over"])
