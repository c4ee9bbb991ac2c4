"""The pytest plugin as a project uses it; tests that start counted processes of Python are slow."""

import json
import shutil
from pathlib import Path

import pytest
from pytest_runs import run_pytest, start_pytest
from qemu_guests import ASSEMBLER, EXAMPLES, QEMU
from x86_64_host import HERE

MARKED = """
import pytest

@pytest.mark.pfmon
def test_marked():
    pass
"""
PROGRAM = f"""
def test_program(pfmon_run):
    run = pfmon_run([{str(EXAMPLES / "x86_64" / "queens")!r}, "4"], events="INSTRUCTIONS_RETIRED")
    assert run.output == b"2\\n"
"""


def project(folder: Path, text: str) -> Path:
    (folder / "test_it.py").write_text(text)
    return folder


ALONE = ("--pfmon", "--pfmon-events=INSTRUCTIONS_RETIRED")
"""Without misses, for which a whole start of Python goes through the machine."""


def baselines(folder: Path) -> dict[str, int]:
    """Test -> instructions."""
    tests = json.loads((folder / "pfmon-baseline.json").read_text())["tests"]
    return {name: one["counts"]["INSTRUCTIONS_RETIRED"] for name, one in tests.items()}


def pretend(folder: Path, factor: float) -> None:
    """Let earlier runs have counted so many times as much."""
    path = folder / "pfmon-baseline.json"
    content = json.loads(path.read_text())
    for one in content["tests"].values():
        one["counts"] = {name: round(value * factor) for name, value in one["counts"].items()}
    path.write_text(json.dumps(content))


@pytest.mark.slow
def test_without_its_option_marked_tests_run_as_ever(tmp_path: Path) -> None:
    done = start_pytest(project(tmp_path, MARKED + PROGRAM), "--strict-markers", "-rs", path="/nowhere")
    assert done.returncode == 0 and "1 passed, 1 skipped" in done.stdout
    assert "pfmon_run counts with --pfmon alone" in done.stdout
    assert [one.name for one in tmp_path.iterdir() if "baseline" in one.name] == []


@pytest.mark.slow
def test_without_its_option_nothing_of_pfmon_is_loaded(tmp_path: Path) -> None:
    text = """
import sys

def test_modules():
    loaded = {name for name in sys.modules if name.split(".")[0] == "pfmon"}
    assert loaded == {"pfmon", "pfmon.errors", "pfmon.testing", "pfmon.testing.plugin"}
"""
    done = start_pytest(project(tmp_path, text))
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not HERE, reason="x86-64 programs need qemu on this host")
def test_without_qemu_programs_that_need_it_are_skipped_with_a_reason(tmp_path: Path) -> None:
    text = PROGRAM + PROGRAM.replace("x86_64", "i386").replace("test_program", "test_i386")
    done = start_pytest(project(tmp_path, text), *ALONE, "-rs", path="/nowhere")
    assert done.returncode == 0 and "1 passed, 1 skipped" in done.stdout
    assert done.stdout.count("install the package qemu-user") == 1


@pytest.mark.exhaustive
@QEMU
def test_marked_test_of_threads_is_counted_under_qemu(tmp_path: Path) -> None:
    thread = "import threading\n    one = threading.Thread(target=print)\n    one.start()\n    one.join()"
    done = run_pytest(project(tmp_path, MARKED.replace("pass", thread)), *ALONE, "--pfmon-save")
    assert done.returncode == 0 and "1 passed" in done.stdout
    tests = json.loads((tmp_path / "pfmon-baseline.json").read_text())["tests"]
    assert [one["engine"] for one in tests.values()] == [{}] and min(baselines(tmp_path).values()) > 1000


@pytest.mark.slow
def test_options_about_counting_want_counting(tmp_path: Path) -> None:
    for option in ("--pfmon-save", "--pfmon-strict", "--pfmon-tolerance=1%"):
        done = run_pytest(project(tmp_path, MARKED), option)
        assert done.returncode == 4 and "needs --pfmon" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("content", ["", "{", "[]", '{"tests": 3}', '{"tests": {"a": {}}}', "null"])
def test_a_file_that_holds_no_baselines_is_one_line(content: str, tmp_path: Path) -> None:
    (tmp_path / "pfmon-baseline.json").write_text(content)
    done = run_pytest(project(tmp_path, PROGRAM), "--pfmon")
    assert done.returncode == 4
    assert done.stderr.startswith("ERROR: --pfmon-baseline=") and done.stderr.strip().count("\n") == 0


@pytest.mark.slow
@QEMU
def test_a_program_of_a_test_is_saved_and_compared(tmp_path: Path) -> None:
    project(tmp_path, PROGRAM)
    done = run_pytest(tmp_path, "--pfmon")
    assert done.returncode == 0 and "test_program: no baseline; --pfmon-save makes it" in done.stdout
    assert run_pytest(tmp_path, "--pfmon", "--pfmon-strict").returncode == 1
    done = run_pytest(tmp_path, "--pfmon", "--pfmon-save", "-v")
    assert done.returncode == 0 and "1 baselines saved" in done.stdout
    (counted,) = baselines(tmp_path).values()
    assert f"test_program: {counted} INSTRUCTIONS_RETIRED" in done.stdout
    assert run_pytest(tmp_path, "--pfmon", "--pfmon-strict", "--pfmon-tolerance=0%").returncode == 0


@pytest.mark.slow
@QEMU
def test_a_program_that_does_more_fails_its_test(tmp_path: Path) -> None:
    project(tmp_path, PROGRAM)
    run_pytest(tmp_path, "--pfmon", "--pfmon-save")
    pretend(tmp_path, 0.5)
    (before,) = baselines(tmp_path).values()
    done = run_pytest(tmp_path, "--pfmon")
    assert done.returncode == 1
    row = next(line for line in done.stdout.splitlines() if line.startswith("INSTRUCTIONS_RETIRED"))
    assert row.split()[1] == str(before) and row.split()[4] == "1%"
    assert run_pytest(tmp_path, "--pfmon", "--pfmon-tolerance=200%").returncode == 0
    pretend(tmp_path, 10)
    done = run_pytest(tmp_path, "--pfmon")
    assert done.returncode == 0 and "fewer than before: INSTRUCTIONS_RETIRED -" in done.stdout


@pytest.mark.slow
@QEMU
def test_a_program_that_fails_keeps_its_baseline(tmp_path: Path) -> None:
    text = 'def test_it(pfmon_run): pfmon_run(["/bin/sh", "run"], events="INSTRUCTIONS_RETIRED")'
    project(tmp_path, text)
    (tmp_path / "run").write_text("exit 0")
    run_pytest(tmp_path, "--pfmon", "--pfmon-save")
    before = baselines(tmp_path)
    (tmp_path / "run").write_text("echo told >&2; exit 7")
    done = run_pytest(tmp_path, "--pfmon", "--pfmon-save")
    assert done.returncode == 1 and "its status is 7" in done.stdout and "told" in done.stdout
    assert baselines(tmp_path) == before


@pytest.mark.slow
@QEMU
def test_mistakes_in_a_test_are_one_line(tmp_path: Path) -> None:
    text = """
def test_event(pfmon_run): pfmon_run(["/bin/true"], events="NO_EVENT")
def test_tolerance(pfmon_run): pfmon_run(["/bin/true"], events="INSTRUCTIONS_RETIRED", tolerance="1")
def test_option(pfmon_run): pfmon_run(["/bin/true"], events="INSTRUCTIONS_RETIRED", machines="x")
def test_program(pfmon_run): pfmon_run(["./none"], events="INSTRUCTIONS_RETIRED")
def test_twice(pfmon_run):
    for _ in range(2): pfmon_run(["/bin/true"], events="INSTRUCTIONS_RETIRED")
"""
    done = run_pytest(project(tmp_path, text), "--pfmon")
    assert done.returncode == 1 and "5 failed" in done.stdout and "Traceback" not in done.stdout
    for said in ("'NO_EVENT'", "a percentage such as 1%", "unknown option 'machines'", "./none", "give each a name="):
        assert said in done.stdout


@QEMU
@ASSEMBLER
@pytest.mark.exhaustive
def test_the_example_passes_and_its_slowed_variant_fails(tmp_path: Path) -> None:
    folder = tmp_path / "ci"
    shutil.copytree(EXAMPLES / "ci", folder)
    committed = baselines(folder)
    assert run_pytest(folder, "--pfmon", "--pfmon-save").returncode == 0
    assert committed.keys() == baselines(folder).keys()
    done = run_pytest(folder, "--pfmon", "--pfmon-strict")
    assert done.returncode == 0 and "3 passed" in done.stdout
    code = folder / "words.py"
    slowed = code.read_text().replace("text.lower().split()", "sorted(text.lower().split())")
    assert slowed != code.read_text()
    assert run_pytest(folder, *ALONE, "--pfmon-save", "-k", "many_words").returncode == 0
    code.write_text(slowed)
    done = run_pytest(folder, *ALONE, "--pfmon-strict", "-k", "many_words")
    assert done.returncode == 1 and "1 failed" in done.stdout
    assert "test_counting_many_words_stays_fast: more than before" in done.stdout


@pytest.mark.parametrize(("words", "said"), [((), False), (("-k", "plain"), True)])
def test_the_summary_says_when_nothing_is_marked(words: tuple[str, ...], said: bool, tmp_path: Path) -> None:
    """A test that pfmon_run would count is enough, also where it is skipped."""
    text = "def test_plain(): pass\ndef test_program(pfmon_run): pass\n"
    done = run_pytest(project(tmp_path, text), "--pfmon", *words)
    assert done.returncode == 0, done.stdout
    assert ("nothing was counted: none of these tests is marked" in done.stdout) is said


@pytest.mark.slow
def test_the_first_run_counts_what_later_ones_count(tmp_path: Path) -> None:
    """Though it makes the file of baselines, a new entry of the folder that pytest lists: numbers made in a loop cost
    more where Python's memory happens to be at the edge of a pool."""
    folder = project(tmp_path, MARKED.replace("pass", "sum(n * n for n in range(10000))"))
    assert run_pytest(folder, *ALONE, "--pfmon-save").returncode == 0
    done = run_pytest(folder, *ALONE, "--pfmon-tolerance=0.01%", "--pfmon-strict")
    assert done.returncode == 0, done.stdout


OUTCOMES = """
import os
import unittest
import pytest

@pytest.fixture
def thousand():
    return list(range(1000))

@pytest.mark.pfmon
def test_little(thousand):
    sum(n * n for n in range(1000))

@pytest.mark.pfmon
def test_much(thousand):
    sum(n * n for n in range(11000))

@pytest.mark.pfmon
def test_fails():
    print("told by the test")
    assert 1 == 2

@pytest.mark.pfmon
@pytest.mark.parametrize("text", ["a b::/"])
def test_skips(text):
    pytest.skip("within")

@pytest.mark.pfmon
@pytest.mark.xfail
def test_is_expected_to_fail():
    assert 0

@pytest.mark.pfmon
def test_dies():
    os._exit(9)

@pytest.mark.pfmon(event="X")
def test_has_a_wrong_mark():
    pass

class Tests(unittest.TestCase):
    @pytest.mark.pfmon
    def test_method(self):
        self.assertEqual(1, 1)

@pytest.fixture
def broken():
    raise RuntimeError("while making it")

@pytest.mark.pfmon
def test_wants_what_cannot_be_made(broken):
    pass
"""


@QEMU
@pytest.mark.exhaustive
def test_a_counted_process_reports_what_happened_there(tmp_path: Path) -> None:
    done = run_pytest(project(tmp_path, OUTCOMES), *ALONE, "--pfmon-save", "--junitxml=report.xml", "-rs")
    assert "3 failed, 3 passed, 1 skipped, 1 xfailed, 1 error" in done.stdout, done.stdout
    for said in ("told by the test", "assert 1 == 2", "within", "its status is 9", "the mark takes", "while making it"):
        assert said in done.stdout
    assert (tmp_path / "report.xml").read_text().count("<property ") == 3
    counts = {name.rpartition("::")[2]: value for name, value in baselines(tmp_path).items()}
    assert counts.keys() == {"test_little", "test_much", "test_method"}
    # Ten thousand turns more, a few instructions of Python each, of which each takes some of the processor's.
    assert 10_000 * 50 < counts["test_much"] - counts["test_little"] < 10_000 * 1500


@QEMU
@pytest.mark.exhaustive
def test_a_test_counts_the_same_in_every_run(tmp_path: Path) -> None:
    """But for what Python itself makes of times and process numbers."""
    text = MARKED.replace("pass", "sum(n * n for n in range(1000))")
    run_pytest(project(tmp_path, text), *ALONE, "--pfmon-save")
    done = run_pytest(tmp_path, *ALONE, "--pfmon-strict", "--pfmon-tolerance=0.05%")
    assert done.returncode == 0, done.stdout


@QEMU
@pytest.mark.slow
def test_workers_of_xdist_count_too(tmp_path: Path) -> None:
    """Where the host can count them, without qemu."""
    pytest.importorskip("xdist")
    words = ("-p", "xdist", "-n", "2", *ALONE, "--pfmon-save")
    done = start_pytest(project(tmp_path, MARKED + PROGRAM), *words, path="/nowhere" if HERE else None)
    assert done.returncode == 0 and "2 baselines saved" in done.stdout, done.stdout
    assert {*baselines(tmp_path)} == {"test_it.py::test_marked", "test_it.py::test_program"}
