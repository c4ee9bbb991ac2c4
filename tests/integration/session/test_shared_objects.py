"""Names of what shared objects did: in profiles, samples, reports and exports, of runs and of recordings."""

import re
from collections import Counter
from pathlib import Path

import pytest
from command import pfmon, pfmon_here, refused
from qemu_guests import ASSEMBLER, QEMU, compile_c
from shared_objects import address_in, work, write_caller, write_loader, write_object

import pfmon as library
from pfmon.library.results.result_tables import Table
from pfmon.session.run import kept_files

EVENT = "INSTRUCTIONS_RETIRED"
pytestmark = [QEMU, ASSEMBLER]


def rows(table: Table | None, name: str) -> dict[str, tuple[int, int]]:
    """Of functions of a name: their object's file name, address and count."""
    found = [row for row in table or () if row.name == name]
    made = {Path(row.object).name: (row.address, int(row.values[0] or 0)) for row in found}
    assert len(made) == len(found)
    return made


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """Loads one.so, two.so and one.so again."""
    first, second = (str(write_object(tmp_path, name, name)) for name in ("one", "two"))
    loads = [first, "work", "1000", second, "two", "2000", first, "work", "3000"]
    return [str(write_loader(tmp_path)), *loads]


@pytest.mark.slow
def test_functions_of_one_name_are_told_apart_by_their_objects(command: list[str]) -> None:
    run = library.run(command, events=EVENT, per_function=True, per_block=True)
    found = rows(run.functions, "work")
    assert {name: count for name, (_, count) in found.items()} == {
        "one.so": work(1000) + work(3000),
        "two.so": work(2000),
    }
    assert {name: count for name, (_, count) in rows(run.functions, "two").items()} == {"two.so": 2}
    linked = address_in(Path(command[1]), "work")
    assert all((address - linked) % 4096 == 0 for address, _ in found.values())
    assert run.functions is not None and run.functions["main"].object == ""
    assert sum(int(row.values[0] or 0) for row in run.functions) == run.retired
    loops = [row for row in run.blocks or () if row.name == "work+0x2" and row.object.endswith("two.so")]
    assert [row.values for row in loops] == [(2 * 1999,)]


@pytest.mark.slow
def test_tables_have_the_object_behind_the_name(command: list[str]) -> None:
    printed = pfmon("-e", EVENT, "--per-function", *command).stdout
    shown = {line.split(maxsplit=2)[2]: int(line.split()[0]) for line in printed.splitlines() if " 0x" in line}
    assert shown["work [two.so]"] == work(2000) and shown["work [one.so]"] == work(1000) + work(3000)
    assert "main" in shown and any(re.fullmatch(r"_dl_\w+ \[ld-linux.*\]", name) for name in shown)


@pytest.mark.slow
def test_static_and_shared_functions_retire_the_same(tmp_path: Path) -> None:
    shared = write_object(tmp_path, "libwork", "own")
    counts = []
    for link in ([shared, f"-Wl,-rpath,{tmp_path}"], [tmp_path / "libwork.S"], [tmp_path / "libwork.S", "-static"]):
        program = write_caller(tmp_path, *link)
        run = library.run(str(program), events=EVENT, per_function=True)
        ((place, (_, count)),) = rows(run.functions, "work").items()
        counts.append((place, count))
    assert counts == [("libwork.so", work(1000)), ("", work(1000)), ("", work(1000))]


@pytest.mark.slow
def test_replays_have_the_same_names(command: list[str], tmp_path: Path) -> None:
    recording = str(tmp_path / "recording")
    words = ("-e", EVENT, "--per-function", "--per-block")
    direct = pfmon(*words, f"--record={recording}", *command)
    replayed = pfmon(*words, f"--replay={recording}")
    assert (direct.returncode, replayed.returncode) == (0, 0)
    assert replayed.stdout == direct.stdout and "work [two.so]" in direct.stdout


@pytest.mark.slow
def test_functions_of_objects_are_listed_and_begin_counting(tmp_path: Path) -> None:
    shared = write_object(tmp_path, "libwork", "own")
    program = str(write_caller(tmp_path, shared, f"-Wl,-rpath,{tmp_path}"))
    recording = str(tmp_path / "recording")
    for name in ("work", "libwork.so:work", "libwork:work"):
        for words in ((program,), (f"--record={recording}", program), (f"--replay={recording}",)):
            done = pfmon("-e", EVENT, f"--annotate={name}", *words)
            lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()[3:]]
            assert [(int(count), text) for count, _, text in lines] == [
                (1, "mov ecx, edi"),
                (1000, "dec ecx"),
                (1000, lines[2][2]),
                (1, "ret"),
            ]
    start, stop = "--trigger-code-start-addresses", "--trigger-code-stop-addresses"
    inside = library.run(program, events=EVENT, trigger_code_start_addresses="libwork.so:work", annotate="work")
    whole = library.run(program, events=EVENT)
    assert work(1000) <= (inside.counts[EVENT].value or 0) < (whole.counts[EVENT].value or 0)
    stopped = pfmon("-e", EVENT, f"{start}=libwork.so:work", f"{stop}=libwork.so:work+6", program)
    assert int(stopped.stdout.split()[0]) == work(1000) - 1


@pytest.mark.slow
def test_triggers_in_objects_that_are_opened_later_are_reached(command: list[str]) -> None:
    start, stop = "--trigger-code-start-addresses", "--trigger-code-stop-addresses"
    for words in ((), ("--long-smpl-periods=100000",)):
        done = pfmon("-e", EVENT, *words, f"{start}=two.so:two", f"{stop}=two.so:work+6", *command)
        assert (done.returncode, done.stderr) == (0, "")
        if not words:
            assert int(done.stdout.split()[0]) == 2 + work(2000) - 1
    done = pfmon("-e", EVENT, f"{start}=three.so:two", *command)
    assert done.returncode == 0 and "three.so:two: the program mapped no shared object" in done.stderr


@pytest.mark.slow
def test_names_that_no_object_has_are_refused_before_the_run(command: list[str]) -> None:
    assert "unknown code symbol 'wrk'" in refused("-e", EVENT, "--annotate=wrk", *command)
    assert "unknown code symbol 'workk'" in refused("-e", EVENT, "--annotate=libc.so.6:workk", *command)


@pytest.mark.slow
def test_functions_of_loaded_objects_are_listed_when_the_program_has_run(command: list[str]) -> None:
    listed = library.run(command, events=EVENT, annotate="two.so:work").annotated
    assert listed is not None
    assert [row.counts for row in listed] == [(1,), (2000,), (2000,), (1,)]
    done = pfmon("-e", EVENT, "--annotate=three.so:work", *command)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "--annotate=three.so:work: unknown shared object 'three.so'" in done.stderr


@pytest.mark.slow
def test_linker_of_the_program_gets_its_variables_and_not_that_of_qemu(tmp_path: Path) -> None:
    shared = write_object(tmp_path, "libwork", "own", "-Wl,-soname,libwork.so")
    program = str(write_caller(tmp_path, shared))
    assert library.run(program, events=EVENT, capture=True).status == 127
    environment = {"LD_LIBRARY_PATH": str(tmp_path)}
    run = library.run(program, events=EVENT, per_function=True, environment=environment)
    assert run.status == 0 and rows(run.functions, "work")["libwork.so"][1] == work(1000)
    (tmp_path / "first").mkdir()
    environment["LD_PRELOAD"] = str(write_object(tmp_path / "first", "libfirst", "more"))
    run = library.run(program, events=EVENT, annotate="work", environment=environment, per_function=True)
    assert {name: count for name, (_, count) in rows(run.functions, "work").items()} == {"libfirst.so": work(1000)}
    assert run.annotated is not None
    assert sum(int(row.counts[0] or 0) for row in run.annotated if row.counts) == work(1000)


@pytest.mark.slow
def test_programs_that_are_executed_get_the_variables_that_they_were_given(tmp_path: Path) -> None:
    shared = write_object(tmp_path, "libwork", "own", "-Wl,-soname,libwork.so")
    program = str(write_caller(tmp_path, shared))
    words = ["/bin/sh", "-c", f"LD_LIBRARY_PATH={tmp_path} {program}; exec {program} 2>/dev/null"]
    run = library.run(words, events=EVENT, follow_all=True)
    assert {task.name: task.status for task in run.tasks or ()} == {"1": None, "1:1": 127, "1.1": None, "1.1:1": 0}
    words = ["/bin/sh", "-c", f"{program}; unset LD_LIBRARY_PATH; exec {program} 2>/dev/null"]
    run = library.run(words, events=EVENT, follow_all=True, environment={"LD_LIBRARY_PATH": str(tmp_path)})
    assert {task.name: task.status for task in run.tasks or ()} == {"1": None, "1:1": 127, "1.1": None, "1.1:1": 0}


THREADS = """
#include <dlfcn.h>
#include <pthread.h>
static void *run(void *path) {
    for (int i = 0; i < 10; i++) {
        void *object = dlopen(path, RTLD_NOW);
        ((void (*)(long))dlsym(object, "work"))(100);
        dlclose(object);
    }
    return 0;
}
int main(int argc, char **argv) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(threads + i, 0, run, argv[1 + i % 2]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return 0;
}
"""


@pytest.mark.slow
def test_threads_load_and_unload_objects_at_the_same_time(tmp_path: Path) -> None:
    objects = [str(write_object(tmp_path, name, "more")) for name in ("one", "two")]
    program = str(compile_c(tmp_path, THREADS, "-pthread"))
    run = library.run([program, *objects], events=EVENT, per_function=True)
    found = {name: count for name, (_, count) in rows(run.functions, "work").items()}
    assert found == {"one.so": 20 * work(100), "two.so": 20 * work(100)}


@pytest.mark.slow
def test_replay_names_kept_objects_that_have_changed_or_are_gone(command: list[str], tmp_path: Path) -> None:
    words = ("-e", EVENT, "--per-function", f"--replay={tmp_path / 'recording'}")
    pfmon(f"--record={tmp_path / 'recording'}", *command)
    names = pfmon(*words).stdout
    Path(command[4]).write_bytes(Path(command[4]).read_bytes() + b"\0")
    assert pfmon(*words).stdout == names
    Path(command[4]).unlink()
    assert pfmon(*words).stdout == names and "work [two.so]" in names


@pytest.mark.slow
def test_replay_needs_objects_that_are_not_kept(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "MAX_KEPT_BYTES", 0)
    recording = str(tmp_path / "recording")
    pfmon_here(f"--record={recording}", *command)
    Path(command[4]).write_bytes(Path(command[4]).read_bytes() + b"\0")
    done = pfmon("-e", EVENT, "--per-function", f"--replay={recording}")
    assert done.returncode == 2 and "two.so: has changed" in done.stderr and done.stderr.count("\n") == 1
    assert pfmon("-e", EVENT, f"--replay={recording}").returncode == 0
    Path(command[4]).unlink()
    run = library.replay(recording, events=EVENT, per_function=True)
    assert {row.name for row in run.functions or () if row.object.endswith("two.so")} == {"[no symbol]"}


@pytest.mark.slow
def test_samples_and_exports_have_them_too(command: list[str], tmp_path: Path) -> None:
    words = ("-e", EVENT, "--long-smpl-periods=50")
    stacks, costs = tmp_path / "stacks", tmp_path / "costs"
    exports = (f"--export=collapsed:{stacks}", f"--export=callgrind:{costs}")
    done = pfmon(*words, "--smpl-stacks", "--smpl-module=inst-hist", "--smpl-show-func", *exports, *command)
    assert (done.returncode, done.stderr) == (0, "")
    histogram: Counter[str] = Counter()
    for line in done.stdout.splitlines():
        if " 0x" in line:
            histogram[line.split(maxsplit=4)[4]] += int(line.split()[0])
    assert abs(histogram["work [two.so]"] - work(2000) / 50) <= 1
    assert abs(histogram["work [one.so]"] - (work(1000) + work(3000)) / 50) <= 2
    counts = [line.rpartition(" ") for line in stacks.read_text().splitlines()]
    inside = sum(int(count) for stack, _, count in counts if stack.endswith("work [two.so]"))
    assert inside == histogram["work [two.so]"]
    assert f"ob={command[4]}\nfl=???\nfn=work\n" in costs.read_text()
    entries = pfmon(*words, "--resolve-addresses", *command).stdout
    assert re.search(r"IIP:0x[0-9a-f]+ <work\+0x[24] \[two.so\]>", entries)


@pytest.mark.slow
def test_cycles_of_functions_have_them_too(tmp_path: Path) -> None:
    shared = write_object(tmp_path, "libwork", "own")
    cpi = library.run(str(write_caller(tmp_path, shared, f"-Wl,-rpath,{tmp_path}")), report="cpi").cpi
    assert cpi is not None
    assert [row.instructions for row in cpi.functions if row.shown == "work [libwork.so]"] == [work(1000)]
