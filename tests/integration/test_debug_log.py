"""PFMON_DEBUG logs how a run is done, and nothing without it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import EXAMPLES, example
from host_programs import needs

FIB = (example("fib"), "15")


def logged(value: str, *words: str) -> tuple[str, str]:
    """Standard output and standard error of a command with PFMON_DEBUG."""
    command = [sys.executable, "-m", "pfmon", *words]
    environment = {**os.environ, "PFMON_DEBUG": value}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout, done.stderr


@pytest.mark.slow
def test_each_part_of_a_run_on_a_machine_is_logged() -> None:
    _, log = logged("1", "-e", "cpu_cycles", *FIB)
    assert all(re.fullmatch(r"pfmon\.\w+: \d+ ms: \S.*", line) for line in log.splitlines())
    parts = [line.partition(":")[0] for line in log.splitlines()]
    assert set(parts) == {f"pfmon.{part}" for part in ("engine", "cache", "threads", "memo", "time")}
    assert f"Ia64Guest runs {FIB[0]}, a program for IA64" in log
    phases = re.findall(r"(load|run|report): \d+\.\d{3} s", log)
    assert phases == ["load", "run", "report"]


@pytest.mark.slow
def test_the_memo_is_logged_with_its_hits_and_misses() -> None:
    """Each block run is replayed or simulated: more runs of the same blocks are hits, and few are misses."""

    def memo(turns: str) -> tuple[int, int]:
        _, log = logged("1", "-e", "cpu_cycles", example("fib"), turns)
        found = re.search(r"\(hits\) (\d+), simulated \(misses\) (\d+)", log)
        assert found
        return int(found[1]), int(found[2])

    (few, _), (many, simulated) = memo("5"), memo("18")
    assert many > 4 * few and simulated < many / 10


@pytest.mark.slow
def test_a_file_gets_the_log_and_the_counts_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "log"
    plain = logged("", "-e", "cpu_cycles", *FIB)
    assert logged(str(path), "-e", "cpu_cycles", *FIB) == plain == logged("0", "-e", "cpu_cycles", *FIB)
    assert plain[1] == "" and "pfmon.engine" in path.read_text()


@pytest.mark.slow
def test_a_file_that_cannot_be_written_is_said_once() -> None:
    _, log = logged("/no/such/log", "-e", "ia64_inst_retired", *FIB)
    assert log.count("PFMON_DEBUG=/no/such/log: No such file or directory") == 1 and "pfmon.engine" in log


@pytest.mark.slow
def test_a_full_file_leaves_the_lines_out() -> None:
    words = ("-e", "ia64_inst_retired", *FIB)
    assert logged("/dev/full", *words) == logged("", *words)


@pytest.mark.slow
@needs("qemu-x86_64")
def test_the_emulator_and_its_plugin_are_logged() -> None:
    _, log = logged("1", "--engine=qemu", "-e", "INSTRUCTIONS_RETIRED", str(EXAMPLES / "x86_64" / "fib"), "5")
    assert "QemuGuest runs " in log and re.search(r"/qemu-x86_64 executes it, with the plugin \S+/plugin\.so", log)


@pytest.mark.slow
def test_logging_is_not_imported_without_it() -> None:
    code = "import sys, pfmon.__main__ as m; m.main(sys.argv[1:]); sys.exit('logging' in sys.modules)"
    command = [sys.executable, "-c", code, "-e", "cpu_cycles", *FIB]
    environment = {name: value for name, value in os.environ.items() if name != "PFMON_DEBUG"}
    assert subprocess.run(command, capture_output=True, check=False, env=environment).returncode == 0
