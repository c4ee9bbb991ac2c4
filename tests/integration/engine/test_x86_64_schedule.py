"""The processes of a run under the x86_64 engine: one executes at a time, in an order that repeats."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from following import EVENT, counted, follow, tasks
from grids import diagonal, few
from host_programs import RUNS_X86_64
from qemu_guests import compile_c
from x86_64_host import PFMON, compiled, pfmon

import pfmon as library

pytestmark = RUNS_X86_64

ALIKE = ["ping", "large", "stops", "locks", "fifo", "signals", "shared", "killer", "leaver", "vfork"]
"""What families.c does that prints the same natively."""


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("families"), "families", "-static")


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("followed", [False, True], ids=["alone", "followed"])
@pytest.mark.parametrize("what", ALIKE)
def test_processes_do_what_they_do_natively_and_repeat(what: str, followed: bool, families: Path) -> None:
    native = subprocess.run([families, what], capture_output=True, check=True, timeout=60)
    runs = [follow(families, what, follow_all=followed) for _ in range(2)]
    assert [(run.output, run.status) for run in runs] == [(native.stdout, 0)] * 2
    assert len({run.retired for run in runs}) == 1
    if followed:
        assert counted(runs[0]) == counted(runs[1])


def test_processes_have_numbers_of_the_run() -> None:
    run = follow(
        "/bin/sh", "-c", 'echo $$; sh -c "echo \\$PPID \\$\\$"; sleep 0 & echo $!; wait; exec sh -c "echo \\$\\$"'
    )
    assert run.output == b"1000\n1000 1001\n1002\n1000\n"


@pytest.mark.slow
def test_proc_has_the_processes_of_the_run() -> None:
    script = """sleep 9 & sleep 1; cd /proc; echo [0-9]*
read -r line < $!/comm; echo $line; tr '\\0' ' ' < $!/cmdline; echo
read -r a b c d e f rest < $!/stat; echo $a $b $c $d $e $f; grep Pid: $!/status | tr -s '\\t\\n' ' '; kill $!"""
    assert follow("/bin/sh", "-c", script).output == (
        b"1000 1001\nsleep\nsleep 9 \n1001 (sleep) S 1000 1000 1000\nPid: 1001 PPid: 1000 TracerPid: 0 "
    )


@pytest.mark.slow
def test_state_of_another_process_is_that_of_the_schedule() -> None:
    """As proc(5) has it of one that sleeps and one that computes."""
    code = """import os, time
def state(number):
    with open(f'/proc/{number}/stat') as stat, open(f'/proc/{number}/status') as status:
        return stat.read().split(')')[1].split()[0], next(line for line in status if line.startswith('State'))
sleeps = os.fork()
if not sleeps:
    time.sleep(1000); os._exit(0)
computes = os.fork()
if not computes:
    while True: pass
time.sleep(1)
print(state(sleeps), state(computes))
os.kill(sleeps, 9), os.kill(computes, 9)"""
    assert follow("/usr/bin/python3", "-S", "-c", code).output == (
        b"('S', 'State:\\tS (sleeping)\\n') ('R', 'State:\\tR (running)\\n')\n"
    )


@pytest.mark.skipif(
    subprocess.run(["/usr/bin/python3", "-S", "-c", "import os; os.splice"], capture_output=True).returncode != 0,
    reason="os.splice needs Python 3.10",
)
@pytest.mark.slow
def test_splice_does_not_wait_for_a_pipe_with_o_nonblock() -> None:
    code = """import os, time
(empty, filled), (read, written) = os.pipe(), os.pipe()
os.set_blocking(empty, False)
if not os.fork():
    time.sleep(1); os.write(filled, b'late'); os._exit(0)
for wait in False, True:
    os.set_blocking(empty, wait)
    try: print(os.splice(empty, written, 10))
    except BlockingIOError: print('none')"""
    assert follow("/usr/bin/python3", "-S", "-c", code).output == b"none\n4\n"


PID_NAMESPACE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc")
HAS_PID_NAMESPACES = pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run([*PID_NAMESPACE, "true"], capture_output=True).returncode != 0,
    reason="PID namespaces cannot be made here",
)


@HAS_PID_NAMESPACES
@pytest.mark.slow
def test_session_that_began_outside_of_the_pid_namespace_is_the_first_process_s() -> None:
    script = """show() { read -r a b c d e f rest < /proc/$1/stat; echo $c $e $f; }
show self; sleep 9 & sleep 1; show $!; sh -c 'read -r a b c d e f rest < /proc/$PPID/stat; echo $e $f'; kill $!"""
    command = [*PID_NAMESPACE, *PFMON, "--follow-all", "-e", "instructions:u", "/bin/sh", "-c", script]
    run = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, text=True, timeout=100)
    assert run.stdout.startswith("R 1000 1000\nS 1000 1000\n1000 1000\n"), run


@pytest.mark.slow
def test_sleeps_of_several_processes_take_no_time_of_the_host() -> None:
    began = time.monotonic()
    run = follow("/bin/sh", "-c", "date +%s; sleep 5000 & sleep 2000; date +%s; wait; date +%s")
    assert time.monotonic() - began < 60
    assert run.output == b"1767225600\n1767227600\n1767230600\n"


@pytest.mark.slow
def test_resources_of_children_are_not_the_host_s() -> None:
    code = "import os\nif not os.fork(): os._exit(sum(range(10**5)) % 7)\nprint(os.wait4(-1, 0)[2][:8])"
    assert follow("/usr/bin/python3", "-S", "-c", code).output == b"(0.0, 0.0, 0, 0, 0, 0, 0, 0)\n"


def test_waits_that_nothing_can_end_are_a_deadlock(families: Path) -> None:
    done = pfmon("-e", EVENT, str(families), "deadlock", status=137)
    assert "deadlock: process 1000 waits in read; process 1001 waits in pause" in done.stderr
    run = follow(families, "deadlock")
    assert [task.signal for task in run.tasks or ()] == [9, 9]


@pytest.mark.slow
def test_quantum_and_seed_decide_the_order() -> None:
    """Of two processes that write lines."""
    loop = "i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo $0; done"
    command = ["/bin/sh", "-c", f"sh -c '{loop}' a & sh -c '{loop}' b & wait"]
    found = {
        (quantum, seed): [follow(*command, quantum=quantum, schedule_seed=seed).output for _ in range(2)]
        for quantum in (20_000, 100_000)
        for seed in (0, 1)
    }
    assert all(one == other for one, other in found.values())
    assert len({one for one, _ in found.values()}) > 1


LAUNCHER = """
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) {
    if (*argv[1] == 'f' && fork()) { wait(NULL); return 0; }
    execve(argv[2], argv + 2, environ);
    return 9;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", [["/bin/ls", "/"], ["/usr/bin/python3", "-S", "-I", "-c", "print(1)"]])
def test_followed_program_has_the_counts_of_a_run_of_its_own(command: list[str], tmp_path: Path) -> None:
    launcher = compile_c(tmp_path, LAUNCHER)
    alone = library.run(command, events=[EVENT], capture=True, engine="x86_64")
    forked, executed = follow(launcher, "f", *command), follow(launcher, "e", *command)
    assert tasks(forked)["1.1:1"].retired == tasks(executed)["1:1"].retired == alone.retired
    assert forked.output == executed.output == alone.output


PROGRAMS = {
    "pipeline": ["/bin/sh", "-c", "seq 1 20000 | sort -rn | head -3; yes | head -50000 | wc -l"],
    "script": ["/bin/sh", "-c", "for i in 1 2 3 4 5; do a=$(echo $i | tr 0-9 a-j); b=`expr $i + 1`; echo $a $b; done"],
    "background": ["/bin/sh", "-c", "(sleep 2; echo late) & (sleep 1; echo early) & wait"],
    "busy": ["/bin/sh", "-c", "sh -c 'while :; do :; done' & sleep 0.1; kill -9 $!; wait $!; echo $?"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_shells_repeat_with_their_native_output(name: str) -> None:
    native = subprocess.run(PROGRAMS[name], capture_output=True, check=False)
    runs = [follow(*PROGRAMS[name]) for _ in range(2)]
    assert {(run.output, run.status) for run in runs} == {(native.stdout, native.returncode)}
    assert counted(runs[0]) == counted(runs[1])


@pytest.mark.slow
def test_make_with_several_jobs_repeats(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(
        "T=a b c d e f\nall: $(T)\n\t@echo $^\n$(T):\n\t@for i in 1 2; do echo $@ $$i | sed s/x/y/ > /dev/null; done\n"
        ".PHONY: all $(T)\n"
    )
    runs = [follow("/usr/bin/make", "-s", "-j4", "-C", tmp_path) for _ in range(2)]
    assert [run.output for run in runs] == [b"a b c d e f\n"] * 2
    assert counted(runs[0]) == counted(runs[1])


POOL = """
import multiprocessing, os, subprocess
def square(number):
    return number * number, os.getpid()
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(pool.map(square, range(10), chunksize=1))
    lock, count = multiprocessing.Lock(), multiprocessing.Value("i", 0)
    def add():
        for _ in range(10):
            with lock: count.value += 1
    workers = [multiprocessing.Process(target=add) for _ in range(3)]
    for one in workers: one.start()
    for one in workers: one.join()
    print(count.value, subprocess.run(["sh", "-c", "echo $PPID; exit 3"], capture_output=True))
"""


@pytest.mark.slow
def test_python_s_processes_repeat(tmp_path: Path) -> None:
    (tmp_path / "pool.py").write_text(POOL)
    subprocess.run(["/usr/bin/python3", tmp_path / "pool.py"], check=True)  # writes the bytecode that is not there yet
    runs = [follow("/usr/bin/python3", tmp_path / "pool.py") for _ in range(2)]
    assert runs[0].output == runs[1].output
    assert runs[0].output is not None
    assert (
        b"30 CompletedProcess(args=['sh', '-c', 'echo $PPID; exit 3'], returncode=3, stdout=b'1000\\n'"
        in runs[0].output
    )
    assert counted(runs[0]) == counted(runs[1])


@pytest.mark.slow
@pytest.mark.parametrize("seed", few(range(400, 0, -1), 1))
def test_processes_that_do_random_things_repeat(seed: int, tmp_path: Path) -> None:
    """Those of the run that are left, waiting or stopped, end with it; nothing hangs."""
    program = compiled(tmp_path, "wild_processes", "-static", "-pthread")
    options = {"schedule_seed": seed % 7, "quantum": 200 + 17 * seed}
    runs = [follow(program, str(seed), tmp_path / "locked", **options) for _ in range(2)]
    assert runs[0].status == 7 and runs[0].output == runs[1].output
    assert counted(runs[0]) == counted(runs[1])


@pytest.mark.slow
def test_processes_end_with_pfmon_s_first_one(families: Path) -> None:
    done = pfmon("-e", EVENT, str(families), "many")
    assert done.stdout.startswith("processes 200\n")
    assert "killed at the program's end: 200 processes" in done.stderr


def test_host_clock_and_host_ids_are_the_host_s() -> None:
    run = follow("/bin/sh", "-c", "sh -c 'echo $PPID'; echo $$; sleep 0.01", host_clock=True, host_ids=True)
    assert run.output is not None
    one, two = run.output.split()
    assert one == two and run.tasks and int(two) == run.tasks[0].pid


def test_command_line_follows_by_itself() -> None:
    done = pfmon("--json", "--no-cmd-output", "--follow-all", "-e", EVENT, "/bin/sh", "-c", "/bin/true; true")
    assert '"x86_64"' in done.stdout
