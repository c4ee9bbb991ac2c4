"""--follow-... with samples, triggers, exports and reports: each task has its own, and all of them a total."""

import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from answers import declined
from browser import data_of, shown
from command import example, pfmon
from host_programs import needs
from ia64_program import write_program
from ia64_tasks import Data, call, fork

import pfmon as library

QEMU = needs("qemu-x86_64")
SORT = str(Path(example("sort")).parents[1] / "x86_64" / "sort")
X86_FIB = str(Path(example("fib")).parents[1] / "x86_64" / "fib")
SHIM = ("/usr/bin/env", SORT, "60")
"""What becomes the program that is meant, with the same variables: task 1:1."""
INSTRUCTIONS = ("-e", "INSTRUCTIONS_RETIRED")
PERIOD = "--long-smpl-periods=1000"


def alone(**options: Any) -> library.Run:
    return library.run([SORT, "60"], stdout=library.DEVNULL, **options)


def followed(*words: str) -> str:
    done = pfmon("--follow-all", "--no-cmd-output", "--no-progress", *words)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def parts(text: str) -> dict[str, str]:
    """By the name of a task what stands below its line."""
    found = re.split(r"(?m)^# (\d\S*) .*\n", text)
    return dict(zip(found[1::2], found[2::2], strict=True))


@QEMU
def test_samples_of_a_program_behind_another_are_its_own() -> None:
    run = library.run(
        list(SHIM), follow_all=True, events="INSTRUCTIONS_RETIRED", long_smpl_periods=1000, stdout=library.DEVNULL
    )
    assert run.samples is None and run.tasks is not None
    assert [task.name for task in run.tasks] == ["1", "1:1"]
    own = alone(events="INSTRUCTIONS_RETIRED", long_smpl_periods=1000)
    assert list(run.tasks[1].samples) == list(own.samples or ())
    assert len(run.tasks[0].samples) == run.tasks[0].retired // 1000
    assert run.counts[0].value == sum(task.retired for task in run.tasks)


@pytest.mark.slow
@QEMU
def test_samples_are_shown_task_by_task() -> None:
    shown_parts = parts(followed(*INSTRUCTIONS, PERIOD, "--resolve-addresses", *SHIM))
    assert list(shown_parts) == ["1", "1:1"]
    own = pfmon("--no-cmd-output", *INSTRUCTIONS, PERIOD, "--resolve-addresses", SORT, "60").stdout
    pids = re.compile(r"PID:\d+ TID:\d+")
    assert pids.sub("", shown_parts["1:1"]) == pids.sub("", own)
    assert "_start" not in shown_parts["1:1"].splitlines()[-1]


@pytest.mark.slow
@QEMU
def test_files_of_samples_have_the_process_in_their_names(tmp_path: Path) -> None:
    followed(
        *(*INSTRUCTIONS, PERIOD, f"--smpl-outfile={tmp_path}/samples-%p", "--smpl-module=raw"),
        *(f"--export=collapsed:{tmp_path}/stacks-%p", f"--export=csv:{tmp_path}/table-%p%%", *SHIM),
    )
    (process,) = {path.name.split("-")[1] for path in tmp_path.glob("samples-*") if "." not in path.name}
    names = {f"{what}-{process}{image}" for what in ("samples", "stacks") for image in ("", ".1")}
    names |= {f"table-{process}{image}%" for image in ("", ".1")}
    assert {path.name for path in tmp_path.iterdir()} == names
    own = alone(events="INSTRUCTIONS_RETIRED", long_smpl_periods=1000, smpl_stacks=True)
    assert list(library.read_samples(tmp_path / f"samples-{process}.1")) == list(own.samples or ())
    lines = (tmp_path / f"stacks-{process}.1").read_text().splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == len(own.samples or ())


@pytest.mark.slow
@QEMU
def test_one_file_has_the_samples_of_all_tasks(tmp_path: Path) -> None:
    followed(
        *(*INSTRUCTIONS, PERIOD, f"--smpl-outfile={tmp_path}/samples", "--smpl-module=inst-hist", "--smpl-show-func"),
        *(f"--export=collapsed:{tmp_path}/stacks", f"--export=perf-script:{tmp_path}/script", *SHIM),
    )
    found = parts((tmp_path / "samples").read_text())
    samples = len(alone(events="INSTRUCTIONS_RETIRED", long_smpl_periods=1000).samples or ())
    assert f"# total_samples {samples}\n" in found["1:1"]
    stacks = [line.rpartition(" ") for line in (tmp_path / "stacks").read_text().splitlines()]
    assert {stack.partition(";")[0] for stack, _, _ in stacks} == {"env", "sort"}
    assert sum(int(count) for stack, _, count in stacks if stack.startswith("sort;")) == samples
    heads = re.findall(r"(?m)^(\S+) +\d+ \[000\]", (tmp_path / "script").read_text())
    assert heads.count("sort") == samples and heads == sorted(heads)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["samples", "script", "stacks"]


@QEMU
@pytest.mark.parametrize(
    "words",
    [
        ("--export=pprof:all.pprof",),
        ("--smpl-module=raw", "--smpl-outfile=all"),
        ("--smpl-eager-save", "--smpl-outfile=all"),
    ],
)
def test_file_that_one_task_can_have_is_refused(words: tuple[str, ...]) -> None:
    said = declined("--follow-all", *INSTRUCTIONS, PERIOD, *words, *SHIM)
    assert "put %p, its process id, into the name" in said


@pytest.mark.slow
@QEMU
def test_triggers_are_of_each_task_by_its_own_symbols() -> None:
    words = ("-e", "INSTRUCTIONS_RETIRED", "--trigger-code-start-addresses=fib", "--trigger-code-stop-addresses=fib")
    done = pfmon("--follow-all", "--json", *words, "/bin/sh", "-c", f"{X86_FIB} 6; {X86_FIB} 6; exec {X86_FIB} 7")
    tasks = {task["task"]: task for task in json.loads(done.stdout[done.stdout.index("{") :])["tasks"]}
    own = {
        n: library.run(
            [X86_FIB, n],
            events="INSTRUCTIONS_RETIRED",
            stdout=library.DEVNULL,
            trigger_code_start_addresses="fib",
            trigger_code_stop_addresses="fib",
        )
        .counts[0]
        .value
        for n in ("6", "7")
    }
    assert {name: task["events"][0]["count"] for name, task in tasks.items()} == {
        "1": 0,
        "1:1": own["7"],
        "1.1": 0,
        "1.1:1": own["6"],
        "1.2": 0,
        "1.2:1": own["6"],
    }
    assert tasks["1"]["notes"] == ["--trigger-code-start-addresses: fib was never reached"]
    assert "fib was never reached (tasks 1, 1.1, 1.2)" in done.stderr


@pytest.mark.slow
@QEMU
def test_event_triggers_are_of_each_task() -> None:
    words = (
        "-e",
        "INSTRUCTIONS_RETIRED",
        "--trigger-event=INSTRUCTIONS_RETIRED:1000",
        "--stop-event",
    )
    done = json.loads(followed(*words[:3], "--stop-event=INSTRUCTIONS_RETIRED:500", "--json", *SHIM))
    assert [task["events"][0]["count"] for task in done["tasks"]] == [500, 500]
    assert done["events"][0]["count"] == 1000


@pytest.mark.slow
@QEMU
def test_cycle_breakdown_is_by_task_and_of_all() -> None:
    run = library.run(list(SHIM), follow_all=True, report="cpi", stdout=library.DEVNULL)
    own = alone(report="cpi").cpi
    assert run.tasks is not None and run.cpi and own
    assert run.tasks[1].cpi == own
    some = [task.cpi for task in run.tasks if task.cpi]
    assert run.cpi.cycles == sum(cpi.cycles for cpi in some)
    assert run.cpi.instructions == sum(cpi.instructions for cpi in some)
    for part, inner in run.cpi.parts.items():
        assert sum(inner.values()) == sum(cpi.total(part) for cpi in some)
    name = "L1D misses per 1000 instructions"
    misses = sum((cpi.ratios[name] or 0) * cpi.instructions for cpi in some)
    assert run.cpi.ratios[name] == pytest.approx(misses / run.cpi.instructions)
    by_name = {row.shown: sum(row.cycles) for row in run.cpi.functions}
    assert by_name["main [sort]"] == sum(sum(row.cycles) for row in own.functions if row.name == "main")
    assert sum(by_name.values()) <= run.cpi.cycles


@pytest.mark.slow
@QEMU
def test_cycle_breakdown_is_printed_by_task_and_for_all() -> None:
    found = re.split(r"(?m)^# .*\n", followed("--report=cpi", *SHIM))
    own = pfmon("--no-cmd-output", "--report=cpi", SORT, "60").stdout
    own = re.sub(r"\n\d+% of cycles: .*\n", "", own)  # the largest cause is named of one program alone
    assert len(found) == 4 and found[2] == own and "[sort]" in found[3]
    assert followed("--report=cpi", "--aggregate-results", *SHIM) == found[3]


@pytest.mark.slow
def test_derived_events_are_reported_by_task(tmp_path: Path) -> None:
    run = library.run([example("fib"), "8"], follow_all=True, report="derived", stdout=library.DEVNULL)
    own = library.run([example("fib"), "8"], report="derived", stdout=library.DEVNULL)
    assert run.tasks is not None and own.derived and run.derived
    assert run.tasks[0].derived == run.derived == own.derived


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all tasks, with samples."""
    made = tmp_path_factory.mktemp("page") / "all.html"
    followed(*INSTRUCTIONS, PERIOD, "--smpl-outfile=/dev/null", f"--report=html:{made}", *SHIM)
    return made


@pytest.mark.slow
@QEMU
def test_page_of_tasks_has_each_and_a_table(page: Path) -> None:
    data = data_of(page)
    own = alone(report="html")
    assert own.surveyed and [row[0] for row in data["rows"]] == ["1", "1:1"]
    assert data["tasks"][1]["cpi"]["cycles"] == own.surveyed.cpi.cycles == data["rows"][1][3]
    assert data["tasks"][1]["command"] == [SORT, "60"]
    samples = alone(events="INSTRUCTIONS_RETIRED", long_smpl_periods=1000).samples
    assert data["tasks"][1]["samples"]["total"] == len(samples or ())


@pytest.mark.slow
@QEMU
def test_pages_have_the_process_in_their_names(tmp_path: Path) -> None:
    followed(f"--report=html:{tmp_path}/%p.html", *SHIM)
    first, second = sorted(tmp_path.iterdir(), key=lambda path: len(path.name))
    assert second.name == f"{first.stem}.1.html"
    assert data_of(second)["command"] == [SORT, "60"]


@pytest.mark.slow
@QEMU
@needs("chromium-headless-shell")
def test_task_is_chosen_on_the_page(page: Path) -> None:
    found = shown(
        page,
        """
        return {rows: rows("tasks").map((row) => row[0]), title: document.querySelector("h1").textContent,
          links: [...document.querySelectorAll("#tasks a")].map((one) => one.getAttribute("href"))};
        """,
    )
    assert found["rows"] == ["1", "1:1"] and len(found["links"]) == 1
    assert found["title"].startswith("env on") == (found["links"] == ["?task=1"])


@pytest.mark.slow
def test_samples_of_ia64_processes_repeat(tmp_path: Path) -> None:
    """Of a program of the same engine and in the same run: process ids are the program's own."""
    words = ("-e", "ia64_inst_retired", PERIOD, "--resolve-addresses", example("fib"), "8")
    first = followed(*words)
    assert followed(*words) == first
    own = pfmon("--no-cmd-output", *words).stdout
    assert first == f"# 1 {example('fib')} 8\n{own}"


def test_samples_of_all_tasks_are_not_added_up() -> None:
    said = declined("--follow-all", "--aggregate-results", "-e", "ia64_inst_retired", PERIOD, example("fib"), "8")
    assert "--aggregate-results: samples are of each task" in said


@pytest.mark.slow
def test_ia64_program_that_executes_another_has_both_on_its_page(tmp_path: Path) -> None:
    data = Data()
    texts = [data.add(f"text_{n}", text.encode() + b"\0") for n, text in enumerate([example("fib"), "9"])]
    vector = data.add("vector", struct.pack("<3Q", *texts, 0))
    lines = [*call("execve", texts[0], vector, data.add("nothing", bytes(8))), *call("exit_group", 99)]
    path = write_program(tmp_path / "executes", lines, data.bytes)
    options: dict[str, Any] = {"events": "ia64_inst_retired", "long_smpl_periods": 100, "stdout": library.DEVNULL}
    run = library.run([path], follow_all=True, report="html", **options)
    own = library.run([example("fib"), "9"], report="html", **options)
    assert run.tasks is not None and own.surveyed and run.tasks[1].surveyed
    assert [task.name for task in run.tasks] == ["1", "1:1"]
    assert list(run.tasks[1].samples) == list(own.samples or ()) != []
    ours, alone = run.tasks[1].surveyed.cpi, own.surveyed.cpi  # whose cycles differ by where the stack begins
    assert (ours.instructions, sorted(row.name for row in ours.functions)) == (
        alone.instructions,
        sorted(row.name for row in alone.functions),
    )
    (tmp_path / "page").write_text(run.to_html())
    assert [row[0] for row in data_of(tmp_path / "page")["rows"]] == ["1", "1:1"]


def test_children_of_a_fork_are_sampled_by_themselves(tmp_path: Path) -> None:
    child = ["adds r5=1,r0", *call("exit_group", 0)]
    path = write_program(
        tmp_path / "forks", fork(child, [*call("wait4", -1 & (1 << 64) - 1, 0, 0, 0), *call("exit_group", 0)])
    )
    run = library.run([path], follow_fork=True, events="ia64_inst_retired", long_smpl_periods=1, stdout=library.DEVNULL)
    assert run.tasks is not None and [len(task.samples) for task in run.tasks] == [task.retired for task in run.tasks]
    assert run.tasks[1].retired > 0
