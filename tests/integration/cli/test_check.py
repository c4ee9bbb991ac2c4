"""`pfmon check`: counts of two commands or results, and an exit status that fails when they grew."""

import json
import os
from pathlib import Path

import pytest
from command import example, pfmon, pfmon_after, refused
from host_programs import RUNS_X86_64

import pfmon as library

SORT = example("sort")
EVENTS = "ia64_inst_retired,loads_retired"


def counts(size: str) -> list[int]:
    run = library.run([SORT, size], events=EVENTS, capture=True)
    return [int(count.value or 0) for count in run.counts]


def test_two_commands_are_counted_and_the_larger_one_fails() -> None:
    done = pfmon("check", f"{SORT} 50", f"{SORT} 60", "-e", EVENTS, "--json")
    assert (done.returncode, done.stderr) == (3, "")
    found = json.loads(done.stdout)
    assert [(one["base"], one["new"]) for one in found["events"]] == [*zip(counts("50"), counts("60"), strict=True)]
    assert [one["verdict"] for one in found["events"]] == ["grew", "grew"]
    assert found["functions"]["IA64_INST_RETIRED"][0]["difference"] > 0
    assert pfmon("check", f"{SORT} 60", f"{SORT} 50", "-e", EVENTS).returncode == 0


def test_one_command_twice_has_no_difference(tmp_path: Path) -> None:
    """Also through a script of the shell's kind of quoting, and with arguments for both."""
    program = tmp_path / "a program"
    program.write_bytes(Path(SORT).read_bytes())
    program.chmod(0o755)
    done = pfmon("check", str(program), f"'{program}'", "--json", "--tolerance=0%", "--", "50")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert [one["name"] for one in found["events"]] == ["instructions", "cycles"]
    assert [one["verdict"] for one in found["events"]] == ["same", "same"]
    assert found["base"]["command"] == found["new"]["command"] == [str(program), "50"]


def test_tolerances_of_one_event_and_of_all() -> None:
    words = ("check", f"{SORT} 50", f"{SORT} 60", "-e", EVENTS)
    (a, loads_a), (b, loads_b) = counts("50"), counts("60")
    enough = f"{100 * (b / a - 1) + 0.1:.1f}%"
    assert loads_b > loads_a
    assert pfmon(*words, "--tolerance=1000%").returncode == 0
    assert pfmon(*words, f"--tolerance=ia64_inst_retired={enough}", "--tolerance", "1000%").returncode == 0
    assert pfmon(*words, "--tolerance=1000%,loads_retired=0%").returncode == 3
    assert "ia64_nops is not counted" in refused(*words, "--tolerance=ia64_nops=1%").lower()


def test_files_of_every_kind_are_checked_against_a_command(tmp_path: Path) -> None:
    made = {kind: str(tmp_path / kind) for kind in ("json", "baseline", "recording")}
    words = ("--no-cmd-output", "-e", EVENTS, SORT, "50")
    assert pfmon("--json", f"--outfile={made['json']}", f"--save-baseline={made['baseline']}", *words).returncode == 0
    assert pfmon(f"--record={made['recording']}", *words).returncode == 0
    for base in made.values():
        for new, status in ((f"{SORT} 50", 0), (f"{SORT} 60", 3), (made["json"], 0)):
            done = pfmon("check", base, new, "--tolerance=0%")
            assert (done.returncode, done.stderr) == (status, ""), (base, new, done.stdout)


def test_markdown_goes_to_a_file_and_to_githubs_summary(tmp_path: Path) -> None:
    page, summary = tmp_path / "check.md", tmp_path / "summary"
    summary.write_text("first\n")
    words = ("check", f"{SORT} 50", f"{SORT} 60", "-e", EVENTS, f"--markdown={page}")

    def in_a_job() -> None:
        os.environ["GITHUB_STEP_SUMMARY"] = str(summary)

    assert pfmon_after(in_a_job, *words).returncode == 3
    assert summary.read_text() == "first\n"
    assert pfmon_after(in_a_job, *words, "--github-summary").returncode == 3
    assert summary.read_text() == "first\n" + page.read_text()
    assert "| `LOADS_RETIRED` |" in page.read_text()
    assert pfmon(*words, "--github-summary").returncode == 3


@RUNS_X86_64
def test_what_commands_print_and_read(tmp_path: Path) -> None:
    """Their output is not the check's, and both read the whole of --input."""
    text = tmp_path / "text"
    text.write_bytes(b"to be or not to be\n" * 20)
    words = ("wc -w", "wc -w", "-e", "instructions", "--json")
    done = pfmon("check", *words, f"--input={text}")
    assert (done.returncode, done.stderr) == (0, "")
    nothing = pfmon("check", *words)
    read, empty = (json.loads(one.stdout)["events"][0] for one in (done, nothing))
    assert read["base"] == read["new"] > empty["base"] == empty["new"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("missing.json", SORT), "missing.json: there is no such file"),
        (("/", SORT), "/: is a directory"),
        ((SORT,), "wanted, and 1 given"),
        ((SORT, "'"), "no closing quotation"),
        ((SORT, "no-such-program"), "no-such-program: not found in PATH"),
        ((SORT, SORT, "--input=missing"), "--input=missing: "),
        ((SORT, SORT, "--tolerance=much"), "--tolerance=much: "),
        ((SORT, SORT, "--markdown=/no/where"), "--markdown=/no/where: "),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], said: str) -> None:
    assert said in refused("check", *words)


def test_results_of_other_machines_are_not_compared(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in "ab"]
    for path, machine in zip(files, ("madison-9m", "madison-6m"), strict=True):
        words = (f"--machine={machine}", "--no-cmd-output", "-e", EVENTS, SORT, "20")
        assert pfmon("--json", f"--outfile={path}", *words).returncode == 0
    line = refused("check", *files)
    assert "not comparable" in line
    assert "madison-9m" in line
    assert "options are for commands" in refused("check", files[0], files[0], "-e", "cpu_cycles")


@RUNS_X86_64
def test_a_program_that_fails_is_no_result() -> None:
    line = refused("check", "true", "sh -c 'echo no such table >&2; exit 3'")
    assert "the program did not succeed: its status is 3 no such table" in line
