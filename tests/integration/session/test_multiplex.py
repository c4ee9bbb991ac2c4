"""Event sets that take turns: estimates, true values, intervals."""

import json
import re
from pathlib import Path

import pytest
from command import example, pfmon, refused
from grids import each, first_quick, sampled
from guests import EXAMPLES, guest, quiet
from hypothesis import given
from hypothesis import strategies as st
from monitored import monitored

from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.session.run.controls import Controls
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.monitoring import scaled
from pfmon.stream._stream import Recorder

SETS = ("-e", "ia64_inst_retired,nops_retired", "-e", "loads_retired", "-e", "predicate_squashed_retired")


def results(*words: str) -> dict:
    done = pfmon("--json", "--no-cmd-output", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def events(*words: str) -> dict[str, dict]:
    return {event["name"]: event for event in results(*words)["events"]}


@pytest.mark.slow
def test_true_values_are_what_runs_of_their_own_count() -> None:
    program = (example("queens"), "8")
    multiplexed = events(*SETS, "--switch-timeout=0.01", "--true-values", *program)
    for name, event in multiplexed.items():
        assert event["estimate"]["true"] == events("-e", name.lower(), *program)[name]["count"]
        assert 0.3 < event["estimate"]["share"] < 0.37
        if event["estimate"]["true"] > 1000:  # estimates of rare events may be anything
            assert abs(event["count"] / event["estimate"]["true"] - 1) < 0.2
        assert event["estimate"]["raw"] < event["estimate"]["true"]
    assert [event["estimate"]["set"] for event in multiplexed.values()] == [0, 0, 1, 2]


def test_sets_count_their_share_of_the_run_exactly() -> None:
    """With slices of n instructions, set k of m counts instructions k*n to (k+1)*n of every m*n: from the slow log."""
    program = guest("fib", ["9"], slow=True)
    recorder = Recorder()
    with quiet():
        program.run(recorder)
    nops = {n for n in range(program.processor.block_count()) if is_nop(program, n)}
    blocks = [word & 0xFFFFFFFF for word in recorder.words() if not word >> 63]
    program.close()
    for size, sets in ((1, 2), (7, 3), (100, 2), (1000, 4)):
        request = Request((EventRequest("NOPS_RETIRED"), EventRequest("IA64_INST_RETIRED")))
        groups = [EventSets(get("itanium2"), request) for _ in range(sets)]
        program = guest("fib", ["9"])
        monitoring = monitored(program, groups, Controls(switch=size, true_values=True))
        turns = [[b for i, b in enumerate(blocks) if i // size % sets == turn] for turn in range(sets)]
        raws = [count.estimate.raw for count in monitoring.counts() if count.estimate]
        assert raws == [value for turn in turns for value in (sum(b in nops for b in turn), len(turn))]
        for turn, count in zip([t for t in turns for _ in range(2)], monitoring.counts(), strict=True):
            assert count.estimate and count.estimate.share == len(turn) / len(blocks)
            assert count.name == "NOPS_RETIRED" or count.value == len(blocks)


def is_nop(program: Ia64Guest, number: int) -> bool:
    (instruction,) = program.processor.block(number).instructions
    assert instruction.row
    return instruction.row.mnemonic.startswith(("nop", "hint"))


@given(st.integers(0, 1 << 60), st.integers(1, 1 << 40), st.integers(0, 1 << 40))
def test_scaling_is_exact_to_half_a_count(total: int, active: int, rest: int) -> None:
    whole = active + rest
    assert abs(scaled(total, active, whole) * active - total * whole) * 2 <= active


def test_a_set_whose_turn_never_came_has_no_estimate() -> None:
    done = pfmon("--no-cmd-output", *SETS, "--switch-timeout=1000", example("fib"), "5")
    assert re.findall(r"n/a (\w+)", done.stdout) == ["LOADS_RETIRED", "PREDICATE_SQUASHED_RETIRED"]


@pytest.mark.slow
def test_a_sampled_set_whose_turn_never_came_has_no_count() -> None:
    words = ("-e", "nops_retired,loads_retired", "-e", "cpu_cycles", "--long-smpl-periods=3000")
    done = pfmon("--no-cmd-output", *words, "--switch-timeout=1", "--smpl-print-counts", example("fib"), "15")
    assert re.findall(r"n/a (\w+)", done.stdout) == ["CPU_CYCLES"]
    *others, cycles = results(*words, "--switch-timeout=1", example("fib"), "15")["events"]
    assert cycles["count"] is None and cycles["estimate"]["share"] == 0
    assert all(one["count"] and one["estimate"]["share"] == 1 for one in others)


def test_estimates_are_printed_beside_true_values_and_their_error() -> None:
    done = pfmon("--no-cmd-output", "-e", "nops_retired", "-e", "nops_retired", "--switch-timeout=0.001",
                 "--true-values", example("noploop"), "20000")  # fmt: skip
    heading, *lines = done.stdout.splitlines()
    assert heading.split() == ["estimate", "true", "error", "time"]
    for line in lines:
        estimate, true, error, time, name = line.split()
        assert name == "NOPS_RETIRED" and time.endswith("%")
        assert float(error.rstrip("%")) == pytest.approx(100 * (int(estimate) / int(true) - 1), abs=6e-4)


def test_header_says_which_set_has_which_counters() -> None:
    done = pfmon("--no-cmd-output", "--with-header", *SETS, "--switch-timeout=1", example("fib"), "5")
    counters = [line.split(",")[0] for line in done.stdout.splitlines() if " PMD" in line]
    assert [counter.split(": ")[1] for counter in counters] == [
        "IA64_INST_RETIRED",
        "NOPS_RETIRED",
        "LOADS_RETIRED",
        "PREDICATE_SQUASHED_RETIRED",
    ]
    assert [counter.split(" PMD")[0] for counter in counters] == ["# set 0", "# set 0", "# set 1", "# set 2"]


@pytest.mark.slow
def test_multiplexing_does_not_change_what_the_program_does() -> None:
    alone = results("-e", "nops_retired", example("lz"), "300")
    for time in ("0.000001", "0.0137", "5"):
        assert results(*SETS, f"--switch-timeout={time}", example("lz"), "300")["instructions"] == alone["instructions"]


@pytest.mark.slow
def test_signals_of_timers_come_at_the_same_instruction_however_a_run_is_cut() -> None:
    # The program reads its clock in a handler of an interval timer and says what it found by its exit status.
    program = (str(EXAMPLES.parent / "tests" / "data" / "linux" / "signals"), "t")
    runs = [
        json.loads(pfmon("--json", "--no-cmd-output", "-e", "ia64_inst_retired", *options, *program).stdout)
        for options in ([], ["--print-interval=0.0071"], ["--print-interval=0.0731"], ["--slow"])
    ]
    assert {run["exit_status"] for run in runs} == {22}
    assert len({run["instructions"] for run in runs}) == 1


def test_derived_events_are_formulas_over_estimates() -> None:
    done = events("-e", "data_spec_miss_ratio", "-e", "nops_retired", "--switch-timeout=0.0001", example("epic"))
    assert set(done) == {"DATA_SPEC_MISS_RATIO", "NOPS_RETIRED"}


@pytest.mark.slow
def test_intervals_add_up_to_the_totals_and_end_when_they_should() -> None:
    words = ("-e", "ia64_inst_retired,nops_retired", "--print-interval=0.0123", example("fib"), "15")
    run = results(*words)
    ends, deltas = zip(*run["intervals"], strict=True)
    assert list(ends[:-1]) == [12300 * (n + 1) for n in range(len(ends) - 1)] and ends[-1] == run["instructions"]
    assert [sum(column) for column in zip(*deltas, strict=True)] == [event["count"] for event in run["events"]]
    assert all(row[0] == 12300 for row in deltas[:-1])
    text = pfmon("--no-cmd-output", *words).stdout.splitlines()
    assert text[0].split() == ["#", "milliseconds", "IA64_INST_RETIRED", "NOPS_RETIRED"]
    assert [line.split()[1:] for line in text[1:-2]] == [[str(value) for value in row] for row in deltas]


def test_intervals_go_to_the_outfile_before_the_totals(tmp_path: Path) -> None:
    target = tmp_path / "results"
    pfmon(f"--outfile={target}", "-e", "nops_retired", "--print-interval=0.01", example("noploop"), "9000")
    lines = target.read_text().splitlines()
    assert lines[0].startswith("  # milliseconds") and lines[-1].split()[1] == "NOPS_RETIRED" and len(lines) > 3


@sampled(6)
@each(
    ("words", "said"),
    [
        (("-e", "nops_retired", "-e", "loads_retired"), "--switch-timeout=MILLISECONDS"),
        (("-e", "nops_retired", "--switch-timeout=1"), "more than once"),
        (("-e", "nops_retired", "--true-values"), "more than once"),
        (("-e", "nops_retired", "-e", "loads_retired", "--switch-timeout=0"), "positive number of milliseconds"),
        ((*SETS, "--switch-timeout=1", "--unlimited"), "one -e, with --unlimited"),
        ((*SETS, "--switch-timeout=1", "--per-function"), "--unlimited"),
        ((*SETS, "--switch-timeout=1", "--print-interval=1"), "--unlimited"),
        (("--print-interval=1", "-e", "none"), "-e EVENT"),
        (("-e", "nops_retired", "--excl-intr", "--intr-only"), "exclude each other"),
    ],
)
def test_combinations_that_mean_nothing_are_refused(words: tuple[str, ...], said: str) -> None:
    assert said in refused(*words, example("fib"), "5")


@pytest.mark.parametrize("option", first_quick(["--excl-intr", "--intr-only", "--incl-intr", "--exclude-idle"]))
def test_options_about_other_levels_change_nothing_and_say_so(option: str) -> None:
    with_it, without = (pfmon("-e", "nops_retired", *more, example("fib"), "5") for more in ([option], []))
    assert with_it.stdout == without.stdout
    assert with_it.stderr.startswith(f"pfmon: {option} changes nothing: ") and with_it.stderr.count("\n") == 1
