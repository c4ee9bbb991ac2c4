"""Processes of IA-64 programs: fork, vfork, execve, their ends, and who is counted."""

import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import example
from ia64_program import write_program
from ia64_tasks import SIGCHLD, Data, call, fork, number

import pfmon

EVENT = "ia64_inst_retired"
WNOHANG = 1
MINUS_ONE = (1 << 64) - 1


def run(path: Path, **options: object) -> pfmon.Run:
    return pfmon.run(path, capture=True, events=EVENT, **options)


def store(address: int, register: str) -> list[str]:
    return [f"movl r16={address}", f"st8 [r16]={register}"]


def load(address: int, register: str) -> list[str]:
    return [f"movl r16={address}", f"ld8 {register}=[r16]"]


def test_memory_is_copied_and_the_status_comes_back(tmp_path: Path) -> None:
    """The child changes a word that the parent has read and written before, and ends with its value and 5."""
    data = Data()
    word, status = data.add("word", struct.pack("<Q", 30)), data.add("status", bytes(8))
    child = [*load(word, "r5"), "adds r5=5,r5", *store(word, "r5"), *load(word, "r4"), *call("exit_group", "r4")]
    parent = ["adds r7=0,r8", *call("wait4", "r7", status, 0, 0), "sub r5=r8,r7", *load(status, "r6")]
    parent += ["shr.u r6=r6,8", *load(word, "r4"), "add r4=r4,r6", "add r4=r4,r5", *call("exit_group", "r4")]
    done = run(write_program(tmp_path / "copied", fork(child, parent), data.bytes))
    assert done.status == 35 + 30  # of the child, and the word as the parent has it


def test_a_pipe_joins_two_processes(tmp_path: Path) -> None:
    """More than a pipe holds: the child waits for its parent, which reads to the end."""
    data = Data()
    ends, buffer = data.add("ends", bytes(8)), data.add("buffer", bytes(1 << 18))
    begin = [*call("pipe2", ends, 0), f"movl r16={ends}", "ld4 r5=[r16],4", "ld4 r6=[r16]"]
    child = [*call("close", "r5"), *call("write", "r6", buffer, 1 << 18), "shr.u r4=r8,12"]
    child += call("exit_group", "r4")
    parent = [*call("close", "r6"), "adds r7=0,r0", "read:", *call("read", "r5", buffer, 1 << 16), "add r7=r7,r8"]
    parent += ["cmp.eq p6,p7=r8,r0", "(p7) br.cond.sptk.few read", *call("wait4", -1 & (1 << 64) - 1, ends, 0, 0)]
    parent += [*store(buffer, "r7"), *call("write", 1, buffer, 8), f"movl r16={ends}", "ld4 r4=[r16]", "shr.u r4=r4,8"]
    parent += call("exit_group", "r4")
    done = run(write_program(tmp_path / "piped", [*begin, *fork(child, parent)], data.bytes))
    assert (done.status, number(done.output)) == ((1 << 18 >> 12) & 0xFF, 1 << 18)


def test_processes_that_map_a_file_shared_have_it_in_common(tmp_path: Path) -> None:
    """Each maps it by itself, at its own address: one waits for a word of it, by futex, that the other one writes; what
    both have written is in the file then."""
    (tmp_path / "file").write_bytes(bytes(0x4000))
    data = Data()
    path, time_ = data.add("path", bytes(tmp_path / "file") + b"\0"), data.add("time", struct.pack("<2q", 0, 10**7))
    status = data.add("status", bytes(8))
    opened = [*call("openat", -100 & (1 << 64) - 1, path, 2, 0), "adds r4=0,r8"]
    mapped = [*call("mmap", 0, 0x4000, 3, 1, "r4", 0), "adds r5=0,r8"]
    child = [*call("mmap", 0, 0x10000, 3, 0x22, MINUS_ONE, 0), *opened, *mapped, *call("nanosleep", time_, 0)]
    child += ["addl r17=77,r0", "st4 [r5]=r17", *call("futex", "r5", 1, 1), *call("exit_group", 0)]
    parent = [*opened, *mapped, *call("futex", "r5", 0, 0, 0), "ld4 r6=[r5],4", "addl r17=33,r0", "st4 [r5]=r17"]
    parent += [*call("wait4", MINUS_ONE, status, 0, 0), *call("exit_group", "r6")]
    done = run(write_program(tmp_path / "common", fork(child, parent), data.bytes))
    assert (done.status, done.notes) == (77, ())
    assert (tmp_path / "file").read_bytes()[:8] == struct.pack("<2I", 77, 33)


def test_a_child_that_a_signal_kills(tmp_path: Path) -> None:
    """wait4 has the signal; without WNOHANG it waits, with it there is nobody yet."""
    data = Data()
    status, time_ = data.add("status", bytes(8)), data.add("time", struct.pack("<2q", 100, 0))
    child = [*call("nanosleep", time_, 0), *call("exit_group", 1)]
    parent = ["adds r7=0,r8", *call("wait4", "r7", status, WNOHANG, 0), "adds r5=0,r8", *call("kill", "r7", 15)]
    parent += [*call("wait4", "r7", status, 0, 0), *load(status, "r4"), "add r4=r4,r5", *call("exit_group", "r4")]
    assert run(write_program(tmp_path / "killed", fork(child, parent), data.bytes)).status == 15


def test_who_has_no_child_waits_for_none(tmp_path: Path) -> None:
    lines = [*call("wait4", -1 & (1 << 64) - 1, 0, 0, 0), "adds r4=0,r8", *call("exit_group", "r4")]
    assert run(write_program(tmp_path / "childless", lines)).status == 10  # ECHILD


def test_sigchld_runs_the_parents_handler_only_if_there_is_one(tmp_path: Path) -> None:
    """Blocked, it is pending, with the child's number and status, until rt_sigtimedwait takes it."""
    data = Data()
    mask, info = data.add("mask", struct.pack("<Q", 1 << SIGCHLD - 1)), data.add("info", bytes(128))
    begin = call("rt_sigprocmask", 0, mask, 0, 8)
    parent = ["adds r7=0,r8", *call("rt_sigtimedwait", mask, info, 0, 8), "adds r5=0,r8", f"movl r16={info + 16}"]
    parent += ["ld4 r6=[r16]", "sub r6=r6,r7", f"movl r16={info + 24}", "ld4 r4=[r16]", "add r4=r4,r5", "add r4=r4,r6"]
    path = write_program(
        tmp_path / "told", [*begin, *fork(call("exit_group", 40), [*parent, *call("exit_group", "r4")])], data.bytes
    )
    assert run(path).status == SIGCHLD + 40


def execution(tmp_path: Path, target: str, arguments: list[str], flags: int = SIGCHLD) -> Path:
    """A parent that waits for a child that executes another program."""
    data = Data()
    texts = [data.add(f"text_{n}", text.encode() + b"\0") for n, text in enumerate([target, *arguments])]
    vector = data.add("vector", struct.pack(f"<{len(texts) + 1}Q", *texts, 0))
    status, nothing = data.add("status", bytes(8)), data.add("nothing", bytes(8))
    child = [*call("execve", texts[0], vector, nothing), *call("exit_group", 99)]
    parent = ["adds r7=0,r8", *call("wait4", "r7", status, 0, 0), *load(status, "r4"), "shr.u r4=r4,8"]
    lines = fork(child, [*parent, *call("exit_group", "r4")])
    if flags != SIGCHLD:
        lines = [f"movl r32={flags}" if line == f"movl r32={SIGCHLD}" else line for line in lines]
    return write_program(tmp_path / "executes", lines, data.bytes)


VFORK = 0x100 | 0x4000 | SIGCHLD


@pytest.mark.parametrize("flags", [SIGCHLD, VFORK])
def test_tasks_are_counted_as_they_are_alone(tmp_path: Path, flags: int) -> None:
    """What a program does is the same whether it is executed by pfmon or by a program."""
    path = execution(tmp_path, example("fib"), ["9"], flags)
    alone = pfmon.run([example("fib"), "9"], events=EVENT)
    done = run(path, follow_all=True)
    assert done.status == 0 and done.tasks is not None
    assert [task.name for task in done.tasks] == ["1", "1.1", "1.1:1"]
    assert done.tasks[2].retired == alone.retired == done.tasks[2].counts[0].value
    assert done.tasks[2].command == [example("fib"), "9"]
    assert done.counts[0].value == sum(task.retired for task in done.tasks) == done.retired
    only = run(path)
    assert only.counts[0].value == done.tasks[0].retired
    forked = run(path, follow_fork=True)
    assert [task.name for task in forked.tasks or ()] == ["1", "1.1"]
    assert any("executed another program" in note for note in forked.notes)


def test_the_parent_of_vfork_waits_and_sees_what_the_child_wrote(tmp_path: Path) -> None:
    data = Data()
    word = data.add("word", bytes(8))
    child = [*load(word, "r5"), "adds r5=7,r5", *store(word, "r5"), *call("exit_group", 0)]
    lines = fork(child, [*load(word, "r4"), *call("exit_group", "r4")])
    lines = [f"movl r32={VFORK}" if line == f"movl r32={SIGCHLD}" else line for line in lines]
    assert run(write_program(tmp_path / "lent", lines, data.bytes)).status == 7


def test_a_script_is_executed_by_its_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!{example('fib')} 8\n")
    script.chmod(0o755)
    done = run(execution(tmp_path, str(script), []), follow_all=True)
    assert done.tasks is not None and done.tasks[2].command[0] == example("fib")
    assert done.tasks[2].command[1:] == ["8", str(script)]


def test_relative_paths_are_those_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the program and of a script's interpreter, from the directory that the process is in; reports name both."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    interpreter = tmp_path / "sub" / "interpreter"
    interpreter.write_bytes(Path(example("fib")).read_bytes())
    script = tmp_path / "sub" / "script"
    script.write_text("#!./interpreter 8\n")
    for file in (interpreter, script):
        file.chmod(0o755)
    data = Data()
    folder, name = data.add("folder", b"sub\0"), data.add("name", b"./script\0")
    vector = data.add("vector", struct.pack("<2Q", name, 0))
    lines = [*call("chdir", folder), *call("execve", name, vector, data.add("nothing", bytes(8)))]
    done = run(write_program(tmp_path / "goes", [*lines, *call("exit_group", 99)], data.bytes), follow_exec=True)
    assert done.status == 0 and done.output is not None and done.output.startswith(b"21 ")
    assert done.tasks is not None and done.tasks[1].command == [str(interpreter), "8", "./script"]


def test_confined_programs_execute_what_is_below_the_root(tmp_path: Path) -> None:
    """A script found by a link, whose interpreter is a link, too; outside, nothing is executed. Reports have the names
    of files."""
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "fib").write_bytes(Path(example("fib")).read_bytes())
    (root / "bin" / "script").write_text("#!/interpreter 8\n")
    for name in ("fib", "script"):
        (root / "bin" / name).chmod(0o755)
    (root / "interpreter").symlink_to("bin/fib")
    (root / "alias").symlink_to("../../../bin/script")
    inside = execution(tmp_path, "/alias", [])
    done = run(inside, sysroot=root, confine=True, follow_all=True)
    assert done.output is not None and done.output.startswith(b"21 ") and done.tasks is not None
    assert done.tasks[-1].command == [str(root / "bin" / "fib"), "8", "/alias"]
    outside = execution(tmp_path, example("fib"), [])
    assert run(outside, sysroot=root, confine=True).status == 99
    assert run(outside, sysroot=root).status == 0


@pytest.mark.parametrize(
    ("content", "mode", "error"),
    [(None, 0, 2), (b"", 0o755, 8), (b"\x7fELF", 0o755, 8), (b"words", 0o644, 13), (b"#!/nowhere\n", 0o755, 2)],
)
def test_what_cannot_be_executed_leaves_the_process_as_it_is(
    tmp_path: Path, content: bytes | None, mode: int, error: int
) -> None:
    target = tmp_path / "target"
    if content is not None:
        target.write_bytes(content)
        target.chmod(mode)
    data = Data()
    name, nothing = data.add("name", bytes(target) + b"\0"), data.add("nothing", bytes(8))
    lines = [*call("execve", name, nothing, nothing), "adds r4=0,r8", *call("exit_group", "r4")]
    assert run(write_program(tmp_path / "tries", lines, data.bytes)).status == error


def test_descriptors_that_are_to_close_do(tmp_path: Path) -> None:
    """A program that executes itself, with an argument more: a descriptor is still there, another one (O_CLOEXEC) is
    not."""
    path = tmp_path / "again"
    data = Data()
    name, nothing = data.add("name", bytes(path) + b"\0"), data.add("nothing", bytes(8))
    vector = data.add("vector", struct.pack("<3Q", name, name, 0))
    first = [*call("dup3", 1, 7, 0), *call("dup3", 1, 8, 0o2000000), *call("execve", name, vector, nothing)]
    second = [*call("fcntl", 7, 1, 0), "adds r5=0,r10", *call("fcntl", 8, 1, 0), "sub r4=r8,r5"]
    lines = ["adds r16=16,r12", "ld8 r16=[r16]", "cmp.eq p6,p7=1,r16", "(p7) br.cond.sptk.few second", *first]
    write_program(path, [*lines, "second:", *second, *call("exit_group", "r4")], data.bytes)
    assert run(path).status == 9  # EBADF of the second, nothing from the first


def test_a_timer_goes_on_into_the_program_that_is_executed(tmp_path: Path) -> None:
    """10,000 instructions before, a timer of 20,000 more: the second program, which loops, has retired about those when
    the signal ends it."""
    data = Data()
    loops = write_program(tmp_path / "loops", ["again:", "br.cond.sptk.few again"])
    name, nothing = data.add("name", bytes(loops) + b"\0"), data.add("nothing", bytes(8))
    timer = data.add("timer", struct.pack("<4q", 0, 0, 0, 20))
    lines = ["movl r5=1111", "again:", "adds r5=-1,r5", "cmp.eq p6,p7=r5,r0", "(p7) br.cond.sptk.few again"]
    lines += [*call("setitimer", 0, timer, 0), *call("execve", name, nothing, nothing)]
    done = run(write_program(tmp_path / "first", lines, data.bytes), follow_exec=True)
    assert done.status == 128 + 14 and done.tasks is not None
    assert 19_000 < done.tasks[1].retired < 20_000


def test_a_fork_bomb_ends_at_the_limit(tmp_path: Path) -> None:
    bomb = write_program(
        tmp_path / "bomb", ["again:", *call("clone2", SIGCHLD, 0, 0, 0, 0, 0), "br.cond.sptk.few again"]
    )
    begun = time.monotonic()
    with pytest.raises(pfmon.PfmonError, match=r"20 processes of the program run at a time.*--follow-limit") as told:
        run(bomb, follow_limit=20)
    assert told.value.exit_status == 125  # no mistake of the command line
    assert time.monotonic() - begun < 60


@pytest.mark.slow
def test_fork_of_64_megabytes_takes_little(tmp_path: Path) -> None:
    """Touched memory is not copied: 40 forks of 64 MB, 2.5 GB in all, fit into the limit of one process and some."""
    data = Data()
    size = 64 << 20
    touch = [*call("mmap", 0, size, 3, 0x22, -1 & (1 << 64) - 1, 0), "adds r5=0,r8", f"movl r6={size >> 14}"]
    touch += ["movl r17=16384", "touch:", "st8 [r5]=r6", "add r5=r5,r17", "adds r6=-1,r6", "cmp.eq p6,p7=r6,r0"]
    touch += ["(p7) br.cond.sptk.few touch", "addl r7=40,r0", "again:"]
    parent = [*call("wait4", "r8", data.add("status", bytes(8)), 0, 0), "adds r7=-1,r7", "cmp.eq p6,p7=r7,r0"]
    parent += ["(p7) br.cond.sptk.few again", *call("exit_group", 0)]
    path = write_program(tmp_path / "large", [*touch, *fork(call("exit_group", 0), parent)], data.bytes)
    script = f"import pfmon; r = pfmon.run({str(path)!r}, follow_fork=True, events={EVENT!r}); " + (
        "assert r.status == 0 and len(r.tasks) == 41; "  # ru_maxrss would be that of who began this, if that had more
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    peak = int(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True).stdout)
    assert peak < (64 + 64 + 120) << 10  # kilobytes: the program's, and Python with all tasks


def test_shared_memory_is_one_and_a_futex_in_it_too(tmp_path: Path) -> None:
    """The parent waits for a word that its child sets and wakes."""
    data = Data()
    begin = [*call("mmap", 0, 0x4000, 3, 0x21, -1 & (1 << 64) - 1, 0), "adds r6=0,r8"]
    time_ = data.add("time", struct.pack("<2q", 0, 1000))
    child = [*call("nanosleep", time_, 0), "addl r17=77,r0", "st4 [r6]=r17", *call("futex", "r6", 1, 1)]
    child += ["adds r4=0,r8", *call("exit_group", "r4")]
    parent = ["adds r7=0,r8", *call("futex", "r6", 0, 0, 0), "ld4 r4=[r6]"]
    parent += [*call("wait4", "r7", data.add("status", bytes(8)), 0, 0), *load(data.at["status"], "r5")]
    parent += ["shr.u r5=r5,8", "add r4=r4,r5", *call("exit_group", "r4")]
    assert run(write_program(tmp_path / "shared", [*begin, *fork(child, parent)], data.bytes)).status == 78


def test_monitors_of_a_child_are_on_even_if_the_parents_are_off(tmp_path: Path) -> None:
    """The parent switches its own with rum, as --insecure lets it; each task has a PMU of its own."""
    data = Data()
    loop = ["addl r5=1000,r0", "again:", "adds r5=-1,r5", "cmp.eq p6,p7=r5,r0", "(p7) br.cond.sptk.few again"]
    parent = [*call("wait4", "r8", data.add("status", bytes(8)), 0, 0), *call("exit_group", 0)]
    lines = ["rum 4", *fork([*loop, *call("exit_group", 0)], parent)]
    done = run(write_program(tmp_path / "off", lines, data.bytes), follow_fork=True, insecure=True)
    assert done.tasks is not None
    first, child = (task.counts[0].value for task in done.tasks)
    assert first is not None and child is not None and first < 20 and child > 3 * 3 * 1000


def test_groups_get_signals_together(tmp_path: Path) -> None:
    """kill(0) reaches the parent, which ignores it, and the child, which does not."""
    data = Data()
    ignore = data.add("ignore", struct.pack("<3Q", 1, 0, 0))
    default = data.add("default", struct.pack("<3Q", 0, 0, 0))
    status, time_ = data.add("status", bytes(8)), data.add("time", struct.pack("<2q", 100, 0))
    child = [*call("rt_sigaction", 15, default, 0, 8), *call("sched_yield"), *call("nanosleep", time_, 0)]
    short = data.add("short", struct.pack("<2q", 0, 500_000))
    parent = [*call("nanosleep", short, 0), *call("kill", 0, 15), *call("wait4", -1 & (1 << 64) - 1, status, 0, 0)]
    parent += [*load(status, "r4"), *call("exit_group", "r4")]
    lines = [*call("rt_sigaction", 15, ignore, 0, 8), *fork([*child, *call("exit_group", 0)], parent)]
    assert run(write_program(tmp_path / "group", lines, data.bytes)).status == 15


@pytest.mark.slow
def test_nothing_is_left_when_pfmon_is_killed(tmp_path: Path) -> None:
    """All processes of the programs are one of the host."""
    data = Data()
    time_ = data.add("time", struct.pack("<2q", 0, 1000))
    path = write_program(
        tmp_path / "many",
        [*call("clone2", SIGCHLD, 0, 0, 0, 0, 0), "again:", *call("nanosleep", time_, 0), "br.cond.sptk.few again"],
        data.bytes,
    )
    running = subprocess.Popen([sys.executable, "-m", "pfmon", "-e", EVENT, str(path)])
    time.sleep(0.5)
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text()
    running.kill()
    running.wait()
    assert children == ""
    assert not any(str(path) in _command(entry) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
