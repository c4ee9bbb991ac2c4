"""All mistakes of a command line are said at once, each as the user wrote it, and none that only follows."""

from pathlib import Path

import pytest
from answers import declined, said
from command import example
from grids import each

from pfmon.cli import hp_options
from pfmon.cli.command_line import read
from pfmon.errors import PfmonError
from pfmon.library.options.table import OPTIONS

FIB = example("fib")


def mistakes(*words: str) -> list[str]:
    """The lines of a command that is refused."""
    status, out, err = said(*words)
    assert (status, out) == (2, "")
    lines = err.splitlines()
    assert all(line.startswith("pfmon: ") for line in lines)
    return [line.removeprefix("pfmon: ") for line in lines]


def test_every_option_event_and_file_is_looked_at() -> None:
    words = ("--seed=x", "-e", "loads_retird,nops_retred", "--outfile=/no/such/x", "--tolerance=1%")
    seed, tolerance, first, second, program, outfile = mistakes(*words, "./no-such-program")
    assert seed.startswith("--seed=x: ")
    assert tolerance.startswith("--tolerance applies to a comparison")
    assert "'loads_retird'" in first and "'nops_retred'" in second
    assert program == "./no-such-program: no such file or directory"
    assert outfile.startswith("--outfile=/no/such/x: ")


def test_each_event_set_is_looked_at() -> None:
    words = ("-e", "loads_retired,stores_retired", "-e", "l2_references,l2_ozq_release", "--switch-timeout=1")
    l1d, l2 = mistakes(*words, FIB)
    assert "LOADS_RETIRED (L1D:3), STORES_RETIRED" in l1d and "L2_REFERENCES" in l2
    for line in (l1d, l2):
        assert "--unlimited" in line and "several -e" in line


def test_no_program_is_a_mistake_beside_others() -> None:
    seed, program = mistakes("--seed=x")
    assert seed.startswith("--seed=x") and program.startswith("no program given; usage: pfmon")


@pytest.mark.parametrize("option", ["--attach-task=123", "--attach=123", "-p123"])
def test_attaching_to_a_process_wants_no_program(option: str) -> None:
    (line,) = mistakes(option, "-e", "nops_retired")
    assert "HP's pfmon had this option" in line


def test_the_word_behind_an_unknown_option_is_no_program() -> None:
    assert mistakes("--evnts", "loads_retired", FIB) == ["unknown option --evnts; nearest: --events, --show-events"]


def test_what_follows_from_a_bad_value_is_not_said() -> None:
    assert mistakes("--irange=", "--inverse-irange", "-e", "nops_retired", FIB) == [
        "--irange wants a range: START-END or a symbol"
    ]
    assert mistakes("--pmu=itanum", "-e", "cpu_op_cycles_all", FIB)[0].startswith("unknown PMU 'itanum'")


def test_options_are_named_as_they_were_typed() -> None:
    assert mistakes("--inverse", "-e", "nops_retired", FIB)[0].startswith("--inverse applies to a code range")
    assert mistakes("--check=0x4001", "-e", "nops_retired", FIB)[0].startswith("option --check is ambiguous")
    line = declined("--checkpoint-func=main", "-e", "cpu_cycles", FIB)
    assert "--checkpoint-func" in line and "--irange" not in line
    line = declined("--checkpoint-func=main", "--opc-match9=:0:0", "-e", "nops_retired", FIB)
    assert "--checkpoint-func works with PMC8" in line


def test_events_of_a_missing_program_are_looked_up_in_every_pmu() -> None:
    (line,) = mistakes("-e", "llc_misses", "./no-such-program")
    assert line.startswith("./no-such-program: ")


def test_a_mistake_in_a_question_is_said_alone() -> None:
    assert len(mistakes("-i", "no_such_event", "--outfile=/no/such/x")) == 1


@each("name", hp_options.INSTEAD)
def test_options_that_hps_pfmon_had_are_named_as_such(name: str) -> None:
    assert name not in OPTIONS
    (line,) = mistakes(f"--{name}=1", FIB)
    assert line.startswith(f"--{name}: HP's pfmon had this option, this one does not; ")
    for word in line.replace(",", " ").replace(";", " ").split():
        if word.startswith("--") and word != f"--{name}:":
            assert word.partition("=")[0].removeprefix("--") in OPTIONS


def test_letters_of_hps_pfmon_are_named_as_such() -> None:
    assert mistakes("-S", "compact", FIB)[0].startswith("-S: HP's pfmon had this option")
    (line,) = mistakes("-p", "1234")
    assert line.startswith("-p: HP's pfmon had this option") and "--trigger-code-start-addresses" in line
    status, out, _ = said("-t", "30", "-V")  # --session-timeout
    assert status == 0 and out


def test_a_run_that_fails_is_no_mistake_of_the_command_line(tmp_path: Path) -> None:
    done = said("--replay", str(tmp_path), "-e", "nops_retired")
    assert done[0] == 2 and done[2].count("\n") == 1


@pytest.mark.parametrize(
    ("words", "subjects"),
    [
        (("--inverse-irange",), ("--inverse-irange", "--irange")),
        (("--true-values",), ("--true-values", "--events")),
        (("--replay=x", "--slow"), ("--slow", "--replay")),
    ],
)
def test_errors_have_the_options_that_they_are_about(words: tuple[str, ...], subjects: tuple[str, ...]) -> None:
    with pytest.raises(PfmonError) as caught:
        read([*words, "-e", "nops_retired"])
    assert caught.value.subjects == subjects
