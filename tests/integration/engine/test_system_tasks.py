"""Whom of a system running Linux a run counts: the program's time, tasks, processors, handlers (PFMON_TEST_PROGRAMS,
kernel)."""

import json
import lzma
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import pfmon
from grids import each
from shared_programs import folder, needs

import pfmon as library
from pfmon.stream._stream import Recorder

KERNELS = folder("kernel")
SHELL = str(folder("real") / "dash")
BOTH = ("-e", "ia64_inst_retired,ia64_inst_retired", "--priv-levels=k,u")
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "ia64"
TWO_COPIES = "echo one; (echo two) | while read x; do echo $x; done"
pytestmark = [needs("kernel"), needs("real"), pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The kernels by the names that the tests use, in a folder in which they run."""
    place = tmp_path_factory.mktemp("kernels")
    for name, packed in (("perf", "perf"), ("ssc", "ssc.stripped"), ("smp", "smp.stripped")):
        (place / name).write_bytes(lzma.decompress((KERNELS / f"vmlinux-{packed}.xz").read_bytes()))
    before = Path.cwd()
    os.chdir(place)
    yield
    os.chdir(before)


PERF, SSC, SMP = "perf", "ssc", "smp"


def counted(*words: str, script: str = TWO_COPIES) -> list[int]:
    """The counts of a run of the shell, those of all tasks."""
    ran = pfmon("--system", *words, "--", SHELL, "-c", script)
    assert ran.returncode == 0, ran.stderr
    return [int(count) for count in re.findall(r"^ +(\d+) [A-Z]", ran.stdout.rpartition("# all")[2], re.M)]


def told_apart(*words: str, script: str = TWO_COPIES) -> tuple[list[int], list[dict[str, object]]]:
    """All counts, and those of each task or processor."""
    ran = pfmon("--json", "--no-cmd-output", "--system", *words, "--", SHELL, "-c", script)
    result = json.loads(ran.stdout)
    return [one["count"] for one in result["events"]], result["system_tasks"]


def sums(parts: list[dict[str, object]]) -> list[int]:
    """The sum of each event over tasks."""
    counts = [[event["count"] for event in part["events"]] for part in parts]  # type: ignore[attr-defined]
    return [sum(column) for column in zip(*counts, strict=True)]


def test_tasks_have_names_and_add_up() -> None:
    """By the shell's script: it is a process, and starts one for each side of the pipe."""
    whole, tasks = told_apart(SSC, *BOTH, "--per-task")
    assert sums(tasks) == whole
    shells = [one for one in tasks if one["name"] == "dash"]
    assert len(shells) == 3 and len({one["pid"] for one in shells}) == 3
    assert [one["name"] for one in tasks if one["pid"] == 1] == ["init"]
    assert counted(SSC, *BOTH, "--task=program") == sums(shells)


@pytest.mark.exhaustive
def test_tasks_are_named_or_numbered() -> None:
    _, tasks = told_apart(SSC, *BOTH, "--per-task")
    shells = [one for one in tasks if one["name"] == "dash"]
    assert counted(SSC, *BOTH, "--task=dash") == sums(shells)
    for one in shells:
        assert counted(SSC, *BOTH, f"--task={one['pid']}") == sums([one])


def test_handlers_and_the_rest_add_up() -> None:
    events = ("-k", "-e", "ia64_inst_retired,cpu_cycles")
    choices: tuple[list[str], ...] = ([], ["--intr-only"], ["--excl-intr"])
    whole, handlers, others = (counted(PERF, *events, *choice, script=":") for choice in choices)
    assert [one + other for one, other in zip(handlers, others, strict=True)] == whole
    assert min(handlers) > 0 and min(others) > 0


@pytest.mark.exhaustive
@each("events", ["ia64_inst_retired,nops_retired,loads_retired", "cpu_cycles,l2_misses,l3_misses"])
@each("boot", [[], ["--from-boot"]])
def test_whole_system_is_its_tasks(events: str, boot: list[str]) -> None:
    whole, tasks = told_apart(PERF, "-0123", "-e", events, "--per-task", *boot)
    assert sums(tasks) == whole == counted(PERF, "-0123", "-e", events, *boot)
    idle = sums([one for one in tasks if one["idle"]])
    rest = counted(PERF, "-0123", "-e", events, "--exclude-idle", *boot)
    assert rest == [every - part for every, part in zip(whole, idle or [0] * len(whole), strict=True)]


@pytest.mark.exhaustive
@each("count", [2, 4])
def test_whole_system_is_its_processors(count: int) -> None:
    options = (SMP, "-0123", "-e", "ia64_inst_retired,loads_retired", f"--processors={count}")
    whole, processors = told_apart(*options, "--per-processor")
    assert sums(processors) == whole == counted(*options)
    _, tasks = told_apart(*options, "--per-processor", "--per-task")
    for one in processors:
        number = one["processor"]
        assert sums([one]) == sums([task for task in tasks if task["processor"] == number])
        assert sums([one]) == counted(*options, f"--cpu-list={number}")
    assert {task["processor"] for task in tasks if task["idle"]} <= set(range(count))


LOOP = "i=0; while [ $i -lt {} ]; do i=$((i+1)); {}; done"


@each("call", [("sys_write", "echo $i"), ("sys_openat", ": < /dev/null")])
def test_checkpoint_counts_three_for_each_call(call: tuple[str, str]) -> None:
    symbol, text = call
    options = (PERF, "-k", f"--checkpoint-func={symbol}", "-e", "ia64_inst_retired")
    few, many = (counted(*options, "--task=program", script=LOOP.format(times, text))[0] for times in (3, 10))
    assert many - few == 3 * 7
    assert few % 3 == 0


@pytest.mark.exhaustive
def test_checkpoints_are_the_calls_in_an_instruction_log(tmp_path: Path) -> None:
    """The log is the stream of the same run with each instruction as a block; the addresses are the System.map's."""
    text = lzma.decompress((KERNELS / "System.map-perf.xz").read_bytes()).decode()
    addresses = {line.split()[2]: int(line.split()[0], 16) for line in text.splitlines()}
    (tmp_path / "words").write_text("a\nb\n")
    script = f"read x < /proc/version; read y < /proc/version; echo $x; echo {'y' * 5000}; kill -0 $$"
    prepared = library.prepare([SHELL, "-c", script], system=PERF, slow=True, levels="k", events=["ia64_inst_retired"])
    log, engine = Recorder(), prepared.session.engine
    engine.run(log)
    begun: dict[int, int] = {}
    for word in log.words():
        if not word >> 63:
            begun[word & 0xFFFFFFFF] = begun.get(word & 0xFFFFFFFF, 0) + 1
    starts: dict[int, int] = {}
    for number, times in begun.items():
        address = engine.table.block(number).instructions[0].address
        starts[address] = starts.get(address, 0) + times
    engine.close()
    for symbol in ("sys_openat", "sys_read", "sys_write"):
        options = (PERF, "-k", f"--checkpoint-func={symbol}", "-e", "ia64_inst_retired")
        calls = starts[addresses[symbol]]
        assert counted(*options, script=script) == [3 * calls] and calls > 0


@pytest.mark.exhaustive
def test_program_has_its_time_alone_but_for_options() -> None:
    """A boot takes 70 to 110 million instructions (README of the kernels)."""
    (alone,) = counted(SSC, "-k", "-e", "ia64_inst_retired")
    (all_of_it,) = counted(SSC, "-k", "-e", "ia64_inst_retired", "--from-boot")
    assert alone < 3e6 and 70e6 < all_of_it - alone < 110e6


@pytest.mark.exhaustive
def test_matchers_are_of_the_kernel() -> None:
    """A call by name, sys_write's of ksys_write, is made as often as it is called."""
    event = ("-k", "-e", "ia64_tagged_inst_retired_ibrp0_pmc8", "--opc-match8=br.call")
    ran = pfmon("--json", "--no-cmd-output", "--system", PERF, *event, "--per-function", "--", SHELL, "-c", TWO_COPIES)
    result = json.loads(ran.stdout)
    rows = {row["name"]: row["counts"][0] for row in result["profile"]["functions"]}
    assert sum(rows.values()) == result["events"][0]["count"]
    (entered,) = counted(PERF, "-k", "--checkpoint-func=sys_write", "-e", "ia64_inst_retired", script=TWO_COPIES)
    assert 3 * rows["sys_write"] == entered


@each(
    "options, message",
    [
        (["--task-offsets=4,8,12,16", "--per-task"], "the kernel's tasks are not understood: give --task-offsets="),
        (["--task-offsets=4,8", "--per-task"], "--task-offsets=4,8: four offsets are wanted"),
        (["--cpu-list=1"], "--cpu-list: the system has 1 processors, from 0 on"),
        (["--cpu-list=1-"], "--cpu-list=1-: numbers of processors are wanted, as in 0,2-3"),
        (["--sysmap-file=/none"], "--sysmap-file=/none: no such file or directory"),
        ([f"--sysmap-file={__file__}"], f"--sysmap-file={__file__}: line 1 is not an address, a letter and a name"),
        (
            ["--per-task", "--per-function"],
            "--per-function, --per-block, --per-line and --annotate: of all tasks together",
        ),
        (["--per-task", "--smt-threads"], "--per-task: counts are of one stream"),
        (["--excl-intr", "--guest-pmu"], "--excl-intr and --intr-only use PSR.pp"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_one_line(options: list[str], message: str) -> None:
    ran = pfmon("--system", SSC, "-k", "-e", "ia64_inst_retired", *options, "--", SHELL, "-c", ":")
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr.startswith(f"pfmon: {message}") and ran.stderr.count("\n") == 1


def test_program_is_at_its_level_what_it_is_alone() -> None:
    """But for five instructions of /init behind the break that begins, four of them nops: two of its bundle, and three
    of the next one; the break of execve does not retire (init.S). The program has no library that looks around."""
    program, times = str(EXAMPLES / "hashmap"), "20"
    options = ("-u", "-e", "ia64_inst_retired,loads_retired,nops_retired", "--no-cmd-output", "--json")
    alone, under = (
        [event["count"] for event in json.loads(pfmon(*options, *system, program, times).stdout)["events"]]
        for system in ([], ["--system", SSC, "--task=program", "--"])
    )
    assert [one - other for one, other in zip(under, alone, strict=True)] == [5, 0, 4]


@pytest.mark.exhaustive
def test_one_several_and_all_processes_as_in_figures_6_6_to_6_8() -> None:
    """At level 3, in the kernel without handlers of interruptions, and with them: for one process, for those of the
    program, for the system. What counts is said by options; what each part comes to by counts of tasks."""
    parts = [told_apart(PERF, *BOTH, "--per-task", *handlers)[1] for handlers in ([], ["--excl-intr"])]
    kernel, user = zip(*(sums([one]) for one in parts[0]), strict=True)
    outside = [sums([one])[0] for one in parts[1]]
    pids = [one["pid"] for one in parts[0]]
    assert pids == [one["pid"] for one in parts[1]]
    shells = [place for place, one in enumerate(parts[0]) if one["name"] == "dash"]
    chosen = {
        f"--task={pids[shells[0]]}": shells[:1],
        "--task=program": shells,
        "--system-wide": list(range(len(pids))),
    }
    for option, places in chosen.items():
        for levels, expected in (
            (["-u"], sum(user[place] for place in places)),
            (["-k", "-u", "--excl-intr"], sum(user[place] + outside[place] for place in places)),
            (["-k", "-u"], sum(user[place] + kernel[place] for place in places)),
        ):
            assert counted(PERF, *levels, option, "-e", "ia64_inst_retired") == [expected], (option, levels)
