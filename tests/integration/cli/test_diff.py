"""`pfmon diff`: two results side by side."""

import json
from pathlib import Path
from typing import Any

import pytest
from browser import shown
from command import example, pfmon, refused
from grids import first_quick
from host_programs import needs

import pfmon as library

SORT = example("sort")
EVENTS = "ia64_inst_retired,loads_retired"


def results(path: Path, size: str, *words: str) -> str:
    """The results of a run as JSON."""
    done = pfmon("--json", f"--outfile={path}", "--no-cmd-output", "-e", EVENTS, *words, SORT, size)
    assert (done.returncode, done.stderr) == (0, "")
    return str(path)


def recorded(path: Path, size: str) -> str:
    assert pfmon(f"--record={path}", "--no-cmd-output", SORT, size).returncode == 0
    return str(path)


def differences(*words: str) -> dict[str, Any]:
    done = pfmon("diff", "--json", *words)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def counts(size: str) -> list[int]:
    run = library.run([SORT, size], events=EVENTS, capture=True)
    return [int(count.value or 0) for count in run.counts]


@pytest.mark.slow
def test_counts_stand_side_by_side(tmp_path: Path) -> None:
    a, b = results(tmp_path / "a", "200"), results(tmp_path / "b", "300")
    found = differences(a, b)
    for pair, first, second in zip(found["counts"], counts("200"), counts("300"), strict=True):
        assert (pair["a"], pair["b"], pair["difference"]) == (first, second, second - first)
        assert pair["change"] == pytest.approx(second / first - 1)
    assert [found[side]["command"] for side in "ab"] == [[SORT, "200"], [SORT, "300"]]
    text = pfmon("diff", a, b).stdout
    first, second = counts("200")[0], counts("300")[0]
    line = next(line for line in text.splitlines() if line.endswith("  IA64_INST_RETIRED"))
    change = f"{100 * (second / first - 1):+.2f}%"
    assert line.split() == [str(first), str(second), f"+{second - first}", change, "IA64_INST_RETIRED"]


@pytest.mark.slow
def test_each_kind_of_file_gives_the_same_counts(tmp_path: Path) -> None:
    files = [results(tmp_path / "json", "200"), recorded(tmp_path / "recording", "200"), str(tmp_path / "baseline")]
    pfmon(f"--save-baseline={files[2]}", "--no-cmd-output", "-e", EVENTS, SORT, "200")
    for a in files:
        for b in files:
            found = differences("-e", EVENTS, a, b) if files[1] in (a, b) else differences(a, b)
            assert [pair["difference"] for pair in found["counts"]] == [0, 0], (a, b)
            assert {found["a"]["kind"], found["b"]["kind"]} <= {"results", "recording", "baseline"}


@pytest.mark.slow
def test_functions_of_events_that_changed_are_named(tmp_path: Path) -> None:
    a, b = results(tmp_path / "a", "200", "--per-function"), recorded(tmp_path / "b", "300")
    found = differences(a, b)["by_event"]["LOADS_RETIRED"]
    runs = [library.run([SORT, n], events=EVENTS, per_function=True, capture=True) for n in ("200", "300")]
    before, after = ({row.name: row.values[1] for row in run.functions or ()} for run in runs)
    assert {pair["name"]: (pair["a"], pair["b"]) for pair in found} == {
        name: (before[name], after[name]) for name in before if before[name] != after[name]
    }
    sizes = [abs(pair["difference"]) for pair in found]
    assert sizes == sorted(sizes, reverse=True) and sizes


@pytest.mark.slow
def test_cycles_are_compared_by_cause_and_by_function(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "run", "2000")
    found = differences(recording, recording, "--b-set", "l1d.size=4K")
    a, b = (library.replay(recording, report="cpi", set=changes).cpi for changes in ([], ["l1d.size=4K"]))
    assert a and b and a.cycles != b.cycles
    causes = {cause["name"]: cause for cause in found["causes"] if cause["part"] is None}
    assert (causes["all cycles"]["cycles"]["a"], causes["all cycles"]["cycles"]["b"]) == (a.cycles, b.cycles)
    for part in a.parts:
        assert (causes[part]["cycles"]["a"], causes[part]["cycles"]["b"]) == (a.total(part), b.total(part))
        assert causes[part]["cpi"]["b"] == pytest.approx(b.total(part) / b.instructions)
    before, after = ({row.name: (sum(row.cycles), row.instructions) for row in side.functions} for side in (a, b))
    changed = {one["name"]: (one["cycles"]["a"], one["cycles"]["b"]) for one in found["functions"]}
    assert changed == {name: (before[name][0], after[name][0]) for name in before if before[name][0] != after[name][0]}
    assert found["b"]["machine"] == "itanium2, l1d.size=4K" and found["a"]["machine"] == "itanium2"


@pytest.mark.slow
def test_a_result_beside_itself_differs_in_nothing(tmp_path: Path) -> None:
    a = results(tmp_path / "a", "100", "--per-function")
    found = differences(a, a)
    assert found["by_event"] == {"IA64_INST_RETIRED": [], "LOADS_RETIRED": []}
    recording = recorded(tmp_path / "run", "100")
    assert "no function differs\n" in pfmon("diff", recording, recording).stdout


def test_what_the_program_printed_before_is_passed_over(tmp_path: Path) -> None:
    done = pfmon("--json", "-e", EVENTS, SORT, "100")
    (tmp_path / "mixed").write_text(f"sorted\n{done.stdout}")
    mixed, alone = str(tmp_path / "mixed"), results(tmp_path / "alone", "100")
    assert [pair["difference"] for pair in differences(mixed, alone)["counts"]] == [0, 0]


@pytest.mark.slow
@needs("chromium-headless-shell")
def test_the_page_shows_what_the_text_shows(tmp_path: Path) -> None:
    recording, page = recorded(tmp_path / "run", "2000"), tmp_path / "page.html"
    done = pfmon(
        "diff", recording, recording, "-e", EVENTS, "--b-set=l1d.size=4K", "--threshold=0%", "--quiet", f"--html={page}"
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = shown(
        page,
        """
        const functions = rows("functions").map((row) => [row[0], row[1]]);
        const counts = rows("counts");
        type(document.getElementById("search"), "quick");
        const found = [...document.querySelectorAll("#functions tr.hit td:first-child")].map((cell) => cell.innerText);
        return {functions, found, counts, bars: document.querySelectorAll("#cycles .bars .bar i").length};
        """,
    )
    assert found["found"] == ["quicksort"] and found["bars"] >= 8
    assert [row[0] for row in found["counts"]] == ["IA64_INST_RETIRED", "LOADS_RETIRED"]
    for name, cycles in found["functions"]:
        assert f"{cycles.replace(',', '')} " in done.stdout and name in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    first_quick(
        [
            ((), "two files are wanted, and 0 given; usage: pfmon diff [OPTION]... [A B]"),
            (("/no/a", "/no/b"), "/no/a: no such file or directory"),
            (("JSON", "/etc/passwd"), "/etc/passwd: neither results (--json), nor a baseline, nor a recording"),
            (("JSON", "JSON", "-e", "cpu_cycles"), "options are for recordings, and neither file is one"),
            (("RECORDING", "JSON", "--b-set=l1d.size=4K"), "JSON: options for B are for recordings"),
            (("JSON", "JSON", "--functions=x"), "--functions=x: a whole number"),
            (("JSON", "JSON", "--html=/no/such/page"), "--html=/no/such/page: there is no directory /no/such"),
            (("--wrong",), "unknown option --wrong"),
        ]
    ),
)
def test_mistakes_are_said_in_a_line(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    files = {"JSON": results(tmp_path / "json", "50"), "RECORDING": recorded(tmp_path / "recording", "50")}
    line = refused("diff", *(files.get(word, word) for word in words))
    assert said.replace("JSON", files["JSON"]) in line


def test_a_program_of_that_name_runs_behind_two_dashes(tmp_path: Path) -> None:
    program = tmp_path / "diff"
    program.write_bytes(Path(example("fib")).read_bytes())
    program.chmod(0o755)
    done = pfmon("-e", "ia64_inst_retired", "--", str(program), "5")
    assert done.returncode == 0 and "IA64_INST_RETIRED" in done.stdout


def test_help_names_every_option() -> None:
    done = pfmon("diff", "--help")
    assert done.returncode == 0 and done.stdout.startswith("usage: pfmon diff")
    for option in ("--events", "--b-set", "--html", "--json", "--outfile"):
        assert option in done.stdout


def test_the_library_has_it(tmp_path: Path) -> None:
    a, b = results(tmp_path / "a", "100"), results(tmp_path / "b", "120")
    found = library.diff(a, b)
    assert found.to_dict() == differences(a, b)
    assert found.counts[0].difference == counts("120")[0] - counts("100")[0]
