"""--smt: two programs on the two hardware threads of one core, as a user runs them."""

import json
import platform
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import example, pfmon, refused
from grids import each, first_quick, sampled
from ia64_program import DATA, EXIT, write_program

from pfmon.engine.linux.abi.ia64.syscall_numbers import NUMBERS

HASHMAP, SORT = f"{example('hashmap')} 50", [example("sort"), "50"]
EVENTS = ["-e", "ia64_inst_retired,l3_misses"]
FOREVER = [example("noploop"), "100000000000"]
COUNT = re.compile(r" *(\d+) (\w+)")


def smt(*words: str, first: str = HASHMAP, second: list[str] = SORT) -> list[str]:
    """The lines of the results."""
    done = pfmon("--no-cmd-output", "--smt", first, *words, *second)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def ending(lines: list[str], data: bytes = b"") -> tuple[list[str], bytes]:
    return ["alloc r33=ar.pfs,8,0,0", *lines, "adds r15=1025,r0", "break.m 0x100000"], data


def parts(lines: list[str]) -> list[list[str]]:
    """What is printed below each line that begins with a number sign."""
    found: list[list[str]] = []
    for line in lines:
        if line.startswith("# "):
            found.append([line])
        else:
            found[-1].append(line)
    return found


def test_counts_stand_below_each_program_and_the_core_below_both() -> None:
    first, second, core = parts(smt(*EVENTS))
    assert (first[0], second[0]) == (f"# thread 0 {HASHMAP}", f"# thread 1 {' '.join(SORT)}")
    for part in (first, second):
        assert [line.split()[1] for line in part[1:]] == ["IA64_INST_RETIRED", "L3_MISSES"]
        assert all(COUNT.fullmatch(line) for line in part[1:])
    cycles = int(core[0].removeprefix("# core: ").removesuffix(" cycles"))
    rows = {line.split(maxsplit=2)[2]: line.split()[:2] for line in core[2:]}
    foreground = [int(cell) for cell in rows["cycles in the foreground"]]
    assert sum(foreground) == cycles
    assert [int(cell) for cell in rows["cycles in the background"]] == foreground[::-1]
    assert core[1].split() == ["thread", "0", "thread", "1"]


@pytest.mark.slow
def test_json_has_what_is_printed() -> None:
    words = ["--no-cmd-output", "--smt", HASHMAP, *EVENTS]
    printed = parts(pfmon(*words, *SORT).stdout.splitlines())
    found = json.loads(pfmon("--json", *words, *SORT).stdout)
    assert printed[2][0] == f"# core: {found['core']['cycles']} cycles"
    for part, run in zip(printed, found["threads"], strict=False):
        assert [line.split() for line in part[1:]] == [[str(one["count"]), one["name"]] for one in run["events"]]


@pytest.mark.slow
def test_results_of_two_are_not_compared_with_those_of_one(tmp_path: Path) -> None:
    both, one = tmp_path / "both", tmp_path / "one"
    done = pfmon("--json", f"--outfile={both}", "--no-cmd-output", "--smt", HASHMAP, *EVENTS, *SORT)
    assert done.returncode == 0
    one.write_text(json.dumps(json.loads(both.read_text())["threads"][1]))
    assert f"{both}: results of two programs;" in refused("diff", str(both), str(one))
    assert pfmon("diff", str(one), str(one)).returncode == 0


def test_without_events_cycles_and_instructions_are_counted() -> None:
    done = pfmon("--no-cmd-output", "--smt", HASHMAP, *SORT)
    assert done.stderr == ""
    assert done.stdout.count("CPU_OP_CYCLES_ALL") == done.stdout.count("IA64_INST_RETIRED") == 2
    assert done.stdout.count("CPI (cycles per instruction)") == 2


@pytest.mark.slow
def test_the_first_program_may_write_to_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "out"
    done = pfmon("--smt", HASHMAP, f"--smt-output={path}", *EVENTS, *SORT)
    alone = [pfmon("-e", "nops_retired", *words).stdout.splitlines()[0] for words in (HASHMAP.split(), SORT)]
    assert path.read_text() == f"{alone[0]}\n"
    assert done.stdout.splitlines()[0] == alone[1] and alone[0] not in done.stdout.splitlines()


def test_a_file_of_output_stays_as_it_was_if_nothing_runs(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("mine")
    refused("--smt", HASHMAP, f"--smt-output={path}", "-e", "nops_retired,nonsense", *SORT)
    assert path.read_text() == "mine" and list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_the_exit_status_is_that_of_the_command(tmp_path: Path) -> None:
    three = write_program(tmp_path / "three", *ending(["adds r32=3,r0"]))
    dead = write_program(tmp_path / "dead", ["ld8 r1=[r0]", *EXIT])
    done = pfmon("--smt", HASHMAP, "-e", "nops_retired", str(three))
    assert (done.returncode, done.stderr) == (3, "")
    assert f"# thread 1 {three} (exit status 3)\n" in done.stdout
    done = pfmon("--smt", str(three), "-e", "nops_retired", *SORT)
    assert (done.returncode, done.stderr) == (0, "pfmon: thread 0's program ended with exit status 3\n")
    done = pfmon("--smt", str(dead), "-e", "nops_retired", *SORT)
    assert done.returncode == 0
    assert re.fullmatch(r"pfmon: thread 0's program was killed by signal 11 \(SIGSEGV\): .*\n", done.stderr)


def test_a_crash_report_is_of_one_thread(tmp_path: Path) -> None:
    dead = write_program(tmp_path / "dead", ["ld8 r1=[r0]", *EXIT])
    pfmon("--smt", str(dead), f"--crash-report={tmp_path / 'why'}", "-e", "nops_retired", *SORT)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dead", "why.0"]


@pytest.mark.slow
def test_cycles_of_both_are_broken_down_in_one_table() -> None:
    found = json.loads(pfmon("--json", "--no-cmd-output", "--report=cpi", "--smt", HASHMAP, *SORT).stdout)
    lines = smt("--report=cpi")
    reports = [run["report"] for run in found["threads"]]
    whole = next(line.split() for line in lines if line.endswith("all cycles"))
    assert [int(whole[0]), int(whole[3])] == [one["cycles"] for one in reports]
    for part in reports[0]["parts"]:
        row = next(line.split() for line in lines if line.endswith(f"% {part}"))
        assert [int(row[0]), int(row[3])] == [one["parts"][part]["cycles"] for one in reports]
    switching = [one["parts"]["other stalls"]["of"]["thread switches"] for one in reports]
    assert switching == [one["switching"] for one in found["core"]["threads"]]
    assert [line for line in lines if line.startswith("# ")] == [
        f"# core: {found['core']['cycles']} cycles",
        f"# thread 0 {HASHMAP}",
        f"# thread 1 {' '.join(SORT)}",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("report", [["--report=derived"], ["--per-function", *EVENTS], ["--annotate=main", *EVENTS]])
def test_reports_are_of_each_program(report: list[str]) -> None:
    parted = parts(smt(*report))
    assert len(parted) == 3 and min(map(len, parted)) > 8


def test_headers_say_what_each_thread_counts() -> None:
    text = "\n".join(smt("--with-header", "--show-time", *EVENTS))
    assert text.count("# date: ") == 1 and text.count("# command: ") == text.count("# PMD4: ") == 2
    assert text.count("\nreal 0h00m") == 1


@pytest.mark.slow
def test_samples_are_printed_one_thread_after_the_other() -> None:
    words = ["-e", "ia64_inst_retired", "--long-smpl-periods=1000"]
    both = parts(smt(*words))
    assert [part[0].split()[2] for part in both] == ["0", "1"]
    for part, command in zip(both, (HASHMAP.split(), SORT), strict=True):
        alone = pfmon("--pmu=montecito", "--no-cmd-output", *words, *command).stdout
        timeless = [re.sub(r"STAMP:\S+", "", line) for line in part[1:]]  # cycles of the core, of which alone has none
        assert timeless == [re.sub(r"STAMP:\S+", "", line) for line in alone.splitlines()]


@pytest.mark.slow
def test_samples_go_to_files_of_each_thread(tmp_path: Path) -> None:
    words = ["-e", "ia64_inst_retired", "--long-smpl-periods=1000", "--smpl-show-func", "--smpl-module=inst-hist"]
    files = [f"--smpl-outfile={tmp_path / 'hist'}", f"--export=csv:{tmp_path / 'all'}"]
    assert smt(*words, *files) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.0", "all.1", "hist.0", "hist.1"]
    for number, command in enumerate((HASHMAP.split(), SORT)):
        alone = pfmon("--pmu=montecito", "--no-cmd-output", *words, *command).stdout
        assert (tmp_path / f"hist.{number}").read_text() == alone


@pytest.mark.slow
def test_recordings_count_as_the_programs_did(tmp_path: Path) -> None:
    words = ["-e", "cpu_op_cycles_all,l3_misses,loads_retired"]
    ran = smt(*words, f"--record={tmp_path / 'run'}%n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run1.0", "run1.1"]
    first, second = (f"{tmp_path / 'run'}1.{number}" for number in range(2))
    assert pfmon(*words, f"--smt-replay={first}", f"--replay={second}").stdout.splitlines() == ran
    assert pfmon(*words, "--no-cmd-output", f"--smt-replay={first}", *SORT).stdout.splitlines() == ran
    assert pfmon(*words, "--no-cmd-output", "--smt", HASHMAP, f"--replay={second}").stdout.splitlines() == ran
    smt(*words, f"--record={tmp_path / 'run'}%n")
    assert (tmp_path / "run2.0").exists()


@pytest.mark.slow
def test_all_threads_counts_both() -> None:
    words = ["--json", "--no-cmd-output", "--smt", HASHMAP, "-e", "l2d_references_all"]
    own, both = (
        [run["events"][0]["count"] for run in json.loads(pfmon(*more, *words, *SORT).stdout)["threads"]]
        for more in ([], ["--all-threads"])
    )
    assert both == [sum(own)] * 2


@pytest.mark.parametrize("words", first_quick([["-v"], ["--check-events-only"]]))
def test_events_are_checked_for_two_threads(words: list[str]) -> None:
    seven = "l3_misses," * 6 + "l3_references"
    rule = "banked_counters_count_active_events_only"
    assert rule in refused(*words, "--smt", HASHMAP, "-e", seven, *SORT)
    allowed = pfmon(*words, "--smt", HASHMAP, "-e", seven, "--no-smt-rules", *SORT)
    assert allowed.returncode == 0 and "PMD10 L3_REFERENCES" in allowed.stdout + allowed.stderr
    assert pfmon("--pmu=montecito", "--check-events-only", "-e", seven).returncode == 0


MISTAKES = {
    "--pmu=itanium2": "itanium2 has one hardware thread a core",
    "--machine=itanium2": "one hardware thread a core; montecito has two",
    "--print-interval=1": "--print-interval: not with two programs",
    "--insecure": "--insecure: not with two programs",
    "--slow": "--slow: not with two programs",
    "--live": "--live: not with two programs",
    "--progress": "--progress: not with two programs",
    "--baseline=x": "--baseline: not with two programs",
    "--save-baseline=x": "--save-baseline: not with two programs",
    "--report=html:x": "--report=html: not with two programs",
    "--follow-all": "--follow-...: not with two programs",
    "--trigger-code-start-address=main": "--trigger-... and --stop-event: not with two programs",
    "--smt-replay=x": "--smt and --smt-replay exclude each other",
    "--smt-output=/nonexistent/x": "there is no directory",
    "--smt='x": "no closing quotation",
    "--smt=": "a program is wanted",
    "--smt=/nonexistent": "/nonexistent",
    "--switch-timeout=1 -e nops_retired": "several event sets (-e): not with two programs",
    "--irange=nowhere": "nowhere",
}


@sampled(7)
@each("words", MISTAKES)
def test_what_does_not_go_with_two_programs_is_refused(words: str) -> None:
    said = refused("--smt", HASHMAP, *words.split(), *([] if words.startswith("--report") else EVENTS), *SORT)
    assert MISTAKES[words] in said


def test_two_cores_are_montecitos() -> None:
    for option, said in {"--pmu": "itanium2 has one core", "--machine": "has one core; montecito has two"}.items():
        assert said in refused("--cores=2", f"{option}=itanium2", "--beside", HASHMAP, *EVENTS, *SORT)


@pytest.mark.slow
def test_how_long_answers_take_is_not_modelled() -> None:
    for name in ("self", "either", "any"):
        for words in (["--smt-threads"], ["--beside", HASHMAP]):
            said = refused("--cores=2", *words, "-e", f"bus_snoop_stall_cycles_{name}", *SORT)
            assert f"BUS_SNOOP_STALL_CYCLES_{name.upper()} is not modelled for two cores" in said


@pytest.mark.parametrize("option", ["--smt-output=x", "--no-smt-rules"])
def test_options_of_two_programs_are_nothing_for_one(option: str) -> None:
    assert "give --smt" in refused(option, *EVENTS, *SORT)
    assert "no program given" in refused("--smt", HASHMAP, *EVENTS)


@pytest.mark.parametrize("option", ["--smt-output=x", "--record=x", "--smt-replay=x", f"--smt={HASHMAP}"])
def test_threads_of_one_program_are_of_one(option: str) -> None:
    name = option.partition("=")[0]
    assert f"leave {name}" in refused("--smt-threads", option, *EVENTS, *SORT)
    assert not Path("x").exists()


def polls(process: int) -> bool:
    """Whether a thread of it waits in poll(2), or in ppoll on arm64 hosts."""
    poll = "7" if platform.machine() == "x86_64" else "73"
    calls = [(task / "syscall").read_text().split()[0] for task in Path(f"/proc/{process}/task").iterdir()]
    return poll in calls


@pytest.mark.parametrize("how", first_quick(["interrupt", "terminate", "timeout"]))
def test_both_are_ended_while_one_of_them_reads(tmp_path: Path, how: str) -> None:
    calls = ["alloc r39=ar.pfs,8,0,0", "adds r32=0,r0", f"movl r33={DATA}", "adds r34=8,r0"]
    reads = write_program(
        tmp_path / "read", [*calls, f"addl r15={NUMBERS['read']},r0", "break.m 0x100000", *EXIT], bytes(8)
    )
    limit = ["--session-timeout=0.5"] if how == "timeout" else []
    words = [sys.executable, "-m", "pfmon", *limit, "--smt", " ".join(FOREVER), *EVENTS, str(reads)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        if how != "timeout":
            while not polls(process.pid):
                time.sleep(0.05)
            process.send_signal({"interrupt": signal.SIGINT, "terminate": signal.SIGTERM}[how])
        assert process.wait(60) == {"interrupt": 130, "terminate": 143, "timeout": 124}[how]
        assert process.stdout and b"# core: " in process.stdout.read()
        assert process.stderr and process.stderr.read().count(b"\n") == 1
