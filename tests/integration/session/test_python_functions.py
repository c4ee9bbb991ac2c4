"""Python functions and lines of interpreters: calls as sys.setprofile sees them, counts that add up to the run's."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from browser import data_of
from command import pfmon
from host_programs import RUNS_X86_64

pytestmark = [
    RUNS_X86_64,
    pytest.mark.slow,
]
PROGRAM = """
class Box:
    @property
    def size(self):
        return 3

    def __getitem__(self, place):
        return place


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def key(x):
    return -x


def boom(n):
    if n == 0:
        raise ValueError
    boom(n - 1)


def main():
    fib(10)
    sorted(range(100), key=key)
    box = Box()
    for place in range(20):
        box.size
        box[place]
    for _ in range(5):
        try:
            boom(4)
        except ValueError:
            pass
    list(map(lambda x: x + 1, range(30)))


main()
"""
PROFILER = """
import json, sys
calls = {}

def note(frame, event, _):
    if event == "call" and frame.f_code.co_filename == sys.argv[1]:
        calls[frame.f_code.co_qualname] = calls.get(frame.f_code.co_qualname, 0) + 1

code = compile(open(sys.argv[1]).read(), sys.argv[1], "exec")
sys.setprofile(note)
exec(code, {"__name__": "__main__"})
sys.setprofile(None)
print(json.dumps(calls))
"""
TRACER = """
import json, sys
lines = set()

def note(frame, event, _):
    if frame.f_code.co_filename != sys.argv[1]:
        return None
    if event == "line":
        lines.add((frame.f_code.co_qualname, frame.f_lineno))
    return note

code = compile(open(sys.argv[1]).read(), sys.argv[1], "exec")
sys.settrace(note)
exec(code, {"__name__": "__main__"})
sys.settrace(None)
print(json.dumps(sorted(lines)))
"""
SPLIT = """
def one(n):
    for i in range(1000, 1000 + n):
        i * 3


def ten(n):
    for i in range(1000, 1000 + 10 * n):
        i * 3


one(2000)
ten(2000)
"""
SHORT = SPLIT.replace("2000", "100")
THREADS = """
import threading


def leaf(n):
    return 2 * n


def twice(n):
    for i in range(n):
        leaf(leaf(i))


def once(n):
    for i in range(n):
        leaf(i)


threads = []
for i in range(4):
    threads.append(threading.Thread(target=(once, twice)[i % 2], args=(1500,)))
    threads[-1].start()
for one in threads:
    one.join()
"""
HOST_PYTHON = "/usr/bin/python3"
INTERPRETERS = sorted({HOST_PYTHON, *map(str, Path.home().glob(".pyenv/versions/3.1[123].*/bin/python3"))})


@cache
def version(interpreter: str) -> str:
    """As 3.11; empty: it is not here."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    if not Path(interpreter).exists():
        return ""
    return subprocess.run([interpreter, "-c", code], capture_output=True, text=True, check=False).stdout.strip()


def is_readable_version(interpreter: str) -> bool:
    return version(interpreter) in ("3.11", "3.12", "3.13")


def one_of_each_version() -> list[Any]:
    """Of two of a version the other one is exhaustive."""
    versions = [version(one) for one in INTERPRETERS]
    again = [of in versions[:n] for n, of in enumerate(versions)]
    return [
        pytest.param(one, marks=[pytest.mark.exhaustive] * twice)
        for one, twice in zip(INTERPRETERS, again, strict=True)
    ]


@pytest.fixture(params=one_of_each_version(), scope="module")
def interpreter(request: pytest.FixtureRequest) -> str:
    if not is_readable_version(request.param):
        pytest.skip("it is no CPython whose frames are read")
    return str(request.param)


class Seen(NamedTuple):
    """A program, and what pfmon counts of it by function."""

    path: Path
    counted: dict[str, Any]


@pytest.fixture(scope="module")
def seen(interpreter: str, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """PROGRAM, which several tests look at."""
    folder = tmp_path_factory.mktemp("seen")
    return Seen(folder / "program.py", counted(interpreter, PROGRAM, folder, "--per-function"))


def counted(interpreter: str, text: str, folder: Path, *options: str) -> dict[str, Any]:
    path = folder / "program.py"
    path.write_text(text)
    words = ["--json", "-e", "instructions", *options, interpreter, "-S", "-I", str(path)]
    done = pfmon(*words)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def of_program(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if (row["file"] or "").endswith("/program.py")]


def test_calls_are_those_that_a_profiler_sees(interpreter: str, seen: Seen) -> None:
    words = [interpreter, "-S", "-I", "-c", PROFILER, str(seen.path)]
    calls = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    rows = of_program(seen.counted["profile"]["python"]["functions"])
    assert {row["name"]: row["calls"] for row in rows} == calls


@pytest.mark.parametrize("quantum", [1000, pytest.param(100_000, marks=pytest.mark.exhaustive)])
def test_each_thread_has_calls_of_its_own(interpreter: str, tmp_path: Path, quantum: int) -> None:
    found = counted(interpreter, THREADS, tmp_path, "--per-function", f"--quantum={quantum}")
    (total,) = [one["count"] for one in found["events"]]
    rows = found["profile"]["python"]["functions"]
    calls = {row["name"]: row["calls"] for row in of_program(rows)}
    assert calls == {"<module>": 1, "leaf": 9000, "twice": 2, "once": 2}
    assert sum(row["counts"][0] for row in rows) == total


def test_lines_are_those_that_a_tracer_sees(interpreter: str, seen: Seen) -> None:
    words = [interpreter, "-S", "-I", "-c", TRACER, str(seen.path)]
    traced = {tuple(one) for one in json.loads(subprocess.run(words, capture_output=True, check=True).stdout)}
    python = seen.counted["profile"]["python"]
    counted_lines = {(row["name"], row["line"]) for row in of_program(python["lines"])}
    begins = {(row["name"], row["line"]) for row in of_program(python["functions"])}
    assert traced <= counted_lines
    assert counted_lines - traced <= begins


def test_functions_and_lines_add_up_to_the_run(interpreter: str, seen: Seen) -> None:
    (total,) = [one["count"] for one in seen.counted["events"]]
    assert total == counted(interpreter, PROGRAM, seen.path.parent)["events"][0]["count"]
    for rows in seen.counted["profile"]["python"].values():
        assert sum(row["counts"][0] for row in rows) == total


def test_work_is_split_as_the_loops_are(interpreter: str, tmp_path: Path) -> None:
    python = counted(interpreter, SPLIT, tmp_path, "--per-function")["profile"]["python"]
    one, ten = (next(r["counts"][0] for r in of_program(python["functions"]) if r["name"] == n) for n in ("one", "ten"))
    assert 9.8 < ten / one < 10.2
    lines = {row["line"]: row["counts"][0] for row in of_program(python["lines"])}
    assert 9.8 < lines[9] / lines[4] < 10.2 and 9.8 < lines[8] / lines[3] < 10.2


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Cycles by line of SHORT as a command line begins it, and its page: one run, since all of a start of Python goes
    through the machine."""
    if not is_readable_version(HOST_PYTHON):
        pytest.skip("the host's python3 is no CPython whose frames are read")
    folder = tmp_path_factory.mktemp("timed")
    (folder / "program.py").write_text(SHORT)
    words = ("--json", "-e", "cycles,branches", "--per-line", "--report=html:page.html")
    command = [sys.executable, "-m", "pfmon", *words, HOST_PYTHON, "-S", "-I", "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), folder / "page.html"


def test_cycles_by_line_add_up_to_the_run(timed: tuple[dict[str, Any], Path]) -> None:
    found, _ = timed
    rows = found["profile"]["python"]["lines"]
    for place, event in enumerate(found["events"]):
        assert sum(row["counts"][place] for row in rows) == event["count"]


def test_the_breakdown_of_python_functions_adds_up(timed: tuple[dict[str, Any], Path]) -> None:
    report = timed[0]["report"]
    assert sum(sum(row["cycles"].values()) for row in report["python"]) == report["cycles"]
    assert sum(row["instructions"] for row in report["python"]) == report["instructions"]


def test_the_page_has_python_functions(timed: tuple[dict[str, Any], Path]) -> None:
    data = data_of(timed[1])
    assert sum(sum(row[3:]) for row in data["python"]) == data["cpi"]["cycles"] + data["cpi"]["instructions"]
    assert {"one", "ten"} <= {row[0] for row in data["python"] if row[1].endswith("program.py")}


def test_a_flame_graph_has_python_functions_in_the_interpreter(tmp_path: Path) -> None:
    path, stacks = tmp_path / "program.py", tmp_path / "stacks"
    path.write_text(SHORT)
    assert pfmon("--export", f"collapsed:{stacks}", "/usr/bin/python3", "-S", "-I", str(path)).returncode == 0
    assert any(";_PyEval_EvalFrameDefault;<module> (program.py);ten (program.py) " in line for line in stacks.open())
