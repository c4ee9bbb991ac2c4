"""The first minutes with the command: counts, causes, recordings, other tools, mistakes."""

import csv
import json
import re
import shutil
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from command import pfmon
from host_programs import RUNS_X86_64, needs
from newcomer import COIN, SLOW, SLOW_SCRIPT, Task

pytestmark = [
    needs("cc"),
    RUNS_X86_64,
]
FINDING = rf"^\d\d% of cycles: mispredicted branches, most at slow\.c:{COIN}$"

TASKS = [
    Task(
        "what does my program do?",
        ("pfmon ./slow",),
        (
            r"^heads \d+$",
            r"^ Performance counter stats for './slow' on .*GHz.*:$",
            r"^ +[\d,]+ +cycles +# +[\d.]+ [mu]s at [\d.]+ GHz$",
            r"^ +[\d,]+ +instructions +# +[\d.]+ insn per cycle$",
            r"^ +[\d,]+ +branches\b",
            r"^ +[\d,]+ +branch-misses +# +[\d.]+% of all branches$",
            r"^ +[\d,]+ +cache-misses +# ",
            FINDING,
        ),
        (r"^pfmon: ", r"intel_v\d"),
    ),
    Task("as I know it from perf", ("pfmon stat ./slow 100000",), (r"insn per cycle", FINDING)),
    Task(
        "two events, to be read by my old script",
        ("pfmon -e instructions,branch-misses ./slow",),
        (r"^heads \d+$", r"^ {19}\d{7} instructions$", r"^ +\d+ branch-misses$"),
        (r"Performance counter",),
    ),
    Task(
        "is it the same every time?",
        ("pfmon -r 3 ./slow 5000",),
        (r"\(3 runs\):$", r"^3 runs: all counts are equal$"),
        (r"\+-",),
    ),
    Task(
        "perf's way to repeat, perf's way to separate",
        ("pfmon stat -r 2 -x, -e branches,branch-misses ./slow 5000",),
        (r"^value,event,", r"^\d+,branches,0\.00,,$", r"^\d+,branch-misses,0\.00,[\d.]+,% of all branches$"),
    ),
    Task(
        "all that interests me, though the processor has few counters",
        ("pfmon stat -e cycles,instructions -e branches,branch-misses,cache-references,cache-misses ./slow 5000",),
        (r" cycles$", r" instructions$", r" branches$", r" branch-misses$", r" cache-references$", r" cache-misses$"),
    ),
    Task(
        "where did the cycles go?",
        ("pfmon --report cpi ./slow",),
        (r"100\.0% all cycles$", r"% branch mispredicts +#{10,}", FINDING, r"% coin +#{20,}$"),
    ),
    Task(
        "a page, to be clicked through",
        ("pfmon --report html:slow.html ./slow 5000",),
        (r"^heads", r"^pfmon: slow\.html: the page; --open shows it in the browser$"),
    ),
    Task(
        "record now, ask later",
        ("pfmon record ./slow", "pfmon report"),
        (r"100\.0% all cycles$", r"% coin +#{20,}$"),
        (r"^heads",),
    ),
    Task(
        "a recording says how to go on",
        ("pfmon record ./slow 5000",),
        (r"^heads", r"^pfmon: pfmon\.data: the run, \d+ bytes; pfmon report shows it$"),
    ),
    Task(
        "which instruction of it?",
        ("pfmon record ./slow", "pfmon annotate -e branch-misses"),
        (r"instructions of coin$", rf"slow\.c:{COIN} if \(next\(&state\) & 1\)$", r"^ +\d{4,} +[0-9a-f]+ j"),
    ),
    Task(
        "my source, with counts beside it",
        ("pfmon --annotate slow.c -e cycles,branch-misses ./slow",),
        (
            r"^ *cycles +branch-misses +lines of .*/slow\.c$",
            r"^ +4$",
            rf"^ *\d+ +\d{{4,}} +{COIN} +if \(next\(&state\) & 1\)$",
            r"^ +\d+ }$",
        ),
    ),
    Task(
        "the same from perf's habit",
        ("pfmon record ./slow", "pfmon annotate slow.c"),
        (r"lines of .*/slow\.c$", rf"^ *\d+ +{COIN} +if "),
    ),
    Task(
        "did my change help?",
        ("pfmon record ./slow 10000", "pfmon record ./slow 5000", "pfmon diff"),
        (
            r"^A: pfmon\.data\.old .*\./slow 10000",
            r"^B: pfmon\.data .*\./slow 5000",
            r"^B takes \d+\.\d% fewer cycles: -[\d.,K]+ in coin at slow\.c:\d+, mostly mispredicted branches$",
            r"^ *\d+ +\d+ +-\d+ +-\d+\.\d+% +cycles$",
            r"^ *\d+ +\d+ +-\d+ +-4\d\.\d+% +coin$",
            r"^\d+ functions changed by less than 0\.5% of the cycles, together by ",
            rf"^ *\d+ +\d+ +-\d+ +-\d+\.\d+% +slow\.c:{COIN}  if \(next\(&state\) & 1\)$",
        ),
    ),
    Task(
        "which functions mispredict?",
        ("pfmon --per-function -e branches,branch-misses ./slow",),
        (r"^branches +branch-misses +function$", r"^ +\d+ +\d{4,} +0x[0-9a-f]+ coin$"),
    ),
    Task(
        "where does my script spend its time?",
        ("pfmon --per-function -e instructions /usr/bin/python3 -S slow.py",),
        (
            r"^instructions +calls +Python function$",
            r"^ +\d{6,} +1 +spend \(slow\.py:6\)$",
            r"^ +\d+ +300 +step ",
            r"^instructions +function$",
        ),
    ),
    Task(
        "in which line of it?",
        ("pfmon --per-line -e instructions /usr/bin/python3 -S slow.py",),
        (r"^instructions +Python line$", r"^ +\d{6,} +slow\.py:9 spend$"),
    ),
    Task(
        "python3 is a script that starts the right one",
        ("pfmon --per-function -e instructions ./python3 -S slow.py",),
        (
            r"^instructions +calls +Python function$",
            r" spend \(slow\.py:6\)$",
            r"^pfmon: launcher: [\d,]+ instructions before exec of /",
        ),
    ),
    Task(
        "my program is started by another one",
        ("pfmon -e instructions env ./slow 5000",),
        (
            r"^heads",
            r"^ +\d+ instructions$",
            r"^pfmon: launcher: [\d,]+ instructions before exec of .*/slow are not counted$",
        ),
    ),
    Task(
        "a shell starts my program",
        ("pfmon -e instructions /bin/sh -c './slow 5000; true'",),
        (r"^pfmon: 1 process that it started is not counted; --follow-all counts what a program starts$",),
    ),
    Task(
        "which events are there?",
        ("pfmon -l ./slow",),
        (r"\A[\s\S]*^instructions$", r"^branch-misses$"),
        (r"^NOPS_RETIRED$",),
    ),
    Task(
        "what does one of them mean?",
        ("pfmon -i branch-misses ./slow",),
        (r"^Name +: branch-misses$", r"mispredicted", r"^Fidelity: modelled"),
    ),
    Task(
        "what can I type?",
        ("pfmon --help ./slow",),
        (r"^usage: pfmon ", r"^ +pfmon stat\|record\|report\|annotate", r"^  pfmon --report cpi \./slow  "),
        (r"loads_retired",),
    ),
    Task("what can I type after a verb?", ("pfmon stat --help",), (r"^usage: pfmon stat ", r"^  -r, --repeat=N")),
    Task(
        "on an older processor",
        ("pfmon --pmu nehalem ./slow 5000",),
        (r"on Nehalem \(", r"insn per cycle"),
    ),
    Task("I forgot ./", ("pfmon slow",), (r"did you mean \./slow\?$",), status=2),
    Task("I forgot the program", ("pfmon stat -e cycles",), (r"no program given; usage: pfmon ",), status=2),
    Task("a typing error", ("pfmon -e branch-mises ./slow",), (r"'branch-mises'; nearest: branch-misses",), status=2),
    Task(
        "what perf stat counts first",
        ("pfmon stat -e task-clock ./slow",),
        (r"perf has this from the kernel",),
        status=2,
    ),
    Task("report before record", ("pfmon report",), (r"pfmon record PROGRAM makes it$",), status=2),
    Task("perf's list", ("pfmon list",), (r"pfmon -l PROGRAM lists the events$",), status=2),
    Task("attach, as perf can", ("pfmon stat -p 1",), (r"^pfmon: -p: .*pfmon PROGRAM$",), status=2),
]


@pytest.fixture(scope="module", name="binary")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slow")
    (folder / "slow.c").write_text(SLOW)
    (folder / "slow.py").write_text(SLOW_SCRIPT)
    (folder / "python3").write_text('#!/bin/sh\nexec /usr/bin/python3 "$@"\n')
    (folder / "python3").chmod(0o755)
    subprocess.run(["cc", "-g", "-O1", "-o", "slow", "slow.c"], cwd=folder, check=True)
    return folder


@pytest.fixture(autouse=True)
def in_a_folder(binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("slow", "slow.c", "slow.py", "python3"):
        shutil.copy(binary / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)


LONG = ("python3", "html", "record", "annotate", "--report", "-r 3", "--per-function")
"""What makes a command long."""


def marked(task: Task) -> object:
    """The case of a test, slow if one of its commands is long."""
    long = any(word in command for command in task.typed for word in LONG)
    return pytest.param(task, id=task.want, marks=[pytest.mark.slow] * long)


@pytest.mark.parametrize("task", map(marked, TASKS))
def test_a_newcomer_sees_what_she_wants(task: Task) -> None:
    task.check()


@pytest.mark.slow
def test_a_script_gets_json_alone() -> None:
    done = pfmon("--json", "./slow", "5000")
    assert done.stderr.startswith("heads ")
    counts = {one["name"]: one["count"] for one in json.loads(done.stdout)["events"]}
    assert counts["instructions"] > counts["branches"] > counts["branch-misses"] > 1000


@pytest.mark.slow
def test_a_spreadsheet_gets_a_table_alone() -> None:
    rows = list(csv.DictReader(StringIO(pfmon("--csv", "./slow", "5000").stdout)))
    assert [row["event"] for row in rows][:4] == ["cycles", "instructions", "branches", "branch-misses"]
    assert all(int(row["value"]) >= 0 for row in rows)


@pytest.mark.slow
def test_a_flame_graph_has_every_call(tmp_path: Path) -> None:
    assert pfmon("--export", "collapsed:slow.folded", "./slow").returncode == 0
    stacks = dict(line.rsplit(" ", 1) for line in (tmp_path / "slow.folded").read_text().splitlines())
    (coin,) = [int(stacks[stack]) for stack in stacks if stack.endswith("main;coin")]
    assert coin > sum(map(int, stacks.values())) / 2


@pytest.mark.slow
def test_an_edit_and_a_build_later_she_sees_what_it_changed(tmp_path: Path) -> None:
    assert pfmon("record", "./slow", "5000").returncode == 0
    (tmp_path / "slow.c").write_text("/* faster? */\n" + SLOW.replace("& 1)", "& 3)"))
    subprocess.run(["cc", "-g", "-O1", "-o", "slow", "slow.c"], check=True)
    assert pfmon("record", "./slow", "5000").returncode == 0
    done = pfmon("diff")
    assert (done.returncode, done.stderr) == (0, "")
    for pattern in (
        rf"^B takes \d+\.\d% fewer cycles: .* in coin at slow\.c:{COIN + 1}, mostly mispredicted branches$",
        rf"slow\.c:{COIN} -> {COIN + 1}  if \(next\(&state\) & 1\)$",
        r" now  if \(next\(&state\) & 3\)$",
    ):
        assert re.search(pattern, done.stdout, re.M), done.stdout


@pytest.mark.slow
@needs("perf")
def test_perf_report_reads_the_profile() -> None:
    assert pfmon("--export", "perf-data:perf.data", "./slow").returncode == 0
    words = ["perf", "report", "--stdio", "--no-children", "-g", "none", "-F", "overhead,sym", "-i", "perf.data"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True)
    first = re.search(r"^ +([\d.]+)% +\[\.\] (\S+)", done.stdout, re.M)
    assert first and first[2] == "coin" and float(first[1]) > 50
