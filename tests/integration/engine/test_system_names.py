"""Names of a kernel's program: its functions in counts, in paths of calls from the program into the kernel, and in
options (PFMON_TEST_PROGRAMS, kernel)."""

import json
import lzma
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import pfmon
from grids import each
from shared_programs import folder, needs

KERNELS, DYNAMIC, REAL = folder("kernel"), folder("dynamic"), folder("real")
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "ia64"
SMALL = ("hashmap", "20")
PERF = "perf"
OF_THE_VDSO = re.compile(
    r"_?_?_dl_|_dlfo_|dl_|_?_?pthread_mutex_|_IO_|mem|str|calloc|malloc|_int_malloc|alloc_perturb|ptmalloc|clock_gettime|"
    r"isatty|tcgetattr|unlink_chunk|_?_?libc_|_?_?getauxval|init_cacheinfo|\[no symbol\]"
)
"""Functions of glibc that differ, as Linux gives a program a vDSO (AT_SYSINFO_EHDR): it is entered into the list of
objects, system calls are made in it by epc, and its clock is read. Standard output is a pipe, which glibc asks, too."""
pytestmark = [needs("kernel"), needs("real"), pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    place = tmp_path_factory.mktemp("kernels")
    (place / PERF).write_bytes(lzma.decompress((KERNELS / "vmlinux-perf.xz").read_bytes()))
    before = Path.cwd()
    os.chdir(place)
    yield
    os.chdir(before)


def functions(*words: str) -> dict[str, Counter[str]]:
    """Instructions at the program's level, by object file ("": of the program, or of the kernel) and function."""
    ran = pfmon("--json", "--no-cmd-output", "-u", "-e", "ia64_inst_retired", "--per-function", *words)
    assert ran.returncode == 0, ran.stderr
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in json.loads(ran.stdout)["profile"]["functions"]:
        found[Path(row["object"] or "").name][row["name"]] += row["counts"][0]
    return found


def test_functions_of_a_program_count_what_they_count_alone() -> None:
    program = str(EXAMPLES / SMALL[0])
    alone = functions(program, SMALL[1])
    under = functions("--system", PERF, "--task=program", "--", program, SMALL[1])
    assert under[SMALL[0]] == alone[""]


def test_functions_of_a_range_are_known_by_name() -> None:
    program = str(EXAMPLES / SMALL[0])
    options = ("-u", "-e", "ia64_inst_retired", "--irange=lookup", "--no-cmd-output")
    alone, under = pfmon(*options, program, SMALL[1]), pfmon(*options, "--system", PERF, "--", program, SMALL[1])
    assert alone.stdout == under.stdout and int(under.stdout.split()[0]) > 1000


@each("program", [["gzip", "-9", "-c", "inputs/text40k.txt"], ["mawk", "-f", "inputs/words.awk", "inputs/text40k.txt"]])
def test_only_functions_of_the_c_library_differ_under_a_kernel(program: list[str]) -> None:
    """A static program of glibc: what it does itself is the same to the last instruction, function by function."""
    command = [str(REAL / program[0]), *program[1:]]
    options = ("--system", PERF, "--task=program", "--guest-file", f"{REAL / 'inputs'}=inputs")
    under = functions(*options, "--", *command)[program[0]]
    before = Path.cwd()
    os.chdir(REAL)
    try:
        alone = functions(*command)[""]
    finally:
        os.chdir(before)
    differing = {name for name in {*alone, *under} if alone.get(name) != under.get(name)}
    assert len(alone) > 100 and sum(alone.values()) > 5_000_000
    assert not {name for name in differing if not OF_THE_VDSO.match(name)}
    assert 0 < sum(under.values()) - sum(alone.values()) < 5_000


@needs("dynamic")
def test_libraries_of_a_program_have_their_names() -> None:
    sysroot = ("--sysroot", str(DYNAMIC / "sysroot"))
    program = str(DYNAMIC / "bin" / "hello")
    alone = functions(*sysroot, program)
    under = functions("--system", PERF, "--task=program", *sysroot, "--", program)
    assert under["hello"]["main"] == alone[""]["main"] > 0
    assert set(under) == {"hello", *alone, "init"} and len(under) >= 4
    differing = [name for name in alone["libc.so.6.1"] if under["libc.so.6.1"][name] != alone["libc.so.6.1"][name]]
    assert len(alone["libc.so.6.1"]) > 10 * len(differing)


def stacks(path: Path) -> list[tuple[list[str], int]]:
    lines = (line.rpartition(" ") for line in path.read_text().splitlines())
    return [(names.split(";"), int(cycles)) for names, _, cycles in lines]


@each("task", [[], ["--task=program"], ["--exclude-idle"]])
def test_paths_lead_from_the_program_into_the_kernel(task: list[str], tmp_path: Path) -> None:
    """Their cycles are all that are counted, and the kernel's functions are called by those of the program."""
    exported = tmp_path / "paths"
    command = ("--", str(REAL / "gzip"), "-c", "inputs/text40k.txt")
    options = ("--system", PERF, *task, "--guest-file", f"{REAL / 'inputs'}=inputs", "--no-cmd-output")
    assert pfmon(*options, "--export", f"collapsed:{exported}", *command).returncode == 0
    counted = pfmon(*options, "-k", "-u", "-e", "cpu_cycles", *command)
    found = stacks(exported)
    assert sum(cycles for _, cycles in found) == int(counted.stdout.split()[0])
    reading = [names for names, _ in found if "sys_read" in names]
    in_program = [names for names in reading if "read [gzip]" in names]
    assert in_program and all(names.index("read [gzip]") < names.index("sys_read") for names in in_program)
    assert all("main [gzip]" in names for names in in_program)
    faults = [names for names, _ in found if "ia64_do_page_fault" in names and "deflate [gzip]" in names]
    assert faults and all(names.index("deflate [gzip]") < names.index("ia64_do_page_fault") for names in faults)
    deflating = sum(cycles for names, cycles in found if names[-1] == "deflate [gzip]")
    assert deflating > 100_000
    if task == ["--task=program"]:
        assert not [names for names, _ in found if "kthread" in names or "cpu_idle_loop" in names]


def test_breakdown_of_a_task_is_what_is_counted_of_it() -> None:
    command = ("--", str(EXAMPLES / SMALL[0]), SMALL[1])
    options = ("--system", PERF, "--task=program", "--no-cmd-output")
    broken_down = json.loads(pfmon("--json", "--report=cpi", *options, *command).stdout)["report"]
    counted = pfmon("-k", "-u", "-e", "cpu_cycles,ia64_inst_retired", *options, *command).stdout.split()
    assert (broken_down["cycles"], broken_down["instructions"]) == (int(counted[0]), int(counted[2]))


def test_recorded_system_is_replayed_with_the_names_of_its_program(tmp_path: Path) -> None:
    recording = str(tmp_path / "recording")
    options = ("--json", "--no-cmd-output", "-u", "-e", "ia64_inst_retired", "--per-function")
    live = pfmon(*options, "--system", PERF, "--record", recording, "--", str(EXAMPLES / SMALL[0]), SMALL[1])
    again = pfmon(*options, "--replay", recording)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["profile"] == json.loads(live.stdout)["profile"]
    rows = {(row["name"], Path(row["object"] or "").name) for row in json.loads(again.stdout)["profile"]["functions"]}
    assert {("lookup", "hashmap"), ("[no symbol]", "init")} <= rows


def test_samples_have_the_calls_of_the_program_and_of_the_kernel() -> None:
    """fib calls itself up to fifteen times, and the kernel's handlers are called from there."""
    program = str(EXAMPLES / "fib")
    ran = pfmon(
        *("--json", "--no-cmd-output", "-k", "-u", "-e", "ia64_inst_retired", "--long-smpl-periods=100"),
        *("--smpl-stacks", "--system", PERF, "--task=program", "--", program, "15"),
    )
    assert ran.returncode == 0, ran.stderr
    samples = json.loads(ran.stdout)["samples"]
    in_fib = [one for one in samples if one["iip"] >> 61 == 2 and len(one["calls"]) > 8]
    assert in_fib and max(len({*one["calls"]}) for one in in_fib) <= 8  # main, _start and three places of fib
    of_kernel = [one for one in samples if one["iip"] >> 61 == 5]
    levels = [[call >> 61 for call in one["calls"]] for one in of_kernel]
    assert any(2 in calls for calls in levels)
    assert all(calls == sorted(calls, key=lambda region: region == 2) for calls in levels)  # the program's lie below
