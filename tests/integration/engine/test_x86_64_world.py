"""What a program sees under the x86_64 engine is fixed: ids, the order of directories, /proc, random devices."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from grids import first_quick
from x86_64_host import AVX512, ENGINE, MARKS, PFMON, V3, WAYS, compiled, counted, pfmon

PYTHON = "/usr/bin/python3"

EXECUTED = """
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
int main(int count, char **words) {
    char name[16];
    prctl(PR_GET_NAME, name);
    printf("%s %s %s\\n", (char *)getauxval(AT_EXECFN), words[0], name);
}
"""


@pytest.mark.slow
def test_program_named_relative_to_its_directory_counts_the_same_in_each(tmp_path: Path) -> None:
    """AT_EXECFN and the stack below it are the path that was given, as natively (getauxval(3))."""
    counts = set()
    for name in ("one", "another-directory"):
        place = tmp_path / name
        place.mkdir()
        (place / "executed.c").write_text(EXECUTED)
        subprocess.run(["cc", "-o", "executed", "executed.c"], cwd=place, check=True)
        native = subprocess.run(["./executed"], cwd=place, capture_output=True, text=True, check=True).stdout
        done = subprocess.run(
            [*PFMON, "-e", "instructions_retired,unhalted_core_cycles", "--outfile=counts", "./executed"],
            cwd=place,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == native == "./executed ./executed executed\n"
        counts.add((place / "counts").read_text())
    assert len(counts) == 1


HAS_PYTHON = pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"there is no {PYTHON}")
pytestmark = MARKS


def output(program: list[str], *options: str) -> str:
    """What a program prints under the engine; it ends with 0."""
    return pfmon(ENGINE, *options, *WAYS["totals"], "--outfile=/dev/null", *program).stdout


def said(script: str, *options: str) -> Any:
    """What a Python script prints, as JSON."""
    return json.loads(output([PYTHON, "-S", "-E", "-c", f"import json, os\nprint(json.dumps({script}))"], *options))


# ---------------------------------------------------------------- ids


@pytest.mark.slow
@HAS_PYTHON
def test_ids_of_process_and_user_are_fixed() -> None:
    numbers = (
        "[os.getpid(), os.getppid(), os.getpgrp(), os.getsid(0), *os.getresuid(), *os.getresgid(), *os.getgroups()]"
    )
    assert said(numbers) == [1000, 999, 1000, 1000, *[1000] * 7]
    assert said("[os.getuid(), os.getgid(), sorted(os.sched_getaffinity(0))]", "--host-ids") == [
        os.getuid(),
        os.getgid(),
        sorted(os.sched_getaffinity(0)),
    ]


@pytest.mark.slow
@HAS_PYTHON
def test_own_files_belong_to_the_program_s_user(tmp_path: Path) -> None:
    """By stat, lstat, fstat and newfstatat; chown to the own ids changes nothing."""
    made = tmp_path / "made"
    made.touch()
    looks = f"[os.stat('{made}'), os.lstat('{made}'), os.fstat(os.open('{made}', 0)), os.stat('made', dir_fd=folder)]"
    script = f"(folder := os.open('{tmp_path}', 0), os.chown('{made}', 1000, 1000), [s[4:6] for s in {looks}])[2]"
    assert said(script) == [[1000, 1000]] * 4
    assert (made.stat().st_uid, made.stat().st_gid) == (os.getuid(), os.getgid())
    assert said(f"os.stat('{made}')[4:6]", "--host-ids") == [os.getuid(), os.getgid()]


@pytest.mark.slow
@HAS_PYTHON
def test_devices_are_numbered_and_blocks_have_one_size() -> None:
    """Natively, blocks of /proc have 1024 bytes and devices the numbers of this host."""
    paths = ["/proc", PYTHON, "/usr/bin", "/dev/null", "/proc/self"]
    devices, blocks = said(f"[[os.stat(path)[2] for path in {paths}], [os.stat(path).st_blksize for path in {paths}]]")
    host = [Path(path).stat().st_dev for path in paths]
    assert [devices.index(device) for device in devices] == [host.index(device) for device in host]
    assert {os.major(device) for device in devices} == {8} and max(map(os.minor, devices)) < 10
    assert blocks == [4096] * 5
    assert said(f"[os.stat(path)[2] for path in {paths[:4]}]", "--host-ids") == host[:4]


@pytest.mark.slow
@HAS_PYTHON
def test_ids_cannot_be_changed() -> None:
    script = """
import os
for call, wanted in ((os.setuid, 0), (os.setgid, 7), (os.setuid, 1000), (os.setgid, 1000)):
    try:
        call(wanted)
        print("done")
    except PermissionError:
        print("refused")
"""
    assert output([PYTHON, "-S", "-E", "-c", script]).split() == ["refused", "refused", "done", "done"]


@pytest.mark.slow
@HAS_PYTHON
def test_signals_and_waits_take_the_own_number() -> None:
    """kill(1000), the sender in siginfo, the parent's number in a child, the child's number from fork."""
    script = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.kill(1000, signal.SIGUSR1)
info = signal.sigwaitinfo([signal.SIGUSR1])
print(info.si_pid, info.si_uid)
child = os.fork()
if not child:
    os.kill(os.getppid(), signal.SIGUSR1)
    os._exit(os.getppid() != 1000 or os.getuid() != 1000)
print(os.waitpid(child, 0) == (child, 0))
signal.sigwaitinfo([signal.SIGUSR1])
"""
    assert output([PYTHON, "-S", "-E", "-c", script]).split() == ["1000", "1000", "True"]


def in_other_user(program: list[str], uid: int) -> subprocess.CompletedProcess[str]:
    """The program's count and output, where the user has another number."""
    words = ["unshare", "--user", f"--map-user={uid}", f"--map-group={uid}", *PFMON, *WAYS["totals"], *program]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not here")
@pytest.mark.parametrize("words", [["id"], ["ls", "-ln"]], ids=lambda words: words[0])
def test_another_user_s_counts_are_the_same(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "made").touch()
    program = [*words, str(tmp_path / "made")] if words[0] == "ls" else words
    runs = {in_other_user(program, uid).stdout for uid in (1234, 4321)}
    if runs == {""}:
        pytest.skip("this host makes no user namespaces")
    assert len(runs) == 1 and re.search(r"(uid=|\b1 )1000", next(iter(runs)))


# ---------------------------------------------------------------- directories

NAMES = ["b", "a", "zz", "a.b", "Z", "_", "10", "9", "é", "a" * 200]


def folder_of(names: list[str], folder: Path) -> Path:
    """A new folder with files of these names, made in this order."""
    folder.mkdir()
    subprocess.run(["touch", "--", *names], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("words", [["find", "."], ["ls", "-U"]], ids=lambda words: words[0])
def test_order_of_creation_changes_neither_listing_nor_count(words: list[str], tmp_path: Path) -> None:
    folders = [folder_of(NAMES, tmp_path / "one"), folder_of(NAMES[::-1], tmp_path / "two")]
    (folders[1] / "gone").touch()
    (folders[1] / "gone").unlink()
    runs = [
        subprocess.run([*PFMON, *WAYS["totals"], *words], cwd=folder, capture_output=True, check=True).stdout
        for folder in folders
    ]
    assert runs[0] == runs[1]
    listed = [os.fsdecode(line.removeprefix(b"./")) for line in runs[0].splitlines()[:-1]]
    assert [name for name in listed if name != "."] == sorted(NAMES, key=os.fsencode)


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that reads directories in all ways."""
    return compiled(tmp_path_factory.mktemp("directories"), "directories")


@pytest.mark.parametrize("count", [3, 400])
def test_directories_are_read_as_natively(count: int, directories: Path, tmp_path: Path) -> None:
    """Positions, copies of descriptors, forks, removals while reading, errors; the program says what it finds."""
    names = [f"{number:0200}" for number in range(count)]
    native = subprocess.run(
        [directories, folder_of(names, tmp_path / "native")], capture_output=True, text=True, check=True
    )
    assert output([str(directories), str(folder_of(names, tmp_path / "engine"))]) == native.stdout
    assert not list((tmp_path / "engine").iterdir())


# ---------------------------------------------------------------- /proc


@pytest.mark.slow
@HAS_PYTHON
def test_proc_shows_the_program() -> None:
    program = os.path.realpath(PYTHON)
    script = """
def text(name): return open('/proc/' + name).read()
text('self/maps')  # after which the next reads take no memory from the system
maps, stat = text('self/maps'), text('self/stat')
maps = [line.split(None, 5) for line in maps.splitlines()]
print(json.dumps({
    'exe': [os.readlink('/proc/self/exe'), os.readlink('/proc/1000/exe'), os.path.realpath('/proc/self/exe')],
    'links': [os.readlink('/proc/self'), os.readlink('/proc/thread-self')],
    'words': [text('self/cmdline').split('\\0')[:3], text('1000/cmdline').split('\\0')[:3]],
    'environment': text('self/environ').split('\\0')[:-1] == [f'{k}={v}' for k, v in os.environ.items()][:2],
    'comm': text('self/comm'),
    'processes': [name for name in os.listdir('/proc') if name.isdigit()],
    'tasks': os.listdir('/proc/1000/task'),
    'stat': text('1000/stat').split()[:7],
    'status': [line.split()[1] for line in text('self/status').splitlines() if line[:4] in ('Pid:', 'PPid', 'Uid:')],
    'relative': os.read(os.open('1000/comm', 0, dir_fd=os.open('/proc', 0)), 99).decode(),
    'files': sorted({line[5] for line in maps if len(line) > 5 and not line[5].endswith('.so.6')}),
    'below': all(int(line[0].split('-')[1], 16) <= 0x6ffffffff000 for line in maps),
    'bytes': sum(int(b, 16) - int(a, 16) for a, b in (line[0].split('-') for line in maps)),
    'size': int(stat.split()[22]),
}))
"""
    shown = json.loads(output([PYTHON, "-S", "-E", "-c", "import json, os" + script]))
    files, name = shown.pop("files"), Path(PYTHON).name[:15]
    assert shown.pop("bytes") == shown.pop("size") > 8 << 20
    assert {"[heap]", "[stack]", program} <= set(files) and not [name for name in files if "runtime" in name]
    assert shown == {
        "exe": [program] * 3,
        "links": ["1000", "1000/task/1000"],
        "words": [[PYTHON, "-S", "-E"]] * 2,
        "environment": True,
        "comm": f"{name}\n",
        "processes": ["1000"],
        "tasks": ["1000"],
        "stat": ["1000", f"({name})", "R", "999", "1000", "1000", "0"],
        "status": ["1000", "999", "1000"],
        "relative": f"{name}\n",
        "below": True,
    }


@pytest.mark.slow
@HAS_PYTHON
def test_system_files_are_fixed() -> None:
    names = ["kernel/osrelease", "kernel/hostname", "kernel/ostype"]
    script = f"[open('/proc/sys/' + name).read() for name in {names}]"
    assert said(script) == ["6.1.0\n", "pfmon\n", "Linux\n"]
    assert said("[os.uname()[1:3], os.cpu_count(), os.sysconf('SC_NPROCESSORS_CONF')]") == [["pfmon", "6.1.0"], 1, 1]
    cpus = "[open('/sys/devices/system/cpu/' + name).read() for name in ('online', 'possible', 'present')]"
    assert said(cpus) == ["0\n"] * 3
    assert said("int(float(open('/proc/uptime').read().split()[0]))") == 1000
    assert said("open('/proc/meminfo').readline().split()") == ["MemTotal:", str(8 << 20), "kB"]
    assert said("open('/proc/sys/kernel/hostname').read()", "--host-ids") == os.uname().nodename + "\n"


@HAS_PYTHON
@pytest.mark.parametrize(
    ("cpu", "has", "lacks"),
    [
        ("x86-64-v3", {"avx2", "bmi1", "bmi2", "fma", "movbe", "f16c", "abm", "xsave"}, {"avx512f", "rdrand"}),
        pytest.param(
            "x86-64-v4", {"avx2", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}, {"adx"}, marks=AVX512
        ),
        ("Nehalem", {"sse4_2", "popcnt", "lahf_lm"}, {"avx", "xsave"}),
        ("Conroe", {"ssse3", "cx16", "lm", "nx"}, {"sse4_1", "popcnt"}),
        ("zen3", {"avx2", "bmi1", "bmi2", "fma", "movbe", "f16c", "abm", "mmxext"}, {"avx512f", "aes", "erms"}),
        pytest.param("zen4", {"avx2", "avx512f", "avx512bw", "mmxext"}, {"aes", "erms"}, marks=AVX512),
    ],
)
def test_cpuinfo_is_of_the_model(cpu: str, has: set[str], lacks: set[str]) -> None:
    """Features of the levels of the System V ABI for AMD64 (3.1.1), and of these processors."""
    text = output(["cat", "/proc/cpuinfo"], f"--set=qemu.cpu={cpu}")
    fields = dict(line.replace("\t", "").split(":", 1) for line in text.splitlines() if line)
    assert fields["processor"] == " 0"
    amd_model = {"zen3": " 33", "zen4": " 97"}.get(cpu)
    assert fields["vendor_id"] == (" AuthenticAMD" if amd_model else " GenuineIntel")
    assert not amd_model or (fields["cpu family"], fields["model"]) == (" 25", amd_model)
    flags = set(fields["flags"].split())
    assert has <= flags and not lacks & flags
    assert {"fpu", "tsc", "cx8", "cmov", "mmx", "fxsr", "sse", "sse2", "syscall"} <= flags


@pytest.mark.skipif(shutil.which("ps") is None, reason="ps is not here")
def test_ps_sees_the_program_alone() -> None:
    assert output(["ps", "-e", "-o", "pid,ppid,comm"]).split() == ["PID", "PPID", "COMMAND", "1000", "999", "ps"]


@pytest.mark.parametrize(
    "words", [["ps"], ["cat", "/proc/self/maps"], ["cat", "/proc/self/stat"], ["uptime"], ["nproc"]]
)
def test_programs_that_read_proc_repeat(words: list[str], tmp_path: Path) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not here")
    runs = {pfmon(ENGINE, V3, *WAYS["totals"], *words).stdout for _ in range(3)}
    assert len(runs) == 1 and "INSTRUCTIONS_RETIRED" in next(iter(runs))


@pytest.mark.slow
@HAS_PYTHON
def test_program_that_executes_its_own_file_executes_itself(tmp_path: Path) -> None:
    words = "['python3', '-S', '-c', 'print(6 * 7)']"
    made = output([PYTHON, "-S", "-E", "-c", f"import os; os.execv('/proc/self/exe', {words})"])
    assert made == "42\n"


# ---------------------------------------------------------------- random devices


@pytest.mark.parametrize("device", ["/dev/urandom", "/dev/random"])
def test_random_device_gives_the_seed_s_bytes(device: str) -> None:
    """Opened, and inherited; another seed gives others, and so does the host."""
    read = ["od", "-An", "-N16", "-tx8", device]
    first, again, other = (output(read, f"--seed={seed}") for seed in (3, 3, 4))
    hosts = {output(read, "--seed=3", "--host-random") for _ in range(2)}
    assert first == again != other and len(hosts | {first}) == 3
    with Path(device).open("rb") as source:
        words = [*PFMON, "--seed=3", *WAYS["totals"], "--outfile=/dev/null", *read[:-1]]
        assert subprocess.run(words, stdin=source, capture_output=True, text=True, check=True).stdout == first


@pytest.mark.slow
@HAS_PYTHON
def test_descriptor_of_a_random_device_can_be_copied() -> None:
    script = "(f := os.open('/dev/urandom', 0), g := os.dup(f), os.close(f), list(os.read(g, 64)))[3]"
    assert said(script) == said(script)


def test_counts_do_not_depend_on_what_is_written_there(tmp_path: Path) -> None:
    """Writing to a random device is allowed, as natively."""
    words = ["dd", f"if={tmp_path / 'made'}", "of=/dev/urandom", "status=none"]
    (tmp_path / "made").write_bytes(bytes(64))
    assert counted(words) == counted(words)


# ---------------------------------------------------------------- arguments


@pytest.fixture(scope="module")
def bad_calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that calls the kernel with random arguments."""
    return compiled(tmp_path_factory.mktemp("calls"), "bad_calls")


@pytest.mark.parametrize("seed", first_quick(range(6)))
def test_bad_arguments_end_no_run(seed: int, bad_calls: Path) -> None:
    """Addresses at the edges of memory are refused or used, as by the kernel: the runtime does not fault."""
    assert "failed" in pfmon(ENGINE, *WAYS["totals"], str(bad_calls), str(seed), "2000").stdout
