"""--trigger-...: what they accept, what they count on noploop by hand, what they refuse."""

import json
import re

import pytest
from command import example, pfmon, refused
from grids import each, sampled

NOPLOOP = (example("noploop"), "1000")
EVENT = ("-e", "ia64_inst_retired")
# noploop is at 0x4000000000000280; its loop of two bundles begins 0x40 further, the bundle that returns is at +0x60.
START, STOP = "--trigger-code-start-addresses", "--trigger-code-stop-addresses"
DATA_START, DATA_STOP = "--trigger-data-start-addresses", "--trigger-data-stop-addresses"


def count(*words: str) -> int:
    done = pfmon("--no-cmd-output", *EVENT, *words)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return int(done.stdout.split()[0])


@pytest.mark.slow
def test_counting_goes_from_the_start_bundle_to_before_the_stop_bundle() -> None:
    assert count(f"{START}=noploop", f"{STOP}=noploop+0x60", *NOPLOOP) == 12 + 6 * 1000
    assert count(f"{START}=0x4000000000000280", f"{STOP}=0x4000000000000290", *NOPLOOP) == 3


@pytest.mark.slow
def test_what_is_before_inside_and_behind_makes_the_total() -> None:
    before = count(f"{STOP}=noploop", *NOPLOOP)
    behind = count(f"{START}=noploop+0x60", *NOPLOOP)
    assert before + 12 + 6 * 1000 + behind == count(*NOPLOOP)


def test_callees_count_unlike_in_a_range() -> None:
    program = (example("fib"), "10")
    assert count(f"{START}=fib", *program) > count("--irange=main", *program)


def test_once_or_every_time() -> None:
    start, stop = f"{START}=noploop+0x40", f"{STOP}=noploop+0x50"
    assert count(start, stop, *NOPLOOP) == 3
    assert count(start, stop, "--trigger-code-repeat", *NOPLOOP) == 3 * 1000


def test_function_that_starts_and_stops_counts_its_calls() -> None:
    assert count(f"{START}=noploop", f"{STOP}=noploop", *NOPLOOP) == 12 + 6 * 1000 + 3
    assert count(f"{START}=noploop", f"{STOP}=noploop", "--trigger-code-repeat", *NOPLOOP) == 12 + 6 * 1000 + 3


@pytest.mark.slow
def test_data_triggers_follow_reads_writes_or_both() -> None:
    program = (example("arrays"), "1")
    both = count(f"{DATA_START}=B", *program)
    assert count(f"{DATA_START}=B", "--trigger-data-wo", *program) == both  # it is written before it is read
    assert 0 < count(f"{DATA_START}=B", "--trigger-data-ro", *program) < both


def test_code_may_start_and_data_stop() -> None:
    program = (example("arrays"), "1")
    whole = count(f"{START}=main", *program)
    assert 0 < count(f"{START}=main", f"{DATA_STOP}=B", *program) < whole


def test_a_trigger_that_was_never_reached_is_said_at_the_end() -> None:
    done = pfmon("--json", "--no-cmd-output", *EVENT, f"{START}=main,0x1000", f"{DATA_STOP}=0x2000", *NOPLOOP)
    lines = done.stderr.splitlines()
    assert lines == [
        "pfmon: --trigger-code-start-addresses: 0x1000 was never reached",
        "pfmon: --trigger-data-stop-addresses: 0x2000 was never accessed",
    ]
    assert json.loads(done.stdout)["notes"] == [line.removeprefix("pfmon: ") for line in lines]


@sampled(7)
@each(
    ("words", "said"),
    [
        ([f"{START}=noplop"], "noploop"),
        ([f"{START}=0x1008"], "multiple of 16"),
        ([f"{START}=-1"], "symbol"),
        ([f"{START}=12z"], "address or a symbol"),
        ([f"{START}=main,"], "empty"),
        ([f"{START}=main", f"{START}=noploop"], "twice"),
        ([f"{START}=main,main"], "is a trigger already"),
        (["--stop-event=loads_retired:1", f"{START}=main"], "--stop-event counts from"),
        ([f"{START}=0x10,0x20,0x30,0x40,0x50"], "4 pairs"),
        ([f"{START}=main", "--irange=noploop"], "triggers_and_ranges_share_registers"),
        ([f"{STOP}=main", "--checkpoint-func=noploop"], "triggers_and_ranges_share_registers"),
        ([f"{DATA_START}=0x10", "--drange=0x10-0x20"], "triggers_and_ranges_share_registers"),
        ([f"{START}=main", "--trigger-code-repeat"], "wants both"),
        (["--trigger-data-repeat"], "data triggers"),
        (["--trigger-data-ro", "--trigger-data-wo"], "exclude each other"),
        ([f"{DATA_START}=main"], "main is code"),
    ],
)
def test_mistakes_are_one_line_before_the_program_starts(words: list[str], said: str) -> None:
    assert said in refused(*EVENT, *words, *NOPLOOP)


def test_verbose_shows_the_triggers() -> None:
    done = pfmon(
        "-v", "--no-cmd-output", *EVENT, f"{START}=noploop", f"{DATA_STOP}=0x10", "--trigger-data-ro", *NOPLOOP
    )
    assert "start code trigger @0x4000000000000280 (noploop)\n" in done.stderr
    assert "stop data read-only trigger @0x10 (0x10)\n" in done.stderr


def test_triggers_without_events_are_refused() -> None:
    assert "-e EVENT" in refused(f"{START}=main", *NOPLOOP)


@pytest.mark.slow
def test_trigger_opens_the_gate_and_the_range_filters() -> None:
    """Loads of B while a function runs are those of B before its stop without those before its start."""
    program = ("--no-cmd-output", "-e", "loads_retired", "--drange=B", example("arrays"), "1")

    def loads(*words: str) -> int:
        done = pfmon(*words, *program)
        assert done.returncode == 0, done.stderr
        return int(re.findall(r"\d+", done.stdout)[0])

    before, to_the_end = loads(f"{STOP}=doit"), loads(f"{START}=doit")
    assert before + to_the_end == loads() and to_the_end > 0
    within = loads(f"{START}=doit", f"{STOP}=doit")
    without_range = int(pfmon(f"{START}=doit", *program[:3], *program[4:]).stdout.split()[0])
    assert 0 < within < to_the_end < without_range


def test_code_range_goes_with_data_triggers() -> None:
    program = ("--no-cmd-output", *EVENT, example("arrays"), "1")
    in_range = int(pfmon("--irange=main", *program).stdout.split()[0])
    behind = int(pfmon("--irange=main", f"{DATA_START}=B", *program).stdout.split()[0])
    assert 0 < behind < in_range
