"""-r N, --csv, and results apart from what the program prints."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from command import example, pfmon, refused

FIB = example("fib"), "9"
EVENTS = ("-e", "ia64_inst_retired,loads_retired")


def test_equal_counts_are_said_to_be_equal() -> None:
    once, thrice = pfmon(*EVENTS, *FIB), pfmon(*EVENTS, "-r", "3", *FIB)
    output, *counts = once.stdout.splitlines()
    assert thrice.stdout.splitlines() == [output] * 3 + [*counts, "# 3 runs: all counts are equal"]


@pytest.mark.slow
def test_different_counts_have_a_mean_and_a_spread(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\necho x >> {tmp_path}/runs\nwhile read line; do :; done < {tmp_path}/runs\n")
    script.chmod(0o755)
    done = pfmon("-e", "instructions", "-r", "3", "--json", str(script))
    counts = [json.loads(line)["events"][0]["count"] for line in done.stdout.splitlines()]
    assert len(set(counts)) == 3
    (tmp_path / "runs").unlink()
    count, said = pfmon("-e", "instructions", "-r", "3", str(script)).stdout.splitlines()
    assert int(count.split()[0]) == round(sum(counts) / 3)
    assert " ( +-" in count and count.endswith("% )")
    assert said == "# 3 runs: means; instructions differs between them"


@pytest.mark.slow
def test_a_run_that_was_ended_is_not_among_those_that_are_counted(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\n[ -e {tmp_path}/third ] && while :; do :; done\n"
                      f"[ -e {tmp_path}/second ] && : > {tmp_path}/third\n: > {tmp_path}/second\n")  # fmt: skip
    script.chmod(0o755)
    done = pfmon("-e", "instructions", "-r", "9", "-t", "1", "--csv", str(script))
    assert done.returncode == 124 and "--session-timeout ended the program" in done.stderr
    (row,) = csv.DictReader(StringIO(done.stdout))
    assert int(row["value"]) < 1_000_000 and float(row["spread_percent"]) > 0


def test_the_summary_says_how_many_runs_it_is_of() -> None:
    done = pfmon("--no-cmd-output", "-r", "2", *FIB)
    assert "(2 runs):" in done.stdout and "2 runs: all counts are equal" in done.stdout


@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_what_the_program_prints_stays_apart(form: str) -> None:
    done = pfmon(form, *EVENTS, *FIB)
    assert done.returncode == 0
    assert done.stderr == pfmon("-e", "none", *FIB).stdout
    assert done.stdout.startswith("{" if form == "--json" else "value,event")


def test_what_two_programs_print_stays_apart() -> None:
    done = pfmon("--json", "--pmu=montecito", "--smt", f"{FIB[0]} 5", "-e", "loads_retired", *FIB)
    assert len(json.loads(done.stdout)["threads"]) == 2 and len(done.stderr.splitlines()) == 2


def test_results_in_a_file_leave_standard_output_to_the_program(tmp_path: Path) -> None:
    done = pfmon("--json", f"--outfile={tmp_path / 'out'}", *EVENTS, *FIB)
    assert done.stdout == pfmon("-e", "none", *FIB).stdout and done.stderr == ""


def test_csv_has_the_counts() -> None:
    rows = list(csv.DictReader(StringIO(pfmon("--csv", *FIB).stdout)))
    counted = {one["name"]: one["count"] for one in json.loads(pfmon("--json", *FIB).stdout)["events"]}
    assert {row["event"]: int(row["value"]) for row in rows} == counted
    assert next(row["ratio_unit"] for row in rows if row["event"] == "IA64_INST_RETIRED") == "insn per cycle"
    assert {row["spread_percent"] for row in csv.DictReader(StringIO(pfmon("--csv", "-r2", *FIB).stdout))} == {"0.00"}


def test_the_exit_status_is_the_program_s() -> None:
    assert pfmon("-r", "2", *EVENTS, "/bin/sh", "-c", "exit 3").returncode in (2, 3)


@pytest.mark.parametrize(
    "words",
    [["--csv", "--json"], ["--csv", "--per-function"], ["--csv", "--report=cpi"], ["--csv", "--follow-all"]],
)
def test_csv_is_of_whole_counts(words: list[str]) -> None:
    assert "--csv" in refused(*words, *FIB)


@pytest.mark.parametrize("words", [["--record=FILE"], ["--report=cpi"], ["--per-function"], ["--follow-all"]])
def test_repeated_runs_have_counts_alone(words: list[str]) -> None:
    assert refused("-r", "2", *words, *FIB).startswith("pfmon: -r: counts are of all runs, and ")


@pytest.mark.parametrize("number", ["0", "x", "1001"])
def test_the_number_of_runs_is_checked(number: str) -> None:
    assert number in refused("-r", number, *FIB)
