"""--follow-...: what the command prints of several processes, and what does not go together."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from answers import declined
from command import example, pfmon
from host_programs import needs

EVENT = "INSTRUCTIONS_RETIRED"
QEMU = needs("qemu-x86_64")
SHELL = ("/bin/sh", "-c", "/bin/true; exec /bin/false")


@pytest.mark.slow
@QEMU
def test_tasks_are_printed_and_then_all() -> None:
    done = pfmon("--follow-all", "-e", EVENT, *SHELL)
    assert done.returncode == 1
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0::2] == [
        "# 1 /bin/sh -c '/bin/true; exec /bin/false'",
        "# 1:1 /bin/false (exit status 1)",
        "# 1.1 /bin/sh -c '/bin/true; exec /bin/false'",
        "# 1.1:1 /bin/true",
        "# all 4 tasks",
    ]
    counts = [int(line.removesuffix(EVENT)) for line in lines[1::2]]
    assert counts[-1] == sum(counts[:-1]) > 0


@pytest.mark.slow
@QEMU
def test_aggregate_results_is_what_all_come_to() -> None:
    done = pfmon("--follow-all", "--aggregate-results", "-e", EVENT, *SHELL)
    assert done.stdout == "\n".join(pfmon("--follow-all", "-e", EVENT, *SHELL).stdout.splitlines()[-1:]) + "\n"


@pytest.mark.slow
@QEMU
def test_derived_events_are_of_the_sums() -> None:
    done = json.loads(pfmon("--follow-all", "--json", "-e", f"{EVENT},BRANCH_INSTRUCTIONS_RETIRED", *SHELL).stdout)
    for place in range(2):
        assert done["events"][place]["count"] == sum(task["events"][place]["count"] for task in done["tasks"])


@pytest.mark.slow
@QEMU
def test_json_has_tasks_with_processes() -> None:
    done = json.loads(pfmon("--follow-all", "--json", "-e", EVENT, *SHELL).stdout)
    assert [task["task"] for task in done["tasks"]] == ["1", "1:1", "1.1", "1.1:1"]
    assert [task["exit_status"] for task in done["tasks"]] == [None, 1, None, 0]
    processes = [task["pid"] for task in done["tasks"]]
    assert processes[0] == processes[1] != processes[2] == processes[3]
    assert done["instructions"] == done["events"][0]["count"] == sum(task["instructions"] for task in done["tasks"])
    assert done["tasks"][3]["command"] == ["/bin/true"]
    assert json.loads(pfmon("--json", "-e", EVENT, "/bin/true").stdout)["tasks"] is None


@pytest.mark.slow
@QEMU
def test_processes_without_events_count_the_default_ones() -> None:
    done = pfmon("--follow-all", "/bin/sh", "-c", "echo one; /bin/echo two; exit 3")
    assert done.returncode == 3
    assert done.stdout.startswith("one\ntwo\n# 1 ")
    tasks, _, whole = done.stdout.partition("# all 3 tasks\n")  # the shell, its child, its program
    of_tasks = [int(one) for one in re.findall(r"^ +(\d+) instructions$", tasks, re.M)]
    of_all = re.search(r"^ +([\d,]+) +instructions +# +[\d.]+ insn per cycle$", whole, re.M)
    assert len(of_tasks) == 3 and of_all and sum(of_tasks) == int(of_all[1].replace(",", ""))


@pytest.mark.slow
@QEMU
def test_threads_are_counted_in_any_case() -> None:
    assert pfmon("--follow-pthread", "-e", EVENT, "/bin/true").stdout == pfmon("-e", EVENT, "/bin/true").stdout


@QEMU
def test_long_command_is_cut_in_text() -> None:
    done = pfmon("--follow-all", "-e", EVENT, "/bin/true", "x" * 500, "a\nb")
    assert re.fullmatch(r"# 1 /bin/true x{90}\.\.\.", done.stdout.splitlines()[0])


@pytest.mark.slow
@QEMU
def test_command_that_is_no_text_is_shown() -> None:
    done = pfmon("--follow-all", "-e", EVENT, "/bin/sh", "-c", "/bin/true $(printf '\\377')")
    assert "# 1.2:1 /bin/true '\ufffd'" in done.stdout


@pytest.mark.slow
@QEMU
def test_pattern_is_attached_to_its_option() -> None:
    done = pfmon("--follow-fork", "--follow-exec=true$", "-e", EVENT, *SHELL)
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("#")] == [
        "1",
        "1.1",
        "1.1:1",
        "all",
    ]


@pytest.mark.slow
@QEMU
def test_timeout_ends_all_processes() -> None:
    done = pfmon(
        "--follow-all",
        "--host-clock",
        "--session-timeout=1",
        "-e",
        EVENT,
        "/bin/sh",
        "-c",
        "sleep 100 & sleep 100; true",
    )
    assert done.returncode == 124
    assert done.stderr == "pfmon: --session-timeout ended the program; the counts are those so far\n"
    assert done.stdout.splitlines()[-2] == "# all 5 tasks"


@pytest.mark.slow
@QEMU
def test_timeout_is_the_status_though_the_first_program_has_ended() -> None:
    """As after a timeout of one program: the counts are not those of the whole run."""
    done = pfmon("--follow-all", "--host-clock", "-t", "2", "-e", EVENT, "/bin/sh", "-c", "sleep 100 & true")
    assert done.returncode == 124
    assert done.stderr == "pfmon: --session-timeout ended the program; the counts are those so far\n"


@QEMU
@pytest.mark.parametrize(
    "option",
    [
        ("--per-function",),
        ("--print-interval=1",),
        ("--irange=0x1000-0x2000",),
        ("--record=/tmp/never",),
    ],
    ids=lambda option: option[0].partition("=")[0],
)
def test_what_looks_at_one_process_is_refused(option: tuple[str, ...]) -> None:
    said = declined("--follow-all", *option, "-e", EVENT, "/bin/true")
    assert option[0].partition("=")[0] in said and "follow" in said


def test_bad_pattern() -> None:
    assert "--follow-exec=(: " in declined("--follow-exec=(", "-e", EVENT, "/bin/true")


def test_aggregate_results_alone() -> None:
    assert "give --follow-all" in declined("--aggregate-results", "-e", EVENT, "/bin/true")


@pytest.mark.slow
def test_more_processes_than_open_files() -> None:
    command = [sys.executable, "-m", "pfmon", "--follow-all", "--follow-limit=300", "-e", EVENT, "/bin/true"]
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -n 500; exec "$@"', "sh", *command], capture_output=True, check=False, text=True
    )
    assert done.returncode == 2
    assert done.stderr.endswith("takes 1300 open files, and 500 are allowed (ulimit -n); at most 100 processes then\n")


def test_an_ia64_program_is_a_task() -> None:
    plain = pfmon("-e", "ia64_inst_retired", example("fib")).stdout.splitlines()[-1]
    assert pfmon("--follow-all", "-e", "ia64_inst_retired", example("fib")).stdout.splitlines()[-3:] == [
        plain,
        "# all 1 tasks",
        plain,
    ]


@pytest.mark.slow
@QEMU
def test_script_in_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "a-script"
    script.write_text('#!/bin/sh -e\necho "$0" "$1"; false; echo never\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    done = pfmon("-e", EVENT, "a-script", "word")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == f"{script} word"
    assert "INSTRUCTIONS_RETIRED" in done.stdout
