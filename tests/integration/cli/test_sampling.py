"""Sampling on the command line: what is printed where, and what is refused."""

import csv
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from command import EXAMPLES, pfmon, refused
from grids import each, first_quick, sampled

import pfmon as pfmon_library

QUEENS = [str(EXAMPLES / "ia64" / "queens"), "5"]
ENTRY = re.compile(
    r"entry (\d+) PID:1000 TID:1000 CPU:0 STAMP:(0x[0-9a-f]+) IIP:(0x[0-9a-f]+)(?: <(\S+)>)? OVFL:(\d+) "
    r"LAST_VAL:(\d+) SET:0"
)
SAMPLED = ["-e", "ia64_inst_retired,loads_retired", "--long-smpl-periods=500"]


def printed(*words: str) -> list[str]:
    """The lines of standard output behind the program's own."""
    done = pfmon(*words, *QUEENS)
    assert (done.returncode, done.stderr) == (0, "")
    first, *rest = done.stdout.splitlines()
    assert first == "10"
    return rest


def test_entries_have_the_fields_of_the_page() -> None:
    lines = printed(*SAMPLED)
    entries = [ENTRY.fullmatch(line) for line in lines[::2]]
    assert all(entries) and len(entries) == 5
    assert [(int(e[1]), int(e[2], 16), e[5], e[6]) for e in entries if e] == [
        (number, 500 * (number + 1), "4", "500") for number in range(5)
    ]
    assert all(re.fullmatch(r" {8}PMD5  : 0x[0-9a-f]{16}", line) for line in lines[1::2])


def test_functions_stand_beside_addresses_if_they_are_wanted() -> None:
    plain, named = printed(*SAMPLED)[::2], printed(*SAMPLED, "--resolv")[::2]
    assert [re.sub(r" <\S+>", "", line) for line in named] == plain
    assert all(re.search(r" <\w+\+0x[0-9a-f]+> ", line) for line in named)


@pytest.mark.slow
def test_columns_and_histogram_are_of_the_same_samples() -> None:
    entries = [ENTRY.fullmatch(line) for line in printed(*SAMPLED)[::2]]
    header, *rows = printed(*SAMPLED, "--smpl-module=compact")
    assert header == "entry pid tid cpu stamp iip overflowed last_val set pmd5"
    assert [row.split()[5] for row in rows] == [entry[3] for entry in entries if entry]
    histogram = printed("-e", "ia64_inst_retired", "--long-smpl-periods=7", "--smpl-module=inst-hist", "--resolv")
    assert histogram[:4] == [
        "# total_samples 390",
        "# instruction addr view",
        "# sorted by count",
        "# showing per distinct value",
    ]
    assert histogram[4] == "#count   %self    %cum instruction addr"
    counts = [int(row.split()[0]) for row in histogram[5:]]
    assert sum(counts) == 390 and counts == sorted(counts, reverse=True)
    assert histogram[-1].split()[2] == "100.00%"
    functions = printed(
        "-e", "ia64_inst_retired", "--long-smpl-periods=7", "--smpl-module=inst-hist", "--smpl-show-func"
    )
    by_function: Counter[str] = Counter()
    for row in histogram[5:]:
        by_function[row.split()[4].partition("+")[0]] += int(row.split()[0])
    assert {row.split()[4]: int(row.split()[0]) for row in functions[5:]} == by_function
    top = printed(
        *("-e", "ia64_inst_retired", "--long-smpl-periods=7", "--smpl-module=inst-hist", "--resolv"),
        "--smpl-show-top=2",
    )
    assert top == histogram[:7]


@pytest.mark.slow
def test_counts_are_printed_if_they_are_wanted() -> None:
    assert printed(*SAMPLED, "--smpl-print-counts")[10:] == printed("-e", "ia64_inst_retired,loads_retired")


@pytest.mark.slow
def test_samples_and_counts_go_to_files(tmp_path: Path) -> None:
    samples, counts = tmp_path / "samples", tmp_path / "counts"
    assert printed(*SAMPLED, f"--smpl-outfile={samples}", "--smpl-print-counts", f"--outfile={counts}") == []
    assert samples.read_text().splitlines() == printed(*SAMPLED)
    assert counts.read_text().splitlines() == printed("-e", "ia64_inst_retired,loads_retired")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["counts", "samples"]


@pytest.mark.slow
def test_a_device_and_a_pipe_stay_what_they_are(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert printed(*SAMPLED, f"--smpl-outfile={pipe}") == []
    assert os.read(reader, 1 << 16).decode().splitlines() == printed(*SAMPLED)
    assert printed(*SAMPLED, f"--export=collapsed:{pipe}", "--smpl-module=inst-hist")[0] == "# total_samples 5"
    assert os.read(reader, 1 << 16)
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.slow
def test_default_is_another_name_for_detailed_ia64() -> None:
    assert printed(*SAMPLED, "--smpl-module=default") == printed(*SAMPLED)


@pytest.mark.parametrize("stacks", [[], ["--smpl-stacks"]])
def test_a_binary_file_has_the_samples_of_the_run(stacks: list[str], tmp_path: Path) -> None:
    path = tmp_path / "samples"
    words = [*SAMPLED, *stacks, "--smpl-entries=2", "--smpl-module=raw", f"--smpl-outfile={path}"]
    assert printed(*words) == []
    run = pfmon_library.run(
        QUEENS,
        events=["ia64_inst_retired", "loads_retired"],
        long_smpl_periods=500,
        smpl_entries=2,
        smpl_stacks=bool(stacks),
        stdout=pfmon_library.DEVNULL,
    )
    assert len(run.samples) == 5 and pfmon_library.read_samples(path) == run.samples
    assert any(sample.calls for sample in run.samples) == bool(stacks)


def test_a_binary_file_without_samples_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    assert printed("-e", "loads_retired", "--long-smpl-periods=100000", f"--smpl-out={path}", "--smpl-mod=raw") == []
    assert len(pfmon_library.read_samples(path)) == 0


@pytest.mark.slow
def test_eager_samples_are_in_the_file_while_the_program_runs(tmp_path: Path) -> None:
    """A program that does not end is killed together with pfmon."""
    path, program = tmp_path / "samples", [str(EXAMPLES / "ia64" / "noploop"), "100000000000"]
    words = ["-e", "ia64_inst_retired", "--long-smpl-periods=1000000", "--smpl-entries=3", "--smpl-module=raw"]
    words += [f"--smpl-outfile={path}", "--smpl-eager-save"]
    with subprocess.Popen([sys.executable, "-m", "pfmon", *words, *program]) as running:
        try:
            end = time.monotonic() + 60
            while (not path.exists() or path.stat().st_size < 500) and time.monotonic() < end:
                time.sleep(0.01)
        finally:
            running.kill()
    samples = pfmon_library.read_samples(path, partial=True)
    assert len(samples) >= 3 and [sample.stamp for sample in samples[:3]] == [1000000, 2000000, 3000000]
    assert [file.name for file in tmp_path.iterdir()] == ["samples"]
    with pytest.raises(pfmon_library.PfmonError, match="it ends at byte"):
        pfmon_library.read_samples(path)


@pytest.mark.slow
def test_json_has_the_samples() -> None:
    samples = json.loads(pfmon(*SAMPLED, "--json", *QUEENS).stdout)["samples"]
    assert [sample["stamp"] for sample in samples] == [500, 1000, 1500, 2000, 2500]
    assert all(sample["overflowed"] == [4] and sample["last_val"] == 500 for sample in samples)
    assert json.loads(pfmon("-e", "loads_retired", "--json", *QUEENS).stdout)["samples"] is None


def test_an_outfile_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    done = pfmon(*SAMPLED, f"--smpl-outfile={tmp_path / 'none' / 'samples'}", *QUEENS)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pfmon: --smpl-outfile=") and done.stderr.count("\n") == 1


@sampled(6)
@each(
    "words, said",
    [
        (["--long-smpl-periods=0"], "--long-smpl-periods=0: a whole number from 1 to"),
        (["--long-smpl-periods=x"], "--long-smpl-periods=x: a whole number"),
        (["--long-smpl-periods=1,2,3"], "--long-smpl-periods=1,2,3: 3 values for 2 events"),
        (["--long-smpl-periods=,"], "--long-smpl-periods=,: no event has a period"),
        (["--long-smpl-periods=140737488355328"], "a whole number from 1 to 140737488355327"),
        (["--long-smpl-periods=5", "--short-smpl-periods=,5"], "--long-smpl-periods has no period for event 2"),
        (["--long-smpl-periods=5", "--smpl-periods-random=0xff"], "MASK:SEED is wanted"),
        (["--long-smpl-periods=5", "--smpl-periods-random=0xff:0"], "a whole number from 1 to 2147483646"),
        (["--long-smpl-periods=140737488355327", "--smpl-periods-random=1:1"], "does not fit the counter"),
        (["--long-smpl-periods=5", "--smpl-entries=0"], "--smpl-entries=0: a whole number from 1"),
        (
            ["--long-smpl-periods=5", "--smpl-module=hist"],
            "unknown sampling module 'hist'; there are: detailed-ia64, default, compact, raw",
        ),
        (
            ["--long-smpl-periods=5", "--smpl-module=dear-hist"],
            "dear-hist: samples of IA64_INST_RETIRED; it wants those",
        ),
        (
            ["--long-smpl-periods=5", "--smpl-module=dear-hist"],
            "of one event: DATA_EAR_CACHE_*, DATA_EAR_TLB_*, L1I_EAR",
        ),
        (["--long-smpl-periods=,5", "--smpl-module=btb-hist"], "btb-hist: samples of LOADS_RETIRED; it wants those of"),
        (["--long-smpl-periods=5", "--smpl-module=raw"], "--smpl-module=raw is binary: give --smpl-outfile=FILE too"),
        (
            ["--long-smpl-periods=5", "--smpl-data-view"],
            "--smpl-data-view is of --smpl-module=dear-hist; detailed-ia64",
        ),
        (
            ["--long-smpl-periods=5", "--smpl-module=inst-hist", "--smpl-inst-view"],
            "--smpl-inst-view is of --smpl-module=dear-hist; inst-hist does not have it",
        ),
        (
            ["--long-smpl-periods=5", "--smpl-inst-view", "--smpl-level-view"],
            "--smpl-inst-view and --smpl-level-view exclude each other",
        ),
        (
            ["--long-smpl-periods=5", "--smpl-module=btb-hist", "--smpl-truth"],
            "--smpl-truth is of --smpl-module=inst-hist; btb-hist does not have it",
        ),
        (["--long-smpl-periods=5", "--smpl-eager-save"], "--smpl-eager-save applies to the file of samples: give"),
        (
            [
                "--long-smpl-periods=5",
                "--smpl-module=inst-hist",
                "--smpl-eager-save",
                "--smpl-outfile=/dev/null",
            ],
            "--smpl-eager-save: inst-hist has nothing to save before all samples have come",
        ),
        (["--long-smpl-periods=5", "--per-function"], "sampling does not go with --per-function"),
        (["--long-smpl-periods=5", "--unlimited"], "sampling does not go with --unlimited"),
        (["--smpl-periods-random=1:1"], "--smpl-periods-random applies to samples: give --long-smpl-periods"),
        (["--saturate-smpl-buffer"], "--saturate-smpl-buffer applies to samples"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(words: list[str], said: str) -> None:
    done = pfmon("-e", "ia64_inst_retired,loads_retired", *words, *QUEENS)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pfmon: ") and done.stderr.count("\n") == 1 and said in done.stderr


@pytest.mark.parametrize(
    "option",
    first_quick(
        [
            *("--smpl-module=compact", "--smpl-outfile=/tmp/x", "--smpl-print-counts"),
            *("--smpl-show-func", "--smpl-show-top=2", "--resolve-addresses", "--smpl-entries=7"),
            *("--smpl-inst-view", "--smpl-data-view", "--smpl-level-view", "--smpl-eager-save"),
        ]
    ),
)
def test_options_of_samples_are_not_dropped(option: str) -> None:
    done = pfmon("-e", "loads_retired", option, *QUEENS)
    name = option.partition("=")[0]
    assert done.returncode == 2
    assert done.stderr == f"pfmon: {name} applies to samples: give --long-smpl-periods=PERIOD,... too\n"
    if name != "--smpl-entries":
        done = pfmon(*SAMPLED, option, "--json", *QUEENS)
        assert done.returncode == 2 and done.stderr.startswith(f"pfmon: {name} applies to printed samples: --json has")


def test_sampling_wants_events() -> None:
    done = pfmon("--long-smpl-periods=5", *QUEENS)
    assert (done.returncode, done.stderr) == (
        2,
        "pfmon: --long-smpl-periods: there is nothing to sample: give -e EVENT,... too\n",
    )


def test_the_truth_stands_beside_a_histogram() -> None:
    words = ["-e", "ia64_inst_retired", "--long-smpl-periods=1", "--smpl-module=inst-hist", "--smpl-truth"]
    lines = printed(*words)
    assert "# exact_total 2734" in lines and any(line.startswith("# total error 0.00%") for line in lines)
    rows = [line.split() for line in lines if not line.startswith("#")]
    assert all(row[1] == row[3] and row[4] == "+0.00%" for row in rows)
    assert sum(int(row[0]) for row in rows) == 2734


@pytest.mark.parametrize("option", first_quick(["--smpl-truth", "--smpl-show-func", "--smpl-show-top=3"]))
def test_options_of_histograms_want_one(option: str) -> None:
    done = pfmon(*SAMPLED, option, *QUEENS)
    name = option.partition("=")[0]
    assert done.returncode == 2 and done.stderr.startswith(f"pfmon: {name} is of --smpl-module=inst-hist")
    assert done.stderr.endswith("; detailed-ia64 does not have it\n")


def test_stacks_stand_below_their_samples() -> None:
    lines = printed("-e", "ia64_inst_retired", "--long-smpl-periods=200", "--smpl-stacks", "--resolv")
    assert sum(ENTRY.fullmatch(line) is not None for line in lines) == 13
    calls = [line for line in lines if not ENTRY.fullmatch(line)]
    assert calls and all(re.fullmatch(r" {8}called by 0x[0-9a-f]+ <\w+\+0x[0-9a-f]+>", line) for line in calls)


@pytest.mark.slow
def test_collapsed_stacks_are_those_of_the_samples(tmp_path: Path) -> None:
    path, words = tmp_path / "collapsed", ["-e", "ia64_inst_retired", "--long-smpl-periods=7"]
    assert printed(*words, f"--export=collapsed:{path}", f"--smpl-outfile={tmp_path / 'samples'}") == []
    expected: Counter[str] = Counter()
    stack: list[str] = []
    for line in [*printed(*words, "--smpl-stacks", "--resolv"), "entry end"]:
        if line.startswith("entry") and stack:
            expected[";".join(reversed(stack))] += 1
            stack = []
        if found := re.search(r"<(\w+)\+", line):
            stack.append(found[1])
    assert dict(line.rsplit(" ", 1) for line in path.read_text().splitlines()) == {
        name: str(count) for name, count in expected.items()
    }
    assert expected.total() == 390


def test_speedscope_has_the_stacks_in_order(tmp_path: Path) -> None:
    path = tmp_path / "profile"
    words = ["-e", "ia64_inst_retired", "--long-smpl-periods=7", "--smpl-periods-random=3:5"]
    printed(*words, f"--export=speedscope:{path}", f"--export=collapsed:{tmp_path / 'collapsed'}")
    whole = json.loads(path.read_text())
    assert set(whole) == {"$schema", "exporter", "shared", "profiles"}
    (profile,) = whole["profiles"]
    assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
    names = [frame["name"] for frame in whole["shared"]["frames"]]
    assert len(names) == len(set(names))
    assert len(profile["samples"]) == len(profile["weights"]) and sum(profile["weights"]) == profile["endValue"]
    assert set(profile["weights"]) <= {7, 8, 9, 10}
    stacks = Counter(";".join(names[frame] for frame in stack) for stack in profile["samples"])
    lines = (line.rsplit(" ", 1) for line in (tmp_path / "collapsed").read_text().splitlines())
    assert stacks == {name: int(count) for name, count in lines}


def test_csv_has_a_row_for_each_sample(tmp_path: Path) -> None:
    path = tmp_path / "table"
    compact = printed(*SAMPLED, f"--export=csv:{path}", "--smpl-module=compact")[1:]
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [
        [row[name] for name in ("number", "stamp", "iip", "overflowed", "last_val", "set", "pmd5")] for row in rows
    ] == [[line.split()[place] for place in (0, 4, 5, 6, 7, 8, 9)] for line in compact]
    assert all(row["stack"].split(";")[-1] == re.split(r"[+.]", row["place"])[0] for row in rows)


@pytest.mark.parametrize(
    "value, said",
    [
        ("flame:/tmp/x", "unknown export format 'flame'"),
        ("collapsed", "--export=collapsed: FORMAT:FILE is wanted"),
        ("collapsed:/none/x", "--export=collapsed:/none/x: there is no directory /none"),
    ],
)
def test_exports_that_cannot_be_are_refused(value: str, said: str) -> None:
    done = pfmon(*SAMPLED, f"--export={value}", *QUEENS)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


@pytest.fixture(name="callgrind")
def callgrind_file(tmp_path: Path) -> Path:
    path = tmp_path / "callgrind.out"
    printed("-e", "ia64_inst_retired", "--long-smpl-periods=7", f"--export=callgrind:{path}")
    return path


@pytest.mark.slow
def test_callgrind_has_the_costs_of_the_samples(callgrind: Path, tmp_path: Path) -> None:
    printed("-e", "ia64_inst_retired", "--long-smpl-periods=7", f"--export=collapsed:{tmp_path / 'collapsed'}")
    own: Counter[str] = Counter()
    inclusive: Counter[tuple[str, str]] = Counter()
    caller, callee = "", ""
    for line in callgrind.read_text().splitlines():
        if line.startswith("fn="):
            caller = line[3:]
        elif line.startswith("cfn="):
            callee = line[4:]
        elif line.startswith("0x") and callee:
            inclusive[caller, callee] += int(line.split()[2])
            callee = ""
        elif line.startswith("0x"):
            own[caller] += int(line.split()[2])
    expected, edges = Counter[str](), Counter[tuple[str, str]]()
    for line in (tmp_path / "collapsed").read_text().splitlines():
        stack, count = line.rsplit(" ", 1)
        names = stack.split(";")
        expected[names[-1]] += 7 * int(count)
        for edge in set(itertools.pairwise(names)):
            edges[edge] += 7 * int(count)
    assert own == expected
    # A function may call another from several places: each has the cost of its own calls.
    assert set(inclusive) == set(edges) and all(inclusive[edge] >= cost for edge, cost in edges.items())


@pytest.mark.skipif(not shutil.which("callgrind_annotate"), reason="Valgrind is not installed")
def test_callgrind_annotate_reads_it(callgrind: Path) -> None:
    command = ["callgrind_annotate", "--threshold=100", str(callgrind)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "2,730 (100.0%)  PROGRAM TOTALS" in done.stdout and "???:place" in done.stdout


@pytest.mark.parametrize(
    "words",
    first_quick(
        [
            ("--pmu=montecito", "-e", "er_brq_live_req_lo"),
            ("--pmu=montecito", "-e", "rse_current_regs_2_to_0"),
            ("--pmu=montecito", "-e", "cpu_op_cycles_all,si_cycles", "--extra-smpl-pmds=4"),
        ],
        single=True,
    ),
)
def test_level_and_clock_events_are_not_sampled(words: tuple[str, ...]) -> None:
    """They are summed over cycles, which no instruction causes: a sample would have no address."""
    periods = "--long-smpl-periods=,50" if "," in words[2] else "--long-smpl-periods=50"
    said = refused(*words, periods, str(EXAMPLES / "ia64" / "fib"), "9")
    assert "cannot be sampled: it counts a level or a clock" in said
