"""PSR.up and PSR.sp: programs that start and stop counting, and read the counters, on their own."""

import json
from pathlib import Path

import pytest
from command import pfmon, refused
from grids import each, sampled
from guests import EXAMPLES
from ia64_program import EXIT, write_program

# A bundle has three instructions here, two of them nops.
WORK = ["adds r8=1,r8"] * 5
PLANTED = ["rum 4", *WORK, "sum 4", *WORK, *WORK, "rum 4", *WORK]


def counts(path: Path, *options: str, events: str = "ia64_inst_retired,nops_retired") -> list[int]:
    done = pfmon("--json", "-e", events, *options, str(path))
    assert done.returncode == 0, done.stderr
    return [event["count"] for event in json.loads(done.stdout)["events"]]


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    return write_program(tmp_path / "planted", [*PLANTED, *EXIT])


def all_of(lines: int) -> list[int]:
    return [3 * lines, 2 * lines]


@pytest.mark.slow
def test_only_what_is_between_sum_and_rum_counts(planted: Path) -> None:
    # The instruction sum is not counted, rum is, and so are the nops in their bundles behind and before them.
    assert counts(planted, "--insecure", "--dont-start") == [2 + 30 + 1, 2 + 20]
    assert counts(planted, "--insecure", "--dont-start", "--slow") == [2 + 30 + 1, 2 + 20]


def test_counting_that_was_started_is_stopped_by_the_program_and_started_again(planted: Path) -> None:
    assert counts(planted, "--insecure") == [1 + 2 + 30 + 1, 2 + 20]


@pytest.mark.slow
def test_secure_programs_neither_stop_nor_start_counting(planted: Path) -> None:
    lines = len(PLANTED) + len(EXIT) - 1  # the break does not retire
    assert counts(planted) == all_of(lines)
    done = pfmon("-e", "ia64_inst_retired", "--dont-start", str(planted))
    assert done.stdout.split() == ["0", "IA64_INST_RETIRED"]
    assert done.stderr.startswith("pfmon: --dont-start: nothing will start counting") and done.stderr.count("\n") == 1


def reader(tmp_path: Path, *before: str, pmd: int = 4) -> Path:
    """A program whose exit status is what it reads from a counter."""
    lines = [*before, f"adds r9={pmd},r0", "mov r32=pmd[r9]", "adds r15=1025,r0", "break.m 0x100000"]
    return write_program(tmp_path / "reader", ["alloc r33=ar.pfs,8,0,0", *lines])


@sampled(6)
@each("slow", [False, True])
@each("work", [0, 1, 7, 50])
def test_insecure_programs_read_the_live_counter(tmp_path: Path, work: int, slow: bool) -> None:
    path = reader(tmp_path, *["adds r8=1,r8"] * work)
    options = ["--slow"] if slow else []
    done = pfmon("--no-cmd-output", "--insecure", "-e", "ia64_inst_retired", *options, str(path))
    assert done.returncode == 3 * (work + 2), done.stderr  # what retired before the read
    assert int(done.stdout.split()[0]) == 3 * (work + 4)


@pytest.mark.slow
def test_the_counter_that_is_read_is_the_one_of_that_number(tmp_path: Path) -> None:
    path = reader(tmp_path, *["adds r8=1,r8"] * 10, pmd=5)
    done = pfmon("--insecure", "--json", "-e", "ia64_inst_retired,nops_retired", str(path))
    by_pmd = {event["pmd"]: event["name"] for event in json.loads(done.stdout)["events"]}
    assert done.returncode == {"IA64_INST_RETIRED": 36, "NOPS_RETIRED": 24}[by_pmd[5]]
    assert pfmon("--insecure", "-e", "ia64_inst_retired", str(reader(tmp_path, pmd=200))).returncode == 0


def test_reads_are_of_qualified_counts(tmp_path: Path) -> None:
    path = reader(tmp_path, *["adds r8=1,r8"] * 10)
    ranged = "--irange=0x4000000000010020-0x4000000000010040"
    assert pfmon("--insecure", ranged, "-e", "ia64_inst_retired", str(path)).returncode == 6


def test_secure_programs_read_zero(tmp_path: Path) -> None:
    assert pfmon("-e", "ia64_inst_retired", str(reader(tmp_path))).returncode == 0


@pytest.mark.slow
def test_a_signal_handler_returns_with_the_mask_that_was_interrupted() -> None:
    # rt_sigreturn restores PSR.up: an ordinary program that handles signals counts all of itself.
    program = str(EXAMPLES.parent / "tests" / "data" / "linux" / "signals")
    plain, insecure = (
        pfmon("--no-cmd-output", "-e", "ia64_inst_retired", *options, program, "t").stdout
        for options in ((), ("--insecure",))
    )
    assert plain == insecure and int(plain.split()[0]) > 200_000


@pytest.mark.slow
def test_insecure_does_not_go_with_system_wide_nor_without_events() -> None:
    program = str(EXAMPLES / "ia64" / "fib")
    assert "insecure_is_for_programs" in refused("--insecure", "--system-wide", "-e", "nops_retired", program)
    assert "-e EVENT" in refused("--insecure", program)
