"""--baseline, --tolerance, --save-baseline: what is compared, what is kept, and the exit status."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command import EXAMPLES, example, pfmon, refused
from grids import first_quick
from qemu_guests import QEMU

EVENTS = ("-e", "ia64_inst_retired,loads_retired")
SORT = (example("sort"), "100")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The baseline of a run."""
    path = tmp_path / "baseline.json"
    done = pfmon(*EVENTS, f"--save-baseline={path}", *SORT)
    assert (done.returncode, done.stderr) == (0, "")
    return path


def counts(path: Path) -> dict[str, int]:
    found = json.loads(path.read_text())["counts"]
    assert isinstance(found, dict)
    return found


def scale(path: Path, event: str, factor: float) -> int:
    """Pretend that the earlier run counted so many times as much; what it counted then."""
    content = json.loads(path.read_text())
    content["counts"][event] = round(content["counts"][event] * factor)
    path.write_text(json.dumps(content))
    value = content["counts"][event]
    assert isinstance(value, int)
    return value


def test_a_baseline_has_what_the_run_counted(saved: Path) -> None:
    printed = json.loads(pfmon("--json", "--no-cmd-output", *EVENTS, *SORT).stdout)
    content = json.loads(saved.read_text())
    assert content["counts"] == {one["name"]: one["count"] for one in printed["events"]}
    assert (content["command"], content["pmu"], content["machine"]) == ([*SORT], "itanium2", "itanium2")
    assert content["pfmon"] == printed["pfmon"]


def test_the_same_run_passes_without_a_word(saved: Path) -> None:
    done = pfmon(*EVENTS, f"--baseline={saved}", "--tolerance=0%", *SORT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == pfmon(*EVENTS, *SORT).stdout


def test_a_count_that_grew_is_a_line_and_status_3(saved: Path) -> None:
    before, now = scale(saved, "LOADS_RETIRED", 0.5), counts(saved)["IA64_INST_RETIRED"]
    done = pfmon(*EVENTS, f"--baseline={saved}", *SORT)
    heading, columns, line = done.stderr.splitlines()
    assert done.returncode == 3 and str(now) in done.stdout
    assert heading == f"pfmon: 1 of 2 events grew by more than the tolerance, compared with {saved}:"
    assert columns.split() == ["event", "before", "now", "change", "tolerance"]
    name, earlier, later, change, tolerance = line.split()
    assert (name, int(earlier), tolerance) == ("LOADS_RETIRED", before, "1%")
    assert change == f"{100 * (int(later) / before - 1):+.3f}%"


def test_a_count_that_shrank_is_told_and_no_failure(saved: Path) -> None:
    scale(saved, "LOADS_RETIRED", 2)
    done = pfmon(*EVENTS, f"--baseline={saved}", *SORT)
    assert done.returncode == 0
    assert "1 of 2 events shrank" in done.stderr and "LOADS_RETIRED" in done.stderr


@pytest.mark.parametrize(
    ("factor", "tolerance", "status"),
    first_quick(
        [
            (0.98, (), 3),
            (0.98, ("--tolerance=3%",), 0),
            (0.98, ("--tolerance=loads_retired=3%",), 0),
            (0.98, ("--tolerance=3%,LOADS_RETIRED=1%",), 3),
            (0.98, ("--tolerance=1%", "--tolerance=LOADS_RETIRED=3%"), 0),
            (0.995, (), 0),
            (0.995, ("--tolerance", "0%"), 3),
        ]
    ),
)
def test_what_grew_by_less_than_the_tolerance_passes(
    factor: float, tolerance: tuple[str, ...], status: int, saved: Path
) -> None:
    scale(saved, "LOADS_RETIRED", factor)
    assert pfmon(*EVENTS, f"--baseline={saved}", *tolerance, *SORT).returncode == status


def test_all_events_of_an_unlimited_run_are_compared(tmp_path: Path) -> None:
    events = "ia64_inst_retired,loads_retired,stores_retired,nops_retired,predicate_squashed_retired"
    path = tmp_path / "baseline.json"
    assert pfmon("--unlimited", "-e", events, f"--save-baseline={path}", *SORT).returncode == 0
    assert [*counts(path)] == events.upper().split(",")
    for event in counts(path):
        scale(path, event, 0.5)
    done = pfmon("--unlimited", "-e", events, f"--baseline={path}", *SORT)
    assert done.returncode == 3 and "5 of 5 events grew" in done.stderr
    for event in counts(path):
        assert f"\n{event} " in done.stderr


def test_the_comparison_is_apart_from_json(saved: Path) -> None:
    scale(saved, "LOADS_RETIRED", 0.5)
    done = pfmon("--json", "--no-cmd-output", *EVENTS, f"--baseline={saved}", *SORT)
    assert done.returncode == 3 and json.loads(done.stdout)["exit_status"] == 0


@pytest.mark.slow
@QEMU
def test_x86_64_programs_are_compared_too(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    words = ("-e", "INSTRUCTIONS_RETIRED", "--tolerance=0%")
    program = (str(EXAMPLES / "x86_64" / "queens"), "4")
    assert pfmon(*words[:2], f"--save-baseline={path}", *program).returncode == 0
    assert pfmon(*words, f"--baseline={path}", *program).returncode == 0
    scale(path, "INSTRUCTIONS_RETIRED", 0.995)
    assert pfmon(*words, f"--baseline={path}", *program).returncode == 3


def test_one_file_for_both_is_replaced_by_smaller_counts(saved: Path) -> None:
    right = counts(saved)
    scale(saved, "LOADS_RETIRED", 1.5)
    assert pfmon(*EVENTS, f"--baseline={saved}", f"--save-baseline={saved}", *SORT).returncode == 0
    assert counts(saved) == right


@pytest.mark.parametrize(("factor", "status"), first_quick([(0.5, 3), (0.995, 0)]))
def test_one_file_for_both_is_not_replaced_by_larger_counts(factor: float, status: int, saved: Path) -> None:
    scale(saved, "LOADS_RETIRED", factor)
    scale(saved, "IA64_INST_RETIRED", 1.5)
    content = saved.read_text()
    done = pfmon(*EVENTS, f"--baseline={saved}", f"--save-baseline={saved.parent}/./baseline.json", *SORT)
    assert (done.returncode, saved.read_text()) == (status, content)
    assert "stays as it was: LOADS_RETIRED is more than there" in done.stderr


def test_another_file_is_written_though_a_count_grew(saved: Path) -> None:
    other, right = saved.with_name("other"), counts(saved)
    scale(saved, "LOADS_RETIRED", 0.5)
    assert pfmon(*EVENTS, f"--baseline={saved}", f"--save-baseline={other}", *SORT).returncode == 3
    assert counts(other) == right


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file that is to stay as it is."""
    path = tmp_path / "old"
    path.write_text("mine")
    return path


def assert_untouched(old: Path) -> None:
    assert old.read_text() == "mine"
    assert [one.name for one in old.parent.iterdir() if one.name.startswith(".")] == []


@QEMU
def test_a_program_that_fails_makes_no_baseline(old: Path) -> None:
    done = pfmon("-e", "INSTRUCTIONS_RETIRED", f"--save-baseline={old}", "/bin/sh", "-c", "exit 7")
    assert done.returncode == 7 and "neither compared" in done.stderr
    assert_untouched(old)


@QEMU
def test_a_program_that_is_killed_makes_no_baseline(old: Path) -> None:
    done = pfmon("-e", "INSTRUCTIONS_RETIRED", f"--save-baseline={old}", "/bin/sh", "-c", "kill -9 $$")
    assert done.returncode == 137 and "neither compared" in done.stderr
    assert_untouched(old)


@pytest.mark.slow
@QEMU
def test_the_status_of_a_program_that_fails_goes_first(tmp_path: Path) -> None:
    path, script = tmp_path / "baseline", tmp_path / "script"
    script.write_text("exit 0")
    words = ("-e", "INSTRUCTIONS_RETIRED")
    assert pfmon(*words, f"--save-baseline={path}", "/bin/sh", str(script)).returncode == 0
    scale(path, "INSTRUCTIONS_RETIRED", 0.5)
    assert pfmon(*words, f"--baseline={path}", "/bin/sh", str(script)).returncode == 3
    script.write_text("exit 7")
    assert pfmon(*words, f"--baseline={path}", "/bin/sh", str(script)).returncode == 7


@pytest.mark.slow
def test_a_run_that_was_ended_makes_no_baseline(old: Path) -> None:
    words = (*EVENTS, "--session-timeout=0.1", f"--save-baseline={old}", example("noploop"), "100000000000")
    assert pfmon(*words).returncode == 124
    assert_untouched(old)


def test_a_mistake_makes_no_baseline(old: Path) -> None:
    refused(*EVENTS, f"--save-baseline={old}", "./no-such-program")
    refused("-e", "no_such_event", f"--save-baseline={old}", *SORT)
    assert_untouched(old)


FULL = """
import sys
import os
from pfmon import atomic_write
from pfmon.__main__ import main

fresh = atomic_write._fresh
def full(place, mode):
    descriptor, partial = fresh(place, mode)
    os.dup2(os.open("/dev/full", os.O_WRONLY), descriptor)
    return descriptor, partial
atomic_write._fresh, atomic_write._make_like = full, lambda *_: None
sys.exit(main())
"""


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_baseline(old: Path) -> None:
    words = [sys.executable, "-c", FULL, *EVENTS, f"--save-baseline={old}", *SORT]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 125 and "LOADS_RETIRED" in done.stdout
    assert done.stderr == f"pfmon: --save-baseline={old}: no space left on device\n"
    assert_untouched(old)


def test_a_place_that_cannot_be_written_is_told_before_the_run(tmp_path: Path) -> None:
    assert "there is no directory" in refused(*EVENTS, f"--save-baseline={tmp_path}/none/file", *SORT)
    assert "is a directory" in refused(*EVENTS, f"--save-baseline={tmp_path}", *SORT)


@pytest.mark.parametrize(
    ("words", "said"),
    first_quick(
        [
            (("-e", "nops_retired", *SORT), "there is no NOPS_RETIRED in it; --save-baseline="),
            ((*EVENTS, example("sort"), "101"), "sort 101; --save-baseline="),
            (("--pmu=montecito", *EVENTS, *SORT), "--pmu=itanium2, and this is montecito"),
            (("--irange=main", *EVENTS, *SORT), "other options than this (--irange)"),
            ((*EVENTS, "--tolerance=1", *SORT), "--tolerance=1: a percentage such as 1%"),
            ((*EVENTS, "--tolerance=nops_retired=1%", *SORT), "NOPS_RETIRED is not counted"),
            (("-e", "loads_retired,loads_retired", *SORT), "LOADS_RETIRED is counted twice"),
            (SORT, "give -e EVENT,... too"),
            (("-e", "loads_retired", "-e", "nops_retired", "--switch-timeout=1", *SORT), "estimates"),
            ((*EVENTS, "--long-smpl-periods=1000", *SORT), "does not go with sampling"),
        ]
    ),
)
def test_what_cannot_be_compared_is_one_line(words: tuple[str, ...], said: str, saved: Path) -> None:
    assert said in refused(f"--baseline={saved}", *words)


def test_a_baseline_that_is_not_there_or_broken_is_one_line(old: Path) -> None:
    assert f"--save-baseline={old}.none makes it" in refused(*EVENTS, f"--baseline={old}.none", *SORT)
    assert "this is no baseline" in refused(*EVENTS, f"--baseline={old}", *SORT)


def test_options_without_what_they_are_about_are_refused() -> None:
    assert "give --baseline=FILE too" in refused(*EVENTS, "--tolerance=1%", *SORT)
    assert "a file is wanted" in refused(*EVENTS, "--baseline=", *SORT)
    assert "a percentage is wanted" in refused(*EVENTS, "--baseline=x", "--tolerance=", *SORT)


@pytest.mark.slow
def test_formulas_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "baseline"
    assert pfmon("-e", "ia64_ipc", f"--save-baseline={path}", *SORT).returncode == 0
    assert pfmon("-e", "ia64_ipc", f"--baseline={path}", "--tolerance=0%", *SORT).returncode == 0
    content = json.loads(path.read_text())
    content["counts"]["IA64_IPC"] /= 2
    path.write_text(json.dumps(content))
    assert pfmon("-e", "ia64_ipc", f"--baseline={path}", *SORT).returncode == 3


def test_a_recorded_run_is_compared_as_its_program(saved: Path) -> None:
    recording = saved.with_name("recording")
    assert pfmon(f"--record={recording}", *SORT).returncode == 0
    assert pfmon(*EVENTS, f"--baseline={saved}", "--tolerance=0%", f"--replay={recording}").returncode == 0
