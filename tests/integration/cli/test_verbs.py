"""perf's verbs are pfmon's own options in other words."""

import re
import shutil
from pathlib import Path

import pytest
from answers import answer
from command import EXAMPLES, example, pfmon, refused

from pfmon.cli.commands.verb import NOT_HERE, WITHOUT_EFFECT, verb_of
from pfmon.cli.first_words import VERBS

FIB = example("fib"), "9"
MANY = "loads_retired,stores_retired,nops_retired,ia64_inst_retired,cpu_cycles,br_mispred_detail_all_all_pred"
"""More than there are counters."""


@pytest.fixture(name="folder", autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ((), ()),
        (("-e", "loads_retired", "-r", "2"), ("-e", "loads_retired", "-r", "2")),
        (("-x,", "-e", "loads_retired"), ("--csv", "-e", "loads_retired")),
        (("-B", "-d", "-e", "loads_retired"), ("--us-counter-format", "-e", "loads_retired")),
        (("-e", "nops_retired", "-e", "loads_retired"), ("-e", "nops_retired,loads_retired")),
        (("-e", "{nops_retired,loads_retired}"), ("-e", "nops_retired,loads_retired")),
        (("-e", MANY), ("-e", MANY, "--unlimited")),
        (("-I", "0.01", "-e", "loads_retired"), ("--print-interval=0.01", "-e", "loads_retired")),
        (("-v", "--pmu", "montecito", "-e", "nops_retired"), ("-v", "--pmu=montecito", "-e", "nops_retired")),
    ],
)
def test_stat_is_pfmon_with_perf_s_letters(words: tuple[str, ...], own: tuple[str, ...]) -> None:
    done, asked = pfmon("stat", *words, *FIB), pfmon(*own, *FIB)
    assert (done.stdout, done.stderr, done.returncode) == (asked.stdout, asked.stderr, 0)


@pytest.mark.parametrize("words", [("--topdown",), ("--topdown", "--td-level=1"), ("-M", "TopdownL1,TopdownL2")])
def test_stat_prints_the_top_down_analysis_with_the_cycles(words: tuple[str, ...]) -> None:
    program = str(EXAMPLES / "x86_64" / "fib"), "9"
    done, asked = pfmon("stat", *words, *program), pfmon("--report=cpi", *program)
    assert (done.stdout, done.stderr, done.returncode) == (asked.stdout, asked.stderr, 0)
    assert re.search(r"^ +\d+ +[\d.]+% retiring", done.stdout, re.M)


def test_stat_writes_to_a_file(folder: Path) -> None:
    done = pfmon("stat", "-o", "out", "-e", "loads_retired", *FIB)
    assert done.stdout == pfmon("-e", "none", *FIB).stdout
    assert (folder / "out").read_text().split()[1] == "LOADS_RETIRED"
    assert pfmon("stat", "-j", "-e", "loads_retired", *FIB).stdout.startswith("{")


@pytest.mark.slow
def test_a_recording_is_reported_and_annotated() -> None:
    recorded = pfmon("record", "-g", "-F", "99", *FIB)
    assert recorded.returncode == 0
    assert re.fullmatch(r"pfmon: pfmon\.data: the run, \d+ bytes; pfmon report shows it\n", recorded.stderr)
    assert (
        pfmon("report", "--stdio", "-g", "--no-children", "-s", "sym").stdout
        == pfmon("--replay=pfmon.data", "--report=cpi").stdout
    )
    assert pfmon("report", "-e", "loads_retired").stdout == (
        pfmon("--replay=pfmon.data", "-e", "loads_retired", "--per-function").stdout
    )
    listed = pfmon("--replay=pfmon.data", "-e", "cycles", "--annotate=fib").stdout
    assert pfmon("annotate", "fib").stdout == pfmon("annotate", "-s", "fib").stdout == listed
    assert pfmon("annotate", "fib", "-i", "pfmon.data", "--stdio").stdout == listed
    assert pfmon("annotate", "--stdio", "-e", "loads_retired", "fib").stdout != listed


def test_the_function_with_most_cycles_is_annotated() -> None:
    pfmon("record", "-o", "sorted", example("sort"), "100")
    rows = pfmon("report", "-i", "sorted").stdout.splitlines()
    first = rows[next(number for number, row in enumerate(rows) if row.endswith("function")) + 1]
    name = re.search(r"(?:[\d.]+% +)+(\S+)", first)
    assert name and f"instructions of {name[1]}\n" in pfmon("annotate", "-i", "sorted").stdout


def test_the_recording_before_is_kept_and_compared(folder: Path) -> None:
    for number in ("8", "9"):
        assert pfmon("record", FIB[0], number).returncode == 0
    assert {path.name for path in folder.iterdir()} == {"pfmon.data", "pfmon.data.old"}
    assert pfmon("diff").stdout == pfmon("diff", "pfmon.data.old", "pfmon.data").stdout
    assert f"A: pfmon.data.old (recording): {FIB[0]} 8" in pfmon("diff").stdout


def test_a_link_is_followed(folder: Path) -> None:
    (folder / "pfmon.data").symlink_to(folder / "elsewhere")
    for number in ("8", "9"):
        assert pfmon("record", FIB[0], number).returncode == 0
    assert (folder / "pfmon.data").is_symlink() and not (folder / "pfmon.data.old").is_symlink()
    assert f"A: pfmon.data.old (recording): {FIB[0]} 8" in pfmon("diff").stdout


def test_a_run_that_fails_leaves_the_recordings(folder: Path) -> None:
    pfmon("record", *FIB)
    before = (folder / "pfmon.data").read_bytes()
    assert pfmon("record", "no-such-program").returncode == 2
    assert pfmon("record", "-e", "no_such_event", *FIB).returncode == 2
    assert [path.name for path in folder.iterdir()] == ["pfmon.data"]
    assert (folder / "pfmon.data").read_bytes() == before


def test_report_runs_a_program_too(folder: Path) -> None:
    assert pfmon("report", *FIB).stdout == pfmon("--report=cpi", *FIB).stdout
    assert pfmon("report", "--html", "page.html", *FIB).returncode == 0
    assert (folder / "page.html").read_text().lower().startswith("<!doctype html>")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("stat"), reason="the host has no stat")
def test_a_program_of_the_same_name_runs_behind_two_dashes() -> None:
    assert pfmon("-e", "none", "--", "stat", "-c", "%F", "/").stdout == "directory\n"
    assert pfmon("--", "stat", "-c", "%F", "/").stdout.startswith("directory\n")


@pytest.mark.parametrize("verb", VERBS)
def test_help_lists_the_options_and_all_of_them_are_taken(verb: str) -> None:
    text = answer(verb, "--help")
    assert text == answer(verb, "-h") and text.startswith(f"usage: pfmon {verb} ")
    assert max(map(len, text.splitlines())) <= 120
    listed = re.findall(r"^  (?:-(\w), |    )--([\w-]+)", text, re.M)
    letters = {short: long for short, long in listed if short}
    assert len(letters) == len([short for short, _ in listed if short])
    assert {one.long for one in verb_of(verb).own} <= {long for _, long in listed}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("stat",), "no program given"),
        (("record",), "usage: pfmon record"),
        (("report",), "pfmon.data: no such file; pfmon record PROGRAM makes it"),
        (("report", "-i", "nowhere"), "nowhere: no such file; pfmon record -o nowhere PROGRAM makes it"),
        (("annotate", "main"), "pfmon record PROGRAM makes it"),
        (("annotate", "main", "other"), "one function or file is wanted, and 2 given"),
        (("stat", "-x;", *FIB), "separated by commas"),
        (("stat", "--topdown", "--td-level=3", *FIB), "levels 1 and 2"),
        (("stat", "-M", "IpTB", *FIB), "-M IpTB: the metrics are TopdownL1 and TopdownL2"),
        (("stat", "-e", "no_such_event", *FIB), "no_such_event"),
        (("stat", "--no-such-option", *FIB), "--no-such-option"),
        (("stat", "-r", "none", *FIB), "none"),
        (("report", "-i", __file__), "recording"),
        *((("stat", f"-{letter}", *([value] * bool(value)), *FIB), why) for letter, value, why in NOT_HERE.values()),
    ],
)
def test_mistakes_are_said_in_a_line(words: tuple[str, ...], said: str) -> None:
    assert said in refused(*words)


def without_effect(verb: str) -> list[list[str]]:
    """The options of a verb that change nothing."""
    own = [one for one in verb_of(verb).own if one.help == WITHOUT_EFFECT]
    return [[f"--{one.long}={one.value}" if one.value else f"--{one.long}"] for one in own]


@pytest.mark.slow
def test_options_without_effect_change_nothing(folder: Path) -> None:
    assert pfmon("record", *FIB).returncode == 0
    plain = (folder / "pfmon.data").read_bytes()
    for verb, behind in {"stat": FIB, "record": FIB, "report": (), "annotate": ("fib",)}.items():
        expected = pfmon(verb, *behind)
        for option in without_effect(verb):
            done = pfmon(verb, *option, *behind)
            assert (done.stdout, done.stderr, done.returncode) == (expected.stdout, expected.stderr, 0), option
    assert (folder / "pfmon.data").read_bytes() == plain


@pytest.mark.slow
def test_an_x86_64_program_is_recorded() -> None:
    assert pfmon("record", str(EXAMPLES / "x86_64" / "fib"), "9").returncode == 0
    assert "all cycles" in pfmon("report").stdout
    assert "instructions of" in pfmon("annotate").stdout
