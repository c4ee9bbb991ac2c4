"""Exports without options of sampling have all calls: their costs add up to those of the run, and the numbers of calls
are those of the source."""

import csv
import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest
from command import example, pfmon, refused
from host_programs import needs
from perf_data import read

SOURCE = """
__attribute__((noinline)) static int leaf(int n) { for (int i = 0; i < n; i++) __asm__ volatile(""); return n; }
__attribute__((noinline)) static int twice(int n) { return leaf(n) + leaf(n); }
int main(void) { int sum = 0; for (int i = 0; i < 7; i++) sum += twice(100); return sum + leaf(10) > 1000000; }
"""


@pytest.fixture(scope="module", name="program")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("calls")
    (folder / "calls.c").write_text(SOURCE)
    subprocess.run(["cc", "-g", "-O1", "-fno-inline", "-o", "calls", "calls.c"], cwd=folder, check=True)
    return str(folder / "calls")


def exported(folder: Path, *formats: str, program: str) -> dict[str, int]:
    """Write the files NAME of some formats; the counts of the run."""
    words = [f"--export={name}:{folder / name}" for name in formats]
    done = pfmon("--json", *words, program)
    assert (done.returncode, done.stderr) == (0, "")
    return {event["name"]: event["count"] for event in json.loads(done.stdout)["events"]}


@needs("cc")
def test_stacks_have_the_cycles_of_the_run(tmp_path: Path, program: str) -> None:
    counts = exported(tmp_path, "collapsed", program=program)
    stacks = dict(line.rsplit(" ", 1) for line in (tmp_path / "collapsed").read_text().splitlines())
    assert sum(map(int, stacks.values())) == counts["cycles"]
    own = [stack.split(";")[-3:] for stack in stacks if stack.endswith("leaf")]
    assert [path[-2:] for path in own if path[-2] == "main"] == [["main", "leaf"]]
    assert [path for path in own if path[-2] != "main"] == [["main", "twice", "leaf"]]


@needs("cc")
def test_calls_are_counted(tmp_path: Path, program: str) -> None:
    exported(tmp_path, "callgrind", "pprof", program=program)
    text = (tmp_path / "callgrind").read_text()
    functions = dict(re.findall(r"^fn=(main|twice)\n(.*?)\n\n", text, re.M | re.S))
    calls = {
        (caller, *found) for caller in functions for found in re.findall(r"cfn=(\w+)\ncalls=(\d+)", functions[caller])
    }
    assert calls == {("main", "twice", "7"), ("main", "leaf", "1"), ("twice", "leaf", "14")}
    assert b"calls" in gzip.decompress((tmp_path / "pprof").read_bytes())


@needs("cc")
def test_costs_of_lines_add_up(tmp_path: Path, program: str) -> None:
    counts = exported(tmp_path, "callgrind", program=program)
    text = (tmp_path / "callgrind").read_text()
    summary = re.search(r"^summary: (\d+) (\d+)$", text, re.M)
    assert summary and [int(one) for one in summary.groups()] == [counts["cycles"], counts["instructions"]]
    own = re.sub(r"^calls=.*\n.*\n", "", text, flags=re.M)  # costs of calls are in those of the callees
    costs = [line.split() for line in own.splitlines() if line.startswith("0x")]
    assert sum(int(one[3]) for one in costs) == counts["instructions"]


def test_all_formats_have_the_instructions_of_the_run(tmp_path: Path) -> None:
    names = ("perf-data", "csv", "speedscope", "firefox", "perf-script")
    done = pfmon(*(f"--export={name}:{tmp_path / name}" for name in names), "--json", example("fib"), "9")
    assert done.returncode == 0
    whole = json.loads(done.stdout)["instructions"]
    data = read(tmp_path / "perf-data")
    assert sum(one.period for one in data.samples if one.event == "instructions") == whole
    rows = list(csv.DictReader((tmp_path / "csv").open()))
    assert sum(int(row["last_val"]) for row in rows if row["overflowed"] == "1") == whole
    profiles = json.loads((tmp_path / "speedscope").read_text())["profiles"]
    assert {one["name"]: one["endValue"] for one in profiles}["instructions"] == whole
    threads = json.loads((tmp_path / "firefox").read_text())["threads"]
    assert {one["name"]: sum(one["samples"]["weight"]) for one in threads}["instructions"] == whole
    periods = re.findall(r"(\d+) instructions:$", (tmp_path / "perf-script").read_text(), re.M)
    assert sum(map(int, periods)) == whole


def test_a_recording_has_its_calls(tmp_path: Path) -> None:
    recording, one, other = (str(tmp_path / name) for name in ("run", "one", "other"))
    assert pfmon("--record", recording, "--export", f"collapsed:{one}", example("fib"), "9").returncode == 0
    assert pfmon("--replay", recording, "--export", f"collapsed:{other}").returncode == 0
    assert Path(one).read_text() == Path(other).read_text()


def test_samples_are_not_printed_beside_an_export(tmp_path: Path) -> None:
    words = ("-e", "ia64_inst_retired", "--long-smpl-periods=100", f"--export=csv:{tmp_path / 'csv'}")
    done = pfmon("--no-cmd-output", *words, example("fib"), "9")
    assert re.fullmatch(r" +\d+ IA64_INST_RETIRED\n", done.stdout)
    shown = pfmon("--no-cmd-output", *words, "--smpl-module=inst-hist", example("fib"), "9")
    assert shown.stdout.startswith("# total_samples")


def test_events_are_said_not_to_be_exported(tmp_path: Path) -> None:
    done = pfmon("-e", "loads_retired", f"--export=collapsed:{tmp_path / 'out'}", example("fib"), "9")
    assert done.returncode == 0 and "not the events of -e" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [["--follow-all"], ["--slow"], ["--smt", "true"]])
def test_what_has_no_calls_asks_for_samples(tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "out"
    assert "--long-smpl-periods=PERIOD" in refused(*words, f"--export=collapsed:{path}", example("fib"), "9")
    assert not path.exists()


THREADS = """
#include <pthread.h>
__attribute__((noinline)) static int leaf(int n) { for (int i = 0; i < n; i++) __asm__ volatile(""); return n; }
static void *work(void *p) { leaf(1000); return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return leaf(10) != 10; }
"""


@needs("cc", "qemu-x86_64")
def test_a_run_that_begins_anew_has_the_names_of_its_functions(tmp_path: Path) -> None:
    (tmp_path / "threads.c").write_text(THREADS)
    subprocess.run(["cc", "-g", "-O1", "-pthread", "-o", "threads", "threads.c"], cwd=tmp_path, check=True)
    program, out = str(tmp_path / "threads"), tmp_path / "out"
    assert pfmon("--export", f"collapsed:{out}", program).returncode == 0
    assert callers_of_leaf(out) == {"main", "work"}
    assert (
        pfmon("-e", "instructions", "--long-smpl-periods=50", "--export", f"collapsed:{out}", program).returncode == 0
    )
    assert "work" in callers_of_leaf(out)


def callers_of_leaf(path: Path) -> set[str]:
    stacks = [line.rsplit(" ", 1)[0].split(";") for line in path.read_text().splitlines()]
    return {stack[-2] for stack in stacks if stack[-1] == "leaf"}
