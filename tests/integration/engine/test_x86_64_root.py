"""x86-64 programs with --sysroot and --confine find files as after chroot(2), and nothing outside of the root."""

import ctypes
import os
import re
import shlex
import shutil
import socket
import struct
import subprocess
from pathlib import Path

import pytest
from command import refused
from grids import first_quick
from preloaded import preloaded
from x86_64_host import ENGINE, MARKS, PFMON, counted

PYTHON = "/usr/bin/python3"
SUPPORT = Path(__file__).resolve().parents[2] / "support"
NEEDS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root changes the root")
TOTALS = ["-e", "instructions_retired", "--outfile=/dev/null"]
pytestmark = MARKS


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Static programs: `root`, which makes all calls with paths, and `hostile`."""
    made = tmp_path_factory.mktemp("programs")
    for name in ("root", "root_random", "hostile"):
        source = SUPPORT / f"x86_64_{name}.c"
        subprocess.run(["cc", "-O1", "-w", "-static", "-fno-stack-protector", "-o", made / name, source], check=True)
    return made


def make_root(root: Path, program: Path) -> Path:
    """A root with files, links that lead out of it, and scripts; the program is /program."""
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "file").write_text("inside")
    links = {"self": "/file", "sub/next": "../../secret", "loop": "loop", "dangling": "later", "dangling-2": "/nowhere"}
    for name, target in {**links, "to-program": "/program"}.items():
        (root / name).symlink_to(target)
    shutil.copy(program, root / "program")
    scripts = {"script": "#! /program  child  \nrest\n", "script-2": "#!/script", "script-3": "#!missing\n"}
    for name, text in {**scripts, "script-loop": "#!/script-loop\n", "text": "text"}.items():
        (root / name).write_text(text)
        (root / name).chmod(0o755)
    (root / "file").chmod(0o644)
    return root


def run(root: Path, *words: str | Path, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """What a confined program prints."""
    command = [*PFMON, *TOTALS, f"--sysroot={root}", "--confine", *options, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60)


# ---------------------------------------------------------------- as in a root of its own


@NEEDS_ROOT
def test_calls_with_paths_give_what_they_give_after_chroot(programs: Path, tmp_path: Path) -> None:
    """Descriptors, contents, errors, links, rights, times, directories, sockets, scripts and executed programs."""
    one, other = (make_root(tmp_path / name, programs / "root") for name in ("one", "other"))
    native = subprocess.run(["chroot", one, "/program"], capture_output=True, text=True, check=True, timeout=10)
    found = run(other, other / "program")
    assert found.returncode == 0 and found.stdout.splitlines() == native.stdout.splitlines()
    assert len(native.stdout.splitlines()) > 250


@NEEDS_ROOT
@pytest.mark.parametrize("seed", first_quick(range(20)))
def test_random_calls_do_what_they_do_after_chroot(programs: Path, tmp_path: Path, seed: int) -> None:
    """The same ones succeed and have the same effects. Of those that fail for two reasons at once some say the other
    one (of 3000 calls less than six)."""
    one, other = tmp_path / "one", tmp_path / "other"
    for root in (one, other):
        root.mkdir()
        shutil.copy(programs / "root_random", root / "program")
    words = [str(seed), "3000"]
    native = subprocess.run(["chroot", one, "/program", *words], capture_output=True, text=True, check=True, timeout=10)
    found = run(other, other / "program", *words)
    pairs = list(zip(native.stdout.splitlines(), found.stdout.splitlines(), strict=True))
    differing = [(wanted, got) for wanted, got in pairs if wanted != got]
    assert len(pairs) == 3000 and len(differing) < 6, differing
    assert not [got for pair in differing for got in pair if "done" in got or " -1, 0 0" not in got]
    assert sum("done" in wanted for wanted, _ in pairs) > 500
    assert tree(one) == tree(other)


def tree(root: Path) -> list[tuple[str, int, int, str]]:
    """All names below a root, with rights and kind, size, and where links lead."""
    found = []
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        size = 0 if path.is_dir() else status.st_size
        target = str(path.readlink()) if path.is_symlink() else ""
        found.append((str(path.relative_to(root)), status.st_mode, size, target))
    return found


# ---------------------------------------------------------------- nothing leads out


@pytest.fixture
def outside(tmp_path: Path, programs: Path) -> Path:
    """A directory with a secret beside a root."""
    (tmp_path / "secret").write_bytes(b"outside")
    (tmp_path / "secret").chmod(0o600)
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "more").write_bytes(b"outside")
    root = make_root(tmp_path / "root", programs / "root")
    secret = str(tmp_path / "secret")
    links = {"absolute": secret, "relative": "../secret", "far": "../" * 30 + secret, "chain": "sub/next", "up": ".."}
    links |= {"directory": str(tmp_path / "private"), "proc": f"/proc/self/root{secret}"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    return tmp_path


def escapes(outside: Path) -> list[str]:
    """Names that would lead out, or are of what a confined program does not have."""
    secret, socket_path = str(outside / "secret"), str(outside / "private" / "socket")
    climbing = "/".join([".."] * 30)
    return [
        *(secret, f"/..{secret}", f"/{climbing}{secret}", f"{climbing}{secret}", "/../secret", "../secret"),
        *("/sub/../../secret", "/sub/deep/../../../secret", "/absolute", "/relative", "/far", "/chain"),
        *("/directory/more", "/up/secret", "/up/../secret", "/proc", f"/proc/self/root{secret}"),
        *(f"/proc/self/cwd/..{secret}", f"/proc/1/root{secret}", f"/proc/{os.getpid()}/root{secret}"),
        *(f"/proc/thread-self/root{secret}", "/proc/self/fd/3/../../secret", f"/proc/self/fd/../root{secret}"),
        *("/proc/self/exe", "/proc/self/root", "/proc/self/mem", "/proc/1/environ", "/proc/1000/root/etc"),
        *("/etc/passwd", "/dev/mem", "/dev/fd/0/../../secret", f"//{secret}", f"/./..{secret}", "/sys/kernel"),
        socket_path,
    ]


def test_no_name_leads_out(outside: Path) -> None:
    """By calls of all kinds (``finds`` of x86_64_root.c)."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(outside / "private" / "socket"))
        server.listen()
        found = run(outside / "root", outside / "root" / "program", "finds", *escapes(outside))
    assert (found.returncode, found.stdout) == (0, "")
    assert (outside / "secret").read_bytes() == (outside / "private" / "more").read_bytes() == b"outside"
    assert (outside / "secret").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in (outside / "private").iterdir()) == ["more", "socket"]


def test_names_that_are_found_natively_are_those_that_are_tried(outside: Path) -> None:
    """The same calls without pfmon find the secret in all ways but by its socket and its attribute."""
    done = subprocess.run(
        [outside / "root" / "program", "finds", outside / "secret"], capture_output=True, text=True, check=True
    )
    assert int(done.stdout.split()[-1], 16) & 0b1001_1011_1101_1111 == 0b1001_1011_1101_1111


SWAP = """
import os, sys
os.chdir(sys.argv[1])
print(flush=True)
while True:
    os.rename("here", "spare"); os.rename("link", "here")
    os.rename("here", "link"); os.rename("spare", "here")
"""


@pytest.mark.slow
def test_renaming_meanwhile_leads_nowhere_outside(outside: Path) -> None:
    root = outside / "root"
    (root / "here").mkdir()
    (root / "here" / "file").write_text("inside")
    (root / "link").symlink_to("../private")
    with subprocess.Popen(["/usr/bin/env", "python3", "-c", SWAP, root], stdout=subprocess.PIPE) as other:
        assert other.stdout
        other.stdout.readline()
        found = run(root, root / "program", "finds", *["/here/more"] * 2000)
        other.kill()
    assert (found.returncode, found.stdout) == (0, "")
    assert (outside / "private" / "more").read_bytes() == b"outside"


# ---------------------------------------------------------------- a hostile program


def hostile_results(text: str) -> list[tuple[str, int]]:
    """The calls that code behind the engine's back has made, and what the kernel has answered."""
    return [(name, int(result)) for name, result in re.findall(r"^(\w+) (-?\d+)$", text, re.MULTILINE)]


def with_socket(place: Path) -> socket.socket:
    (place / "secret").write_bytes(b"outside")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(place / "socket"))
    server.listen()
    return server


def test_hostile_program_without_the_engine_does_what_it_tries(programs: Path, tmp_path: Path) -> None:
    """Its attempts succeed without confinement, but for those that need a prepared place."""
    with with_socket(tmp_path):
        done = subprocess.run(
            [programs / "hostile", "native", tmp_path], capture_output=True, text=True, check=False, timeout=10
        )
    results = dict(hostile_results(done.stdout))
    expected = {"open", "openat2", "stat", "chmod", "utimensat", "truncate", "chdir", "renameat2", "connect", "ptrace"}
    assert expected <= {name for name, result in results.items() if result >= 0}


def test_kernel_holds_a_hostile_program(programs: Path, outside: Path) -> None:
    """Its own system calls are refused: also in a process of the runtime that it has executed without the option. The
    pages of the names that the filter takes are sealed."""
    root = outside / "root"
    shutil.copy(programs / "hostile", root / "hostile")
    folder = outside / "private"
    with with_socket(folder):
        done = run(root, root / "hostile", "engine", folder)
    results = hostile_results(done.stdout)
    assert [result for name, result in results if name == "sealed"] == [25, 25, 25, 25]
    succeeded = {name for name, result in results if result >= 0 and name not in ("sealed", "inside")}
    assert not succeeded and len(results) > 70
    assert "replaced" not in dict(results)
    assert (folder / "secret").read_bytes() == b"outside" and not (folder / "made").exists()
    assert done.returncode == 125 and "pfmon's memory" in done.stderr


WAITS = """
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words) {
    char input;
    if (count < 2)
        execl("/wait", "wait", "x", NULL);
    puts("ready");
    fflush(stdout);
    return read(0, &input, 1) != 0;
}
"""


def runtime_status(process: Path, program: Path) -> str:
    """The status of a process of the runtime that executes the program; empty: another one, or one that has ended."""
    try:
        if os.fsencode(program) in (process / "cmdline").read_bytes() and "x86_64-runtime" in str(
            (process / "exe").readlink()
        ):
            return (process / "status").read_text()
    except OSError:
        pass
    return ""


def test_every_process_of_a_confined_run_has_the_filter(outside: Path) -> None:
    """Landlock is not in /proc, but the filter and no_new_privs are; here of a program that a script has executed."""
    root = outside / "root"
    (root / "wait").write_text("#!/program child\n")
    (root / "wait").chmod(0o755)
    source = outside / "wait.c"
    source.write_text(WAITS)
    subprocess.run(["cc", "-w", "-static", "-o", root / "program", source], check=True)
    command = [*PFMON, *TOTALS, f"--sysroot={root}", "--confine", root / "program"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin and process.stdout and process.stdout.readline() == b"ready\n"
        found = [text for one in Path("/proc").glob("[0-9]*") if (text := runtime_status(one, root / "program"))]
        process.stdin.close()
    assert len(found) == 1 and "Seccomp:\t2\n" in found[0] and "NoNewPrivs:\t1\n" in found[0]


# ---------------------------------------------------------------- with --sysroot alone


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with `ls`, `cat` and `sh` of the host and their libraries."""
    root = tmp_path_factory.mktemp("linked")
    for name in ("ls", "cat", "sh"):
        program = os.path.realpath(shutil.which(name) or "")
        told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for path in [*re.findall(r"/[^ ]*", told)]:
            (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / path[1:])
        (root / "bin").mkdir(exist_ok=True)
        shutil.copy(program, root / "bin" / name)
    (root / "etc").mkdir()
    (root / "etc" / "mine").write_text("mine\n")
    return root


def test_program_with_its_libraries_counts_the_same_with_a_root(linked: Path, tmp_path: Path) -> None:
    """Named as in its root, with the same files; and in a root that holds nothing."""
    (tmp_path / "empty").mkdir()
    program = [str(linked / "bin" / "cat"), str(linked / "etc" / "mine")]
    counts = {
        counted(program),
        counted(program, "-e", "instructions_retired", f"--sysroot={tmp_path / 'empty'}"),
        counted(program, "-e", "instructions_retired", "--slow"),
    }
    assert len(counts) == 1
    inside = [program[0], "/etc/mine"]
    wanted = ("-e", "instructions_retired", f"--sysroot={linked}")
    assert counted(inside, *wanted) == counted(inside, *wanted, "--slow")


def test_confined_counts_are_the_same_each_time(linked: Path) -> None:
    words = ("-e", "instructions_retired", f"--sysroot={linked}", "--confine")
    program = [str(linked / "bin" / "sh"), "-c", "cd /etc; echo *; read x < mine; exit 0"]
    assert counted(program, *words) == counted(program, *words) == counted(program, *words, "--slow")


def test_files_are_found_below_the_root_first_and_else_where_the_user_has_them(linked: Path, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("own\n")
    words = [str(linked / "bin" / "cat"), "/etc/mine", str(tmp_path / "own"), "own"]
    command = [*PFMON, *TOTALS, f"--sysroot={linked}", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "mine\nown\nown\n")


FOLDER = "/pfmon-test-folder"
"""Which is not on the host, so that nothing is made there."""
IN_ROOT = f"""
import os, socket
os.chmod('{FOLDER}/one', 0o600)
os.rename('{FOLDER}/one', '{FOLDER}/two')
os.truncate('{FOLDER}/link', 7)
os.utime('{FOLDER}/two', (1, 2))
print(open('{FOLDER}/link').read(), os.readlink('{FOLDER}/link'))
print(os.listdir('{FOLDER}'), os.stat('{FOLDER}/two').st_mtime)
client = socket.socket(socket.AF_UNIX)
client.connect('{FOLDER}/socket')
datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
print(datagrams.sendto(b'one', '{FOLDER}/datagrams'), datagrams.sendmsg([b'two'], [], 0, '{FOLDER}/datagrams'))
os.chdir('{FOLDER}')
print(os.getcwd(), os.readlink('/proc/self/cwd'), os.path.exists('/usr/bin'))
try:
    os.link('{FOLDER}/two', '{FOLDER}/three')
except FileNotFoundError:
    print('not there')
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"there is no {PYTHON}")
def test_names_of_all_kinds_are_those_below_the_root_that_are_there(tmp_path: Path) -> None:
    """Both names of a call, links, sockets, the working directory; a name that is not there is the host's."""
    place = tmp_path / FOLDER[1:]
    place.mkdir()
    (place / "one").write_text("content")
    (place / "two").write_text("")
    (place / "link").symlink_to(f"{FOLDER}/two")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams:
        server.bind(str(place / "socket"))
        server.listen()
        datagrams.bind(str(place / "datagrams"))
        words = [*PFMON, *TOTALS, f"--sysroot={tmp_path}", PYTHON, "-S", "-I", "-c", IN_ROOT]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.stdout.splitlines() == [
            f"content {FOLDER}/two",
            "['datagrams', 'link', 'socket', 'two'] 2.0",
            "3 3",
            f"{FOLDER} {FOLDER} True",
            "not there",
        ]
        assert (datagrams.recv(9), datagrams.recv(9)) == (b"one", b"two")


def test_executed_programs_have_the_root_too(linked: Path, tmp_path: Path) -> None:
    """The shell's child and a script find their interpreter, their libraries and their files below the root."""
    script = linked / "script"
    script.write_text("#!/bin/sh\ncat /etc/mine /proc/self/maps\n")
    script.chmod(0o755)
    words = [linked / "bin" / "sh", "-c", "cat /etc/mine; PATH=/bin /script"]
    done = subprocess.run(
        [*PFMON, *TOTALS, f"--sysroot={linked}", "--env=PATH=/bin", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and done.stdout.startswith("mine\nmine\n")
    assert re.search(r" /bin/cat$", done.stdout, re.MULTILINE) and str(linked) not in done.stdout


@pytest.mark.parametrize("confine", [(), ("--confine",)], ids=["sysroot", "confine"])
def test_script_as_the_program_has_its_interpreter_and_its_name_in_the_root(
    linked: Path, confine: tuple[str, ...]
) -> None:
    script = linked / "named"
    script.write_text("#!/bin/sh -e\necho $0 $*\nreadlink /proc/self/exe || cat /etc/mine\n")
    script.chmod(0o755)
    words = [*PFMON, *TOTALS, f"--sysroot={linked}", *confine, "--env=PATH=/bin", script, "x"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "/named x"


def test_names_are_those_in_the_root(linked: Path) -> None:
    """Of the program, the working directory and mappings."""
    script = "cd /etc; pwd; cat /proc/self/maps; ls /proc/self/exe -l 2>&1"
    found = run(linked, linked / "bin" / "sh", "-c", script, options=("--env=PATH=/bin",))
    assert found.stdout.startswith("/etc\n") and str(linked) not in found.stdout
    assert re.search(r" /bin/cat$", found.stdout, re.MULTILINE)


# ---------------------------------------------------------------- refusals


def test_follow_is_refused_with_confine(linked: Path) -> None:
    said = refused(
        "-e", "instructions_retired", f"--sysroot={linked}", "--confine", "--follow-fork", str(linked / "bin/ls")
    )
    assert "--confine" in said and "qemu" in said


KERNEL_WITHOUT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
long syscall(long number, long a, long b, long c, long d, long e, long f)
{
    static long (*real)(long, ...);
    if (!real)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (number == MISSING) {
        errno = ENOSYS;
        return -1;
    }
    return real(number, a, b, c, d, e, f);
}
"""


@pytest.mark.parametrize(
    ("missing", "said"), [(444, "Landlock with ABI 6 (Linux 6.12)"), (317, "seccomp"), (462, "mseal"), (437, "openat2")]
)
def test_kernel_that_holds_no_program_refuses_the_option(
    missing: int, said: str, tmp_path: Path, programs: Path
) -> None:
    library = preloaded(KERNEL_WITHOUT, tmp_path, f"-DMISSING={missing}")
    words = [*PFMON[:-1], *TOTALS, f"--sysroot={tmp_path}", "--confine", programs / "root"]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("pfmon: --confine wants") and said in done.stderr


def without_landlock() -> None:
    """Let landlock_restrict_self fail with EPERM, here and in all that begins here (seccomp(2))."""
    load, equal, end, refused_call, allowed = (0x20, 0), (0x15, 446), 0x06, 0x0005_0001, 0x7FFF_0000
    steps = [(load[0], 0, 0, load[1]), (equal[0], 0, 1, equal[1]), (end, 0, 0, refused_call), (end, 0, 0, allowed)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("=H6xQ", len(steps), ctypes.addressof(code)))
    library = ctypes.CDLL(None, use_errno=True)
    assert library.prctl(38, 1, 0, 0, 0) == 0 and library.prctl(22, 2, program) == 0


def test_run_ends_where_the_kernel_does_not_restrict_the_process(outside: Path) -> None:
    """Though it said that it could: the program does not begin."""
    root = outside / "root"
    words = [*PFMON, *TOTALS, f"--sysroot={root}", "--confine", root / "program", "child"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, preexec_fn=without_landlock)
    assert (done.returncode, done.stdout) == (125, "")
    assert "the kernel does not keep it below --sysroot (--confine)" in done.stderr


def test_root_with_what_leads_out_is_refused(programs: Path) -> None:
    """The memory of processes in /proc, and pfmon's own program."""
    for root, said in (("/", "pfmon in it"), ("/proc", "mounted /proc, which is at /proc")):
        words = (ENGINE, "-e", "instructions_retired", f"--sysroot={root}", "--confine", str(programs / "root"))
        assert said in refused(*words)


def test_limit_of_descriptors_that_is_too_low_refuses_the_option(tmp_path: Path, programs: Path) -> None:
    command = shlex.join(map(str, [*PFMON, *TOTALS, f"--sysroot={tmp_path}", "--confine", programs / "root"]))
    done = subprocess.run(["sh", "-c", f"ulimit -n 500; {command}"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "1024 descriptors, and the limit is 500" in done.stderr


@pytest.mark.parametrize(("options", "family"), [((), socket.AF_UNIX), (("--net",), socket.AF_INET)])
def test_sockets_are_of_one_kind(options: tuple[str, ...], family: int, tmp_path: Path) -> None:
    """UNIX sockets without --net, those of IPv4 and IPv6 with it; none of the other families."""
    source = tmp_path / "sockets.c"
    source.write_text(SOCKETS)
    (tmp_path / "root").mkdir()
    program = tmp_path / "root" / "sockets"
    subprocess.run(["cc", "-w", "-static", "-o", program, source], check=True)
    found = run(tmp_path / "root", program, options=options)
    kinds = {(family, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET)}
    kinds -= {(socket.AF_UNIX, socket.SOCK_DGRAM), (socket.AF_INET, socket.SOCK_SEQPACKET)}
    made = {tuple(map(int, line.split())) for line in found.stdout.splitlines()}
    assert {(one, kind) for one, kind in made if one != socket.AF_INET6} == kinds
    assert found.stderr == ""


SOCKETS = """
#include <stdio.h>
#include <sys/socket.h>
int main(void) {
    static const int kinds[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    for (int family = 0; family < 45; family++)
        for (int i = 0; i < 3; i++)
            if (socket(family, kinds[i] | SOCK_CLOEXEC, 0) >= 0)
                printf("%d %d\\n", family, kinds[i]);
}
"""
