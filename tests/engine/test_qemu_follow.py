"""Children, and programs that are executed, under qemu: each is counted by itself, and nothing is left behind."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import pytest
from qemu_guests import ASSEMBLER, QEMU, assemble, compile_c

import pfmon
from pfmon.session.tasks import TaskCounts

pytestmark = [QEMU, ASSEMBLER, pytest.mark.slow]

EVENT = "INSTRUCTIONS_RETIRED"
EXIT = "mov $60, %eax\n mov ${}, %edi\n syscall\n"
WAIT = "mov $61, %eax\n mov $-1, %rdi\n xor %esi, %esi\n xor %edx, %edx\n xor %r10d, %r10d\n syscall\n"
FORKING = f"""
_start: mov ${{call}}, %eax
 syscall
 test %eax, %eax
 jz 2f
 {WAIT}
 {EXIT.format(3)}
2: mov $1000, %ecx
1: dec %ecx
 jnz 1b
 {EXIT.format(7)}
"""
FORKING_PARENT, FORKING_CHILD = 13, 2006
"""Instructions of FORKING."""


def follow(*command: str | Path, **options: object) -> pfmon.Run:
    """Run a program with everything that it starts; its output is kept."""
    options = {"events": [EVENT], "follow_all": True, "capture": True, **options}
    return pfmon.run(list(command), **options)  # type: ignore[arg-type]


def tasks(run: pfmon.Run) -> dict[str, TaskCounts]:
    assert run.tasks is not None
    return {task.name: task for task in run.tasks}


def counted(run: pfmon.Run) -> dict[str, int]:
    """Instructions by task; the event and the engine say the same, and the total is their sum."""
    found = {task.name: int(task.counts[0].value or 0) for task in run.tasks or ()}
    assert found == {task.name: task.retired for task in run.tasks or ()}
    assert run.counts[EVENT].value == run.retired == sum(found.values())
    return found


@pytest.mark.parametrize("call", [57, 58], ids=["fork", "vfork"])
def test_parent_and_child_have_counts_of_their_own(call: int, tmp_path: Path) -> None:
    run = follow(assemble(tmp_path, FORKING.format(call=call)), follow_all=False, follow_fork=True)
    assert counted(run) == {"1": FORKING_PARENT, "1.1": FORKING_CHILD}
    assert run.status == 3
    assert {name: task.status for name, task in tasks(run).items()} == {"1": 3, "1.1": 7}


def test_tasks_are_named_by_their_places_in_the_tree(tmp_path: Path) -> None:
    code = f"""
_start: mov $57, %eax
 syscall
 test %eax, %eax
 jnz 1f
 mov $57, %eax
 syscall
 test %eax, %eax
 jz 2f
 {WAIT}
2: {EXIT.format(0)}
1: mov $57, %eax
 syscall
 test %eax, %eax
 jz 2b
 {WAIT}
 {WAIT}
 {EXIT.format(0)}
"""
    program = assemble(tmp_path, code)
    first = follow(program)
    assert counted(first) == {"1": 4 + 4 + 12 + 3, "1.1": 2 + 4 + 6 + 3, "1.1.1": 2 + 3, "1.2": 2 + 3}
    assert counted(follow(program)) == counted(first)


def test_child_knows_the_code_that_its_parent_has_translated(tmp_path: Path) -> None:
    """Parent and child execute the same function, before and behind fork, and the child another one."""
    program = compile_c(
        tmp_path,
        """
#include <sys/wait.h>
#include <unistd.h>
static volatile long sum;
static void __attribute__((noinline)) both(long n) { for (long i = 0; i < n; i++) sum += i; }
static void __attribute__((noinline)) child(long n) { for (long i = 0; i < n; i++) sum ^= i; }
int main(int argc, char **argv) {
    both(1000);
    if (fork() == 0) { both(argc > 1 ? 100000 : 50000); child(70000); _exit(0); }
    wait(NULL);
    both(1000);
    return 0;
}
""",
        "-static",
    )
    less, more = counted(follow(program)), counted(follow(program, "x"))
    assert more["1.1"] - less["1.1"] == pytest.approx(50000 * 5, abs=50010)
    assert abs(more["1"] - less["1"]) < 100
    assert counted(follow(program)) == less


CALLED = f"""
_start: mov $100, %ecx
 call 5f
 mov $57, %eax
 syscall
 test %eax, %eax
 jz 2f
 {WAIT}
 {EXIT.format(0)}
2: mov $50, %ecx
 call 5f
 {EXIT.format(0)}
5: dec %ecx
 jnz 5b
 ret
"""


@pytest.mark.parametrize("options", [{}, {"slow": True}], ids=["blocks", "slow"])
def test_inherited_code_counts_as_what_it_is(options: dict[str, object], tmp_path: Path) -> None:
    run = follow(assemble(tmp_path, CALLED), events=[EVENT, "BRANCH_INSTRUCTIONS_RETIRED"], **options)
    assert [[count.value for count in task.counts] for task in run.tasks or ()] == [[216, 103], [108, 53]]


EXECUTING = """
_start: mov $59, %eax
 lea path(%rip), %rdi
 lea arguments(%rip), %rsi
 xor %edx, %edx
 syscall
 neg %eax
 mov %eax, %edi
 mov $60, %eax
 syscall
.data
path: .asciz "{path}"
other: .asciz "other name"
.align 8
arguments: .quad other, 0
"""


def test_executed_program_counts_as_it_does_alone(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = assemble(tmp_path / "other", FORKING.format(call=57))
    run = follow(assemble(tmp_path, EXECUTING.format(path=other)))
    assert counted(run) == {"1": 5, "1:1": FORKING_PARENT, "1.1": FORKING_CHILD}
    assert run.status == 3
    assert [tasks(run)[name].status for name in ("1", "1:1", "1.1")] == [None, 3, 7]
    assert tasks(run)["1:1"].command == [str(other)]


@pytest.mark.parametrize(("make", "error"), [("none", 2), ("plain", 13), ("directory", 13), ("text", 8)])
def test_program_that_cannot_be_executed_is_the_program_s_trouble(make: str, error: int, tmp_path: Path) -> None:
    path = tmp_path / "other"
    if make == "directory":
        path.mkdir()
    elif make != "none":
        path.write_text("no program at all")
        path.chmod(0o755 if make == "text" else 0o644)
    run = follow(assemble(tmp_path, EXECUTING.format(path=path)))
    assert run.status == error
    assert counted(run) == {"1": 9}
    assert run.notes == ()


SHOWING = """
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) {
    char directory[4096];
    struct sigaction old;
    sigset_t blocked;
    for (int i = 0; i < argc; i++) printf("%s|", argv[i]);
    for (char **one = environ; *one; one++) printf("%s|", *one);
    sigaction(SIGUSR1, NULL, &old);
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    printf("%s|%d|%d|", getcwd(directory, 4096), old.sa_handler == SIG_IGN, sigismember(&blocked, SIGUSR2));
    for (int i = 3; i < 900; i++) if (fcntl(i, F_GETFD) >= 0) printf("%d,", i);
    printf("\\n");
    return 0;
}
"""
PREPARING = """
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char *words[] = {"a name", "-x", "--", "a b,c", "", NULL}, *variables[] = {"A=1,2", "EMPTY=", "B=3", NULL};
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    signal(SIGUSR1, SIG_IGN);
    if (open("/dev/null", O_RDONLY) != 3 || open("/dev/null", O_RDONLY | O_CLOEXEC) != 4 || dup2(0, 7) != 7) return 9;
    chdir(argv[1]);
    execve("other/program", words, variables);
    perror("other/program");
    return 1;
}
"""


def test_exec_passes_on_what_the_host_passes_on(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    compile_c(tmp_path / "other", SHOWING)
    program = compile_c(tmp_path, PREPARING)
    run = follow(program, tmp_path)
    alone = subprocess.run([program, tmp_path], capture_output=True, check=True, close_fds=True)
    assert run.output == alone.stdout
    assert run.output == f"a name|-x|--|a b,c||A=1,2|EMPTY=|B=3|{tmp_path}|1|1|3,7,\n".encode()


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_executed_script_is_followed_to_its_interpreter(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    showing = compile_c(tmp_path / "other", SHOWING)
    inner = script(tmp_path / "inner", f"#!{showing} an argument \n")
    outer = script(tmp_path / "outer", f"#! \t{inner}\n")
    run = follow("/bin/sh", "-c", f"exec {outer} x y")
    assert run.output is not None
    assert run.output.startswith(f"{showing}|an argument|{inner}|{outer}|x|y|".encode())
    assert tasks(run)["1:1"].command[0] == str(showing)


def test_script_is_run_by_its_interpreter(tmp_path: Path) -> None:
    named = script(tmp_path / "script", '#!/bin/sh\necho "$0" "$@"; exit 4\n')
    run = follow(named, "a", "b c")
    assert (run.output, run.status) == (f"{named} a b c\n".encode(), 4)


def test_forks_alone_leave_executed_programs_out() -> None:
    run = follow("/bin/sh", "-c", "/bin/true; exit 5", follow_all=False, follow_fork=True)
    assert run.status == 5
    assert sorted(counted(run)) == ["1", "1.1"]
    assert run.notes == ("task 1.1 (/bin/sh) executed another program, which was not counted; --follow-exec counts it",)


def test_execs_alone_leave_children_out() -> None:
    run = follow("/bin/sh", "-c", "/bin/true; exec /bin/false", follow_all=False, follow_exec=True)
    assert run.status == 1
    assert sorted(counted(run)) == ["1", "1:1"]


def test_pattern_selects_programs_and_follows_all() -> None:
    command = ["/bin/sh", "-c", "/usr/bin/env /usr/bin/head -c 0 /dev/null; /bin/true; true"]
    everything = counted(follow(*command))
    only = counted(follow(*command, follow_exec="bin/head$"))
    assert only == {name: everything[name] for name in only}
    assert sorted(only) == ["1", "1.1", "1.1:2", "1.2"]
    assert sorted(counted(follow(*command, follow_exec_exclude="head|env"))) == ["1", "1.1", "1.2", "1.2:1"]


def test_program_of_another_instruction_set_runs_and_is_told(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    try:
        code = "_start: mov $1, %eax\n mov $6, %ebx\n int $0x80"
        other = assemble(tmp_path / "other", code, "-m32")
        if subprocess.run([other], check=False).returncode != 6:
            pytest.skip("the host executes no i386 programs")
    except (subprocess.CalledProcessError, OSError):
        pytest.skip("no i386 programs can be made here")
    run = follow(assemble(tmp_path, EXECUTING.format(path=other)))
    assert run.status == 6
    assert counted(run) == {"1": 5}
    assert run.notes == (f"the program executed {other}, which cannot be followed and was not counted",)


CLOSING = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    for (int i = 3; i < 1024; i++) close(i);
    for (int i = 3; i < 1024; i++) dup2(0, i);
    for (int i = 3; i < 1024; i++) close(i);
    if (fork() == 0) {
        for (int i = 3; i < 1024; i++) close(i);
        if (open("/dev/null", O_RDONLY) != 3) _exit(1);
        if (argc > 1) for (;;) pause();
        _exit(6);
    }
    int status;
    wait(&status);
    return WEXITSTATUS(status);
}
"""


def test_program_may_close_every_file(tmp_path: Path) -> None:
    run = follow(compile_c(tmp_path, CLOSING, "-static"))
    assert run.status == 6
    assert sorted(counted(run)) == ["1", "1.1"]


def test_run_lasts_until_the_last_process_has_ended(tmp_path: Path) -> None:
    run = follow("/bin/sh", "-c", "(sleep 0.5; echo late) & exit 2")
    assert (run.output, run.status) == (b"late\n", 2)
    assert sorted(counted(run)) == ["1", "1.1", "1.1.1", "1.1.1:1"]


def test_child_of_a_thread_is_counted(tmp_path: Path) -> None:
    program = compile_c(
        tmp_path,
        """
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *all) {
    volatile long sum = 0;
    if (fork() == 0) { for (long i = 0; i < 100000; i++) sum += i; _exit(3); }
    int status;
    wait(&status);
    return (void *)(long)WEXITSTATUS(status);
}
int main(void) {
    pthread_t threads[2];
    void *status;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) { pthread_join(threads[i], &status); if (status != (void *)3) return 1; }
    return 0;
}
""",
        "-static",
        "-pthread",
    )
    run = follow(program)
    assert run.status == 0
    found = counted(run)
    assert sorted(found) == ["1", "1.1", "1.2"]
    assert found["1.1"] > 400_000 and found["1.2"] > 400_000 > found["1"]


def test_child_that_faults_has_its_signal(tmp_path: Path) -> None:
    code = f"_start: mov $57, %eax\n syscall\n test %eax, %eax\n jz 1f\n {WAIT} {EXIT.format(0)} 1: nop\n nop\n ud2"
    run = follow(assemble(tmp_path, code))
    assert counted(run) == {"1": 13, "1.1": 4}
    assert (tasks(run)["1.1"].signal, tasks(run)["1.1"].status) == (signal.SIGILL, 128 + signal.SIGILL)


def test_child_that_is_killed_has_counts(tmp_path: Path) -> None:
    run = follow("/bin/sh", "-c", 'sh -c "while :; do :; done" & sleep 0.3; kill -9 $!; wait $!; exit $?')
    assert run.status == 137
    assert [task.signal for task in run.tasks or () if task.signal] == [signal.SIGKILL]
    assert min(task.retired for task in run.tasks or ()) > 0


def test_each_task_has_a_machine_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = assemble(tmp_path / "other", FORKING.format(call=57))
    events = ["UNHALTED_CORE_CYCLES", EVENT, "LLC_MISSES"]
    alone = follow(other, events=events)
    executed = follow(assemble(tmp_path, EXECUTING.format(path=other)), events=events)
    for name, instructions in {"": FORKING_PARENT, ".1": FORKING_CHILD}.items():
        one = [count.value for count in tasks(alone)[f"1{name}"].counts]
        two = [count.value for count in tasks(executed)["1:1" if name == "" else "1.1"].counts]
        assert one == two
        assert one[0] and one[1] == instructions and one[2]
    assert alone.counts[0].value == sum(int(task.counts[0].value or 0) for task in alone.tasks or ())


def test_pipeline_counts_as_its_programs_do_alone() -> None:
    run = follow("/bin/sh", "-c", "seq 1 100 | sort -n | tail -1")
    assert run.output == b"100\n"
    found = {Path(task.command[0]).name: task.retired for task in run.tasks or () if ":" in task.name}
    for name, words in {"seq": ["1", "100"], "sort": ["-n"], "tail": ["-1"]}.items():
        path = shutil.which(name)
        assert path is not None
        reading, writing = os.pipe()
        os.write(writing, "".join(f"{i}\n" for i in range(1, 101)).encode())
        os.close(writing)
        with os.fdopen(reading) as numbers:
            alone = pfmon.run([path, *words], events=[EVENT], capture=True, stdin=numbers)
        assert found[name] == pytest.approx(alone.retired, rel=0.05), name
    again = follow("/bin/sh", "-c", "seq 1 100 | sort -n | tail -1")
    assert found == {Path(task.command[0]).name: task.retired for task in again.tasks or () if ":" in task.name}


# ---------------------------------------------------------------- nothing is left behind


def emulated(mark: str) -> list[int]:
    """Processes alive in whose command a text is."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(int(path.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def until(wanted: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not wanted() and time.monotonic() < deadline:
        time.sleep(0.02)
    return wanted()


BUSY = 'sh -c "while :; do :; done" {mark} & sleep 100 & wait'


@pytest.mark.parametrize("what", [BUSY, "{closing} x {mark}"], ids=["shell", "closed"])
def test_pfmon_that_is_killed_leaves_nothing_behind(what: str, tmp_path: Path) -> None:
    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    closing = compile_c(tmp_path, CLOSING, "-static")
    shared = set(Path("/dev/shm").iterdir())
    command = [sys.executable, "-m", "pfmon", "--follow-all", "-e", EVENT, "/bin/sh", "-c"]
    process = subprocess.Popen([*command, what.format(mark=mark, closing=closing)])
    assert until(lambda: len(emulated(mark)) >= 3)
    time.sleep(0.3)
    process.kill()
    process.wait()
    assert until(lambda: not emulated(mark))
    assert set(Path("/dev/shm").iterdir()) == shared


def test_stop_ends_all_processes_with_their_counts(tmp_path: Path) -> None:
    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    command = ["/bin/sh", "-c", BUSY.format(mark=mark)]
    with pfmon.prepare(command, events=[EVENT], follow_all=True, capture=True) as prepared:
        Timer(1, prepared.stop).start()
        run = prepared.run()
    assert run.stopped == "stop"
    assert sorted(tasks(run)) == ["1", "1.1", "1.1:1", "1.2", "1.2:1"]
    assert tasks(run)["1.1:1"].retired > 1_000_000
    assert not emulated(mark)


def test_fork_bomb_ends_at_the_limit(tmp_path: Path) -> None:
    bomb = assemble(tmp_path, "_start: mov $57, %eax\n syscall\n jmp _start")
    with pytest.raises(pfmon.PfmonError, match="more than 20 processes at a time: all were ended"):
        follow(bomb, follow_limit=20)
    assert until(lambda: not emulated(str(bomb)))


@pytest.mark.parametrize("where", ["__init__", "ended"])
def test_task_that_cannot_be_counted_ends_the_run(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise pfmon.LostError("there was no room")

    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    monkeypatch.setattr(f"pfmon.session.tasks._Watch.{where}", fail)
    with pytest.raises(pfmon.LostError, match="there was no room"):
        follow("/bin/sh", "-c", f'sh -c "sleep 100; true" {mark} & (sleep 0.1); sleep 100; true')
    assert until(lambda: not emulated(mark))


@pytest.mark.parametrize("followed", [True, False], ids=["followed", "alone"])
def test_memory_is_given_back_without_the_collector(followed: bool, tmp_path: Path) -> None:
    def mapped() -> int:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")

    program = assemble(tmp_path, FORKING.format(call=57))
    follow(program, follow_all=followed)
    gc.collect()
    gc.disable()
    try:
        before, files = mapped(), len(list(Path("/proc/self/fd").iterdir()))
        follow(program, follow_all=followed)
        assert mapped() - before < 1 << 30
        assert len(list(Path("/proc/self/fd").iterdir())) == files
    finally:
        gc.enable()


def test_many_children_one_after_the_other_are_within_the_limit(tmp_path: Path) -> None:
    program = compile_c(
        tmp_path,
        """
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 40; i++) { if (fork() == 0) _exit(0); wait(NULL); }
    return 0;
}
""",
        "-static",
    )
    run = follow(program, follow_limit=5)
    assert len(counted(run)) == 41
    assert len({task.retired for task in (run.tasks or ())[1:]}) == 1
