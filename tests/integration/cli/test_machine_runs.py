"""Runs on a machine through the command line: events of the machine, thresholds, profiles, another machine."""

import json

import pytest
from command import example, pfmon
from guests import SMALL


def counts(name: str, *options: str) -> dict[str, int]:
    """Event -> count."""
    done = pfmon("--json", "--no-cmd-output", *options, example(name), *SMALL[name])
    assert done.returncode == 0, done.stderr
    return {event["name"]: event["count"] for event in json.loads(done.stdout)["events"]}


def test_two_runs_give_the_same_numbers() -> None:
    events = "-e", "cpu_cycles,l2_misses,l3_misses,be_exe_bubble_all"
    assert counts("sort", *events) == counts("sort", *events)


@pytest.mark.slow
def test_counts_do_not_depend_on_what_else_is_counted() -> None:
    alone = counts("sort", "--pmu=montecito", "-e", "cpu_op_cycles_all")
    together = counts(
        "sort", "--pmu=montecito", "-e", "cpu_op_cycles_all,l3_misses,ia64_inst_retired,be_rse_bubble_all"
    )
    drange = "--drange=0x6000000000000000-0x6000000000100000"
    watched = counts("sort", "--pmu=montecito", drange, "--no-qual-check", "-e", "cpu_op_cycles_all")
    assert alone["CPU_OP_CYCLES_ALL"] == together["CPU_OP_CYCLES_ALL"] == watched["CPU_OP_CYCLES_ALL"]


@pytest.mark.slow
def test_every_event_that_is_modelled_can_be_counted_in_one_run() -> None:
    found = counts("fib", "--pmu=montecito", "--unlimited", "-e", "all")
    assert len(found) > 350
    assert found["CPU_OP_CYCLES_ALL"] > found["BACK_END_BUBBLE_ALL"] > 0


@pytest.mark.slow
def test_a_histogram_by_threshold_sums_up_to_the_count() -> None:
    """Cycles with more than 0, 1, ... 5 instructions; the first are the cycles that are no bubbles."""
    totals = counts("sort", "--pmu=montecito", "-e", "ia64_inst_retired,cpu_op_cycles_all,back_end_bubble_all")
    over = [totals["CPU_OP_CYCLES_ALL"] - totals["BACK_END_BUBBLE_ALL"]]
    for threshold in range(1, 6):
        run = counts("sort", "--pmu=montecito", f"--event-thresholds={threshold}", "-e", "ia64_inst_retired")
        over.append(run["IA64_INST_RETIRED"])
    assert sum(over) == totals["IA64_INST_RETIRED"]
    assert over == sorted(over, reverse=True) and over[3] > 0


def test_a_profile_splits_what_the_machine_counts() -> None:
    done = pfmon(
        "--json", "--no-cmd-output", "--per-function", "-e", "cpu_cycles,l2_references", example("sort"), "500"
    )
    found = json.loads(done.stdout)
    totals = [event["count"] for event in found["events"]]
    assert [
        sum(column) for column in zip(*(row["counts"] for row in found["profile"]["functions"]), strict=True)
    ] == totals


@pytest.mark.slow
def test_a_larger_cache_misses_less() -> None:
    def misses(*options: str) -> int:
        done = pfmon("--json", "--no-cmd-output", *options, "-e", "l3_misses", example("chase"), "4096", "100000")
        return int(json.loads(done.stdout)["events"][0]["count"])

    assert misses("--machine=madison-9m") * 2 < misses("--machine=madison-1.5m")
