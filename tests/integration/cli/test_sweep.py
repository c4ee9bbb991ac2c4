"""`pfmon sweep`: programs on machines, each cell once, whoever dies on the way."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser import shown
from command import example, pfmon, pfmon_here, refused
from grids import each, sampled
from host_programs import needs

import pfmon as library
from pfmon.library.sweep.sweep_cell import execute_order
from pfmon.library.sweep.sweep_plan import read
from pfmon.library.sweep.sweep_store import Store
from pfmon.library.sweep.worker_pool import Pool, SweepTask

EVENTS = ["cpu_cycles", "l1d_read_misses_all"]
SMALL = f"""
events = {json.dumps(EVENTS)}
[figures]
l1d.size = ["8K", "16K", "32K"]
[[program]]
name = "hash"
command = ["{example("hashmap")}", "300"]
[[program]]
command = ["{example("sort")}", "200"]
[[machine]]
name = "itanium2"
[[machine]]
name = "montecito"
events = ["cpu_op_cycles_all"]
set = ["l3.latency=14"]
figures = {{"l1d.size" = ["16K"], "l3.size,l3.ways" = [["3M", 12], ["6M", 24]]}}
"""
CELLS = 2 * (3 + 2)


@pytest.fixture(autouse=True)
def table_library() -> None:
    pytest.importorskip("pyarrow")


def written(folder: Path, text: str = SMALL) -> Path:
    path = folder / "small.toml"
    path.write_text(text)
    return path


def table(folder: Path) -> list[dict[str, Any]]:
    """The rows of a sweep's table."""
    from pyarrow import parquet

    rows: list[dict[str, Any]] = parquet.read_table(folder / "table.parquet").to_pylist()
    return rows


def without_time(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a sweep that has ended."""
    path = written(tmp_path_factory.mktemp("sweep"))
    done = pfmon("sweep", str(path))
    assert done.returncode == 0, done
    assert done.stderr.splitlines()[-1] == f"{CELLS} of {CELLS} cells"
    folder = path.with_suffix(".sweep")
    assert done.stdout == f"{folder}/index.html\n{folder}/table.csv\n{folder}/table.parquet\n"
    return folder


@pytest.mark.slow
def test_cells_are_what_runs_on_these_machines_count(swept: Path) -> None:
    rows = table(swept)
    commands = {"hash": [example("hashmap"), "300"], "sort 200": [example("sort"), "200"]}
    assert len(rows) == CELLS and {row["program"] for row in rows} == set(commands)
    for row in rows:
        changes = {"l1d.size": row["l1d.size"]}
        if row["pmu"] == "montecito":
            changes |= {"l3.latency": 14, "l3.size": row["l3.size"], "l3.ways": row["l3.ways"]}
        events = ["cpu_op_cycles_all"] if row["pmu"] == "montecito" else EVENTS
        run = library.run(commands[row["program"]], machine=row["pmu"], set=changes, events=events, capture=True)
        assert {count.name: count.value for count in run.counts} == {
            count.name: row[count.name] for count in run.counts
        }
        assert (row["instructions"], row["status"], row["error"]) == (run.retired, 0, "")
        assert row["seconds"] > 0


def test_figures_that_belong_together_change_together(swept: Path) -> None:
    montecito = [(row["l3.size"], row["l3.ways"]) for row in table(swept) if row["pmu"] == "montecito"]
    assert montecito == 2 * [(3 << 20, 12), (6 << 20, 24)]
    assert {row["machine"] for row in table(swept)} == {"itanium2", "montecito"}


def test_the_csv_file_has_the_same_table(swept: Path) -> None:
    with (swept / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    expected = [{name: "" if value is None else str(value) for name, value in row.items()} for row in table(swept)]
    assert rows == expected


@pytest.mark.slow
def test_nothing_is_done_twice(swept: Path) -> None:
    rows = table(swept)
    kept = sorted((swept / "cells").iterdir())
    kept[0].unlink()
    kept[1].write_text('{"error": nu')  # as a machine leaves it that went down
    times = {path: path.stat().st_mtime_ns for path in [*kept[2:], *(swept / "recordings").iterdir()]}
    (swept / "recordings" / ".part.123").write_text("of a worker that was killed")
    done = pfmon("sweep", str(swept.with_suffix(".toml")))
    assert done.returncode == 0 and done.stderr.splitlines()[-1] == f"{CELLS} of {CELLS} cells ({CELLS - 2} were there)"
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert without_time(table(swept)) == without_time(rows)
    assert not list((swept / "recordings").glob(".*"))


@pytest.mark.slow
def test_another_event_counts_again_and_records_nothing(swept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    subprocess.run(["cp", "-a", str(swept), str(folder)], check=True)
    before = {path.name: path.stat().st_mtime_ns for path in (folder / "recordings").iterdir()}
    path = written(tmp_path, SMALL.replace('"cpu_cycles"', '"cpu_cycles", "l2_misses"'))
    done = pfmon("sweep", str(path), f"--output={folder}")
    assert done.returncode == 0 and f"of {CELLS} cells (4 were there)" in done.stderr
    assert {path.name: path.stat().st_mtime_ns for path in (folder / "recordings").iterdir()} == before
    assert all(row["L2_MISSES"] is not None for row in table(folder) if row["pmu"] == "itanium2")


def tasks(folder: Path) -> dict[str, SweepTask]:
    """The orders of all cells, with recordings made here."""
    wanted = read(str(written(folder)))
    with Store(str(folder / "store")) as store:
        paths = {}
        for name, program in wanted.programs.items():
            assert execute_order(store.recording_order(program))["error"] is None
            paths[name] = store.recording(program)
        keys = [(store.cell_key(cell, paths[cell.program]), cell) for cell in wanted.cells]
        return {key: SweepTask(key, store.cell_order(cell, paths[cell.program])) for key, cell in keys}


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_only_what_it_was_doing(tmp_path: Path) -> None:
    given = tasks(tmp_path)
    answers: list[tuple[str, dict[str, Any]]] = []
    killed: list[int] = []
    with Pool(2) as pool:

        def tick(running: int) -> None:
            if len(answers) >= 3 and not killed:
                killed.append(pool.processes[0])
                os.kill(killed[0], signal.SIGKILL)

        pool.run(given.values(), lambda key, answer: answers.append((key, answer)), tick)
        assert killed and killed[0] not in pool.processes and len(pool.processes) == 2
    assert sorted(key for key, _ in answers) == sorted(given)
    for key, answer in answers:
        assert answer["error"] is None and answer["counts"] == execute_order(given[key].order)["counts"]


def test_an_order_that_workers_die_of_is_given_up(tmp_path: Path) -> None:
    given = list(tasks(tmp_path).values())[:1]
    answers: list[dict[str, Any]] = []
    with Pool(1) as pool:
        pool.run(given, lambda _, answer: answers.append(answer), lambda _: os.kill(pool.processes[0], signal.SIGKILL))
    assert [answer["error"] for answer in answers] == ["3 workers died of it"]


def test_a_recording_that_a_worker_cannot_see_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    order = next(iter(tasks(tmp_path).values())).order
    data = Path(order["path"]).read_bytes()
    there = execute_order(order)
    hidden = {**order, "path": "/no/such/recording"}
    assert "/no/such/recording" in str(execute_order(hidden)["error"])
    assert execute_order(hidden, data)["counts"] == there["counts"]


def test_a_worker_of_another_version_says_so(tmp_path: Path) -> None:
    order = {**next(iter(tasks(tmp_path).values())).order, "pfmon": "0.0"}
    assert execute_order(order)["error"] == f"the worker has pfmon {library.version.VERSION}, and the sweep is of 0.0"


LONGER = SMALL.replace('"300"', '"10000"').replace('"200"', '"10000"')


def started(path: Path, *words: str) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "pfmon", "sweep", str(path), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_cells(folder: Path, count: int) -> None:
    """Until so many are there."""
    end = time.monotonic() + 60
    while len(list((folder / "cells").glob("[!.]*.json"))) < count:
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
def test_an_interrupted_sweep_goes_on(tmp_path: Path) -> None:
    path = written(tmp_path, LONGER)
    folder = path.with_suffix(".sweep")
    process = started(path)
    wait_for_cells(folder, 2)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert said.splitlines()[-1] == "pfmon: interrupted; finished counts are kept, and the same command continues"
    there = {one: one.stat().st_mtime_ns for one in (folder / "cells").glob("[!.]*.json")}
    assert 2 <= len(there) < CELLS and not (folder / "table.parquet").exists()
    assert pfmon("sweep", str(path)).returncode == 0
    assert {one: one.stat().st_mtime_ns for one in there} == there
    assert all(row["error"] == "" for row in table(folder)) and len(table(folder)) == CELLS


CLUSTER = """
import os
import sys
from distributed import Client, LocalCluster
if __name__ == "__main__":
    options = dict(processes=sys.argv[1] == "processes", protocol="tcp", dashboard_address=None)
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
        print(cluster.scheduler_address, *client.run(os.getpid).values(), flush=True)
        sys.stdin.read()
"""


@contextmanager
def cluster(folder: Path, kind: str) -> Iterator[tuple[str, int]]:
    """Dask's, whose workers are ``processes`` or threads: its address, and the first worker's process."""
    pytest.importorskip("distributed")
    script = folder / "cluster.py"
    script.write_text(CLUSTER)
    pipe = subprocess.PIPE
    command = [sys.executable, str(script), kind]
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        assert process.stdin and process.stdout
        try:
            address, first, *_ = process.stdout.readline().split()
            yield address, int(first)
        finally:
            process.stdin.close()


@pytest.mark.slow
def test_a_cluster_counts_the_same(swept: Path, tmp_path: Path) -> None:
    path = written(tmp_path)
    with cluster(tmp_path, "threads") as (address, _):
        done = pfmon("sweep", str(path), f"--scheduler={address}")
    assert done.returncode == 0, done
    assert without_time(table(path.with_suffix(".sweep"))) == without_time(table(swept))


@pytest.mark.exhaustive
def test_a_cluster_counts_the_same_though_a_worker_is_killed(tmp_path: Path) -> None:
    path = written(tmp_path, LONGER)
    with cluster(tmp_path, "processes") as (address, victim):
        process = started(path, f"--scheduler={address}")
        wait_for_cells(path.with_suffix(".sweep"), 2)
        there = {one: one.stat().st_mtime_ns for one in (path.with_suffix(".sweep") / "cells").glob("[!.]*.json")}
        os.kill(victim, signal.SIGKILL)
        said = process.communicate(timeout=100)
        assert process.returncode == 0, said
    assert {one: one.stat().st_mtime_ns for one in there} == there and len(there) < CELLS
    assert pfmon("sweep", str(path), f"--output={tmp_path / 'alone'}").returncode == 0
    assert without_time(table(path.with_suffix(".sweep"))) == without_time(table(tmp_path / "alone"))


@pytest.mark.slow
@needs("chromium-headless-shell")
def test_the_page_has_curves_and_heat_maps(swept: Path) -> None:
    found = shown(
        swept / "index.html",
        """
        const marks = (id, mark) => document.querySelectorAll(`#${id} svg ${mark}`).length;
        const choose = (id, label, text) => {
          const select = document.querySelector(`#${id} select[aria-label="${label}"]`);
          select.selectedIndex = [...select.options].findIndex((one) => one.text === text);
          select.dispatchEvent(new Event("change"));
        };
        choose("curves", "show", "L1D_READ_MISSES_ALL");
        choose("curves", "over", "l1d.size");
        const points = [...document.querySelectorAll("#curves circle title")];
        const titles = points.map((one) => one.textContent.split("\\n"));
        const sections = [...document.querySelectorAll("main section")].map((one) => one.id);
        choose("machines", "show", "cycles an instruction");
        return {sections, titles, heat: marks("machines", "rect"), rows: rows("cells").length};
        """,
    )
    assert found["sections"] == ["summary", "curves", "machines", "pairs", "cells"]
    rows = table(swept)
    assert found["rows"] == CELLS and found["heat"] >= CELLS
    expected = {
        (f"{row['program']}, {row['machine']}", f"{row['l1d.size'] // 1024}K: {row['L1D_READ_MISSES_ALL']:,}")
        for row in rows
        if row["pmu"] == "itanium2"
    }
    assert {tuple(title) for title in found["titles"]} == expected


def test_a_dry_run_says_what_there_is_to_do(tmp_path: Path) -> None:
    done = pfmon("sweep", str(written(tmp_path)), "--dry-run")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == f"{CELLS} cells, of 2 programs"
    assert done.stdout.splitlines()[0] == "hash on itanium2 l1d.size=8K: cpu_cycles, l1d_read_misses_all"
    assert list(tmp_path.iterdir()) == [tmp_path / "small.toml"]


@pytest.mark.slow
def test_a_recording_may_be_given(tmp_path: Path) -> None:
    assert pfmon(f"--record={tmp_path / 'run'}", "--no-cmd-output", example("queens"), "5").returncode == 0
    text = 'events = ["cpu_cycles"]\ncpi = true\n[[machine]]\nname = "itanium2"\n[[program]]\nrecording = '
    text += f'"{tmp_path / "run"}"\n'
    assert pfmon("sweep", "--quiet", str(written(tmp_path, text))).stderr == ""
    cpi = library.replay(tmp_path / "run", report="cpi").cpi
    (row,) = table(tmp_path / "small.sweep")
    assert cpi and row["CPU_CYCLES"] == row["cpi: cycles"] == cpi.cycles
    assert {part: row[f"cpi: {part}"] for part in cpi.parts} == {part: cpi.total(part) for part in cpi.parts}


@sampled(6)
@each(
    ("change", "said"),
    [
        (("events", "evnts"), "unknown key evnts; nearest: events"),
        (("[[machine]]", "[[machines]]"), "unknown key machines; nearest: machine"),
        (('"8K"', '"9K"'), "l1d.size"),
        (("l1d.size =", "l1d.sise ="), "unknown figure l1d.sise; nearest: l1d.size"),
        (('name = "montecito"', 'name = "montecitto"'), "unknown machine 'montecitto'; nearest: montecito"),
        (('"cpu_cycles"', '"cpu_cycle"'), "unknown itanium2 event 'cpu_cycle'"),
        (("hashmap", "hashmop"), "there is no such program"),
        (('name = "hash"', 'name = "sort 200"'), "two programs are called sort 200"),
        (('name = "hash"', 'input = "/no/input"'), "program.input = '/no/input': there is no such file"),
        (('["3M", 12]', '["3M"]'), "a list of 2 values is wanted"),
        (('"300"]', "300]"), "a list of texts is wanted"),
        (('name = "montecito"\nevents = ["cpu_op_cycles_all"]', 'name = "nehalem"\nevents = ["LLC_MISSES"]'), "x86"),
        (("events =", "events ="), ""),
    ],
)
def test_mistakes_in_the_file_are_said_before_anything_runs(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    text = SMALL.replace(*change)
    if not said:
        text, said = text + "\n]", "not TOML: "
    line = refused("sweep", str(written(tmp_path, text)))
    assert said in line and "small.toml" in line
    assert not (tmp_path / "small.sweep").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "one file is wanted, and 0 given; usage: pfmon sweep [OPTION]... FILE.toml"),
        (("/no/file.toml",), "/no/file.toml: no such file or directory"),
        (("FILE", "--workers=0"), "--workers=0: a whole number from 1 to 1024 is wanted"),
        (("FILE", "--output=/proc/x"), "/proc/x: no such file or directory"),
    ],
)
def test_mistakes_on_the_command_line_are_said_in_a_line(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    path = str(written(tmp_path))
    assert refused("sweep", *(path if word == "FILE" else word for word in words)) == f"pfmon: {said}\n"


def test_two_sweeps_do_not_work_in_one_directory(tmp_path: Path) -> None:
    path = written(tmp_path)
    with Store(str(path.with_suffix(".sweep"))):
        line = refused("sweep", str(path))
    assert line == f"pfmon: {path.with_suffix('.sweep')}: another sweep is at work there\n"


def test_a_scheduler_without_dask_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    words = ("sweep", str(written(tmp_path)), "--scheduler=tcp://127.0.0.1:1")
    said = "--scheduler needs dask.distributed, which is not installed: pip install 'pfmon[dask]'"
    assert refused(*words, run=pfmon_here) == f"pfmon: {said}\n"


def test_without_pyarrow_the_table_is_csv_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = written(tmp_path, f'[[program]]\ncommand = ["{example("fib")}", "3"]\n')
    done = pfmon_here("sweep", "-q", str(path))
    folder = path.with_suffix(".sweep")
    assert done.returncode == 0 and done.stdout == f"{folder}/index.html\n{folder}/table.csv\n"


PAIRS = f"""
events = ["cpu_op_cycles_all", "ia64_inst_retired"]
pairs = PAIRS
cpi = true
[[program]]
name = "hash"
command = ["{example("hashmap")}", "50"]
[[program]]
name = "sort"
command = ["{example("sort")}", "50"]
[[machine]]
name = "montecito"
"""


@pytest.mark.slow
def test_pairs_are_cells_with_a_row_for_each_program(tmp_path: Path) -> None:
    done = pfmon("sweep", "-q", str(written(tmp_path, PAIRS.replace("PAIRS", "true"))))
    assert done.returncode == 0, done
    rows = table(tmp_path / "small.sweep")
    found = [(row["program"], row["beside"], row["thread"]) for row in rows]
    alone, same, mixed = [("hash", None, None), ("sort", None, None)], [("hash", "hash"), ("sort", "sort")], "hash sort"
    assert sorted(found, key=str) == sorted(
        [*alone, *((*pair, n) for pair in same for n in (0, 1)), (*mixed.split(), 0), (*mixed.split()[::-1], 1)],
        key=str,
    )
    commands = [[example("hashmap"), "50"], [example("sort"), "50"]]
    both = library.smt(commands, events=["cpu_op_cycles_all", "ia64_inst_retired"], capture=True)
    for thread, program in enumerate(mixed.split()):
        row = next(
            row for row in rows if (row["program"], row["thread"]) == (program, thread) and row["beside"] != program
        )
        counts = [row["CPU_OP_CYCLES_ALL"], row["IA64_INST_RETIRED"]]
        assert counts == [count.value for count in both.threads[thread].counts]
        assert row["cpi: cycles"] == counts[0]


def test_pairs_may_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, PAIRS.replace("PAIRS", '[["sort", "hash"]]'))
    said = pfmon("sweep", "--dry-run", str(path)).stdout
    assert "sort beside hash on montecito: " in said and "3 cells, of 2 programs" in said


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ('[["sort", "nothing"]]', "there is no program 'nothing'"),
        ('["sort"]', 'or a list of ["PROGRAM", "PROGRAM"] is wanted'),
        ('true\n[[machine]]\nname = "itanium2"', "itanium2 has one hardware thread a core"),
    ],
)
def test_pairs_that_cannot_be_are_refused(tmp_path: Path, pairs: str, said: str) -> None:
    text = PAIRS.replace("PAIRS", pairs.partition("\n")[0]) + pairs.partition("\n")[2] + "\n"
    if "machine" in pairs:
        text += 'events = ["cpu_cycles"]\n'
    assert said in refused("sweep", str(written(tmp_path, text)))
