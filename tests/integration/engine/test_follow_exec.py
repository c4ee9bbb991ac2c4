"""Programs that are executed: each is counted by itself."""

import subprocess
from pathlib import Path

import pytest
from following import EVENT, FORKING, FORKING_CHILD, FORKING_PARENT, counted, follow, tasks
from host_programs import RUNS_X86_64
from qemu_guests import ASSEMBLER, QEMU, assemble, compile_c

pytestmark = [QEMU, ASSEMBLER, RUNS_X86_64, pytest.mark.slow, pytest.mark.usefixtures("each_engine")]

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
