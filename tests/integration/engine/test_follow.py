"""Children: each is counted by itself."""

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from following import CLOSING, EVENT, EXIT, FORKING, FORKING_CHILD, FORKING_PARENT, WAIT, counted, follow, tasks
from host_programs import RUNS_X86_64
from qemu_guests import ASSEMBLER, QEMU, assemble, compile_c

import pfmon

pytestmark = [QEMU, ASSEMBLER, RUNS_X86_64, pytest.mark.slow, pytest.mark.usefixtures("each_engine")]


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
def test_inherited_code_counts_as_what_it_is(options: dict[str, Any], tmp_path: Path) -> None:
    run = follow(assemble(tmp_path, CALLED), events=[EVENT, "BRANCH_INSTRUCTIONS_RETIRED"], **options)
    assert [[count.value for count in task.counts] for task in run.tasks or ()] == [[216, 103], [108, 53]]


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
