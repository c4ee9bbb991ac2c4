"""The x86_64 engine: programs with threads behave as natively, in an order that repeats."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from grids import few, first_quick
from qemu_guests import QEMU, assemble, compile_c
from x86_64_host import ENGINE, MARKS, PFMON, SUPPORT, WAYS, compiled, counted, outcomes, pfmon, without_input

pytestmark = MARKS
COUNT = ["-e", "instructions_retired"]
PARTS = (
    *(
        "mutexes",
        "barriers",
        "conditions",
        "semaphores",
        "times",
        "processor_times",
        "signals",
        "spinning",
        "freeing",
        "alarms",
    ),
    *(
        "timers",
        "cancelling",
        "robust",
        "robust_heirs",
        "inheriting",
        "storage",
        "storm",
        "hundreds",
        "files",
        "named_pipes",
    ),
    *("locks_of_files", "children", "names", "words"),
)
"""What x86_64_threads.c does."""
REPEATED = [part for part in PARTS if part != "children"]
"""Those in which no other process of the host takes part."""


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program that has the parts."""
    return str(compiled(tmp_path_factory.mktemp("threads"), "threads", "-pthread"))


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program that ends in several ways."""
    return str(compiled(tmp_path_factory.mktemp("ends"), "thread_ends", "-pthread"))


def natively(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def instructions(directory: Path, *words: str) -> int:
    """The count of a run, whose output is that of the native one."""
    made = directory / "counts"
    program = words[-2:]
    assert without_input(*COUNT, "--json", f"--outfile={made}", *words).stdout == natively(*program).stdout
    return int(json.loads(made.read_text())["events"][0]["count"])


# ---------------------------------------------------------------- what programs see


@pytest.mark.parametrize("part", first_quick(["mutexes", *(part for part in PARTS if part != "mutexes")]))
def test_threads_do_what_they_do_natively(threads: str, part: str) -> None:
    done = without_input(*COUNT, threads, part)
    assert done.stdout.startswith(natively(threads, part).stdout) and done.returncode == 0, done


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "options", [["--host-clock"], ["--host-ids"], ["--quantum=50"], ["--quantum=3000000"]], ids=str
)
def test_the_same_with_other_times_numbers_and_turns(threads: str, part: str, options: list[str]) -> None:
    if options == ["--host-clock"] and part == "processor_times":
        pytest.skip("the host does not know how long a thread has run")
    if options == ["--quantum=50"] and part == "freeing":
        pytest.skip("the lock is free for less than the other thread takes to come to it")
    assert without_input(*COUNT, *options, threads, part).stdout.startswith(natively(threads, part).stdout)


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", REPEATED)
def test_the_same_in_a_root_that_the_kernel_guards(tmp_path: Path, part: str) -> None:
    (tmp_path / "tmp").mkdir()
    program = str(compiled(tmp_path, "threads", "-pthread", "-static"))
    done = without_input(*COUNT, f"--sysroot={tmp_path}", "--confine", program, part)
    assert done.stdout.startswith(natively(program, part).stdout) and done.returncode == 0, done


@pytest.mark.slow
def test_a_guarded_root_may_have_threads(tmp_path: Path) -> None:
    program = str(compiled(tmp_path, "threads", "-pthread", "-static"))
    done = without_input(*COUNT, f"--sysroot={tmp_path}", "--confine", program, "conditions")
    assert done.stdout.startswith("conditions 179400\n")


@pytest.mark.slow
@pytest.mark.parametrize("seed", few(range(300), 2))
def test_threads_that_do_random_things_end(tmp_path: Path, seed: int) -> None:
    program = str(compiled(tmp_path, "wild_threads", "-pthread"))
    options = f"--schedule-seed={seed % 5}", f"--quantum={100 + 13 * seed * seed}"
    done = without_input(*COUNT, *options, program, str(seed))
    assert done.stdout.startswith(natively(program, str(seed)).stdout) and done.returncode == 0, done


# ---------------------------------------------------------------- the order


@pytest.mark.parametrize(
    ("part", "runs"),
    [
        ("conditions", 2),
        *(pytest.param(part, 3, marks=pytest.mark.slow) for part in REPEATED if part != "conditions"),
        *(pytest.param(part, 10, marks=pytest.mark.exhaustive) for part in REPEATED),
    ],
)
def test_runs_have_the_same_counts(threads: str, part: str, runs: int, tmp_path: Path) -> None:
    assert len({instructions(tmp_path, threads, part) for _ in range(runs)}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", few(range(1, 101), 2))
def test_every_seed_gives_the_same_output_and_repeats(threads: str, seed: int, tmp_path: Path) -> None:
    """64 threads that meet at a barrier, and 8 with a mutex."""
    for part in ("barriers", "mutexes"):
        options = f"--schedule-seed={seed}", f"--quantum={37 * seed}"
        assert len({instructions(tmp_path, *options, threads, part) for _ in range(2)}) == 1


@pytest.mark.slow
def test_seeds_give_other_orders(threads: str, tmp_path: Path) -> None:
    counts = {
        instructions(tmp_path, f"--schedule-seed={seed}", "--quantum=500", threads, "mutexes") for seed in range(4)
    }
    assert len(counts) > 1


@pytest.mark.slow
def test_counts_of_the_threads_add_up(threads: str) -> None:
    text = pfmon(ENGINE, *COUNT, "--per-thread", threads, "conditions").stdout
    each, all_threads = text.split("# all 9 threads\n")
    numbers = [int(line.split()[0]) for line in each.splitlines() if "INSTRUCTIONS" in line]
    assert len(numbers) == 9 and sum(numbers) == int(all_threads.split()[0])
    assert sum(numbers) == counted([threads, "conditions"])


INDEPENDENT = """
    .macro thread at
        mov $56, %eax
        mov $0x50f00, %edi       # VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
        lea \\at(%rip), %rsi
        xor %edx, %edx
        xor %r10, %r10
        xor %r8, %r8
        syscall
        test %eax, %eax
        jz work
    .endm
    _start:
        thread first
        thread second
        thread third
    work:
        mov $200000, %ecx
    1:  dec %ecx
        jnz 1b
        mov $60, %eax
        xor %edi, %edi
        syscall
    .bss
    .skip 4096
    first: .skip 4096
    second: .skip 4096
    third: .skip 64
"""
RETIRED = 3 * 9 + 4 * (1 + 2 * 200_000 + 3) + 3 * 2
"""Three times the call, four times the loop and the end; each thread begins behind the call."""


@pytest.mark.slow
def test_threads_that_do_not_meet_have_the_counts_of_their_instructions(tmp_path: Path) -> None:
    program = assemble(tmp_path, INDEPENDENT)
    assert set(outcomes([program], tmp_path).values()) == {(0, "", RETIRED)}


@QEMU
@pytest.mark.slow
def test_qemu_counts_them_the_same(tmp_path: Path) -> None:
    program = assemble(tmp_path, INDEPENDENT)
    done = pfmon("--engine=qemu", *COUNT, "--json", str(program))
    assert json.loads(done.stdout)["events"][0]["count"] == RETIRED


# ---------------------------------------------------------------- ends


ENDS = (
    *("exit", "exec", "exit while another spins", "first thread ends", "first thread ends by the system call", "fault"),
    *("handled fault", "killed thread", "shared memory"),
)


@pytest.mark.parametrize("way", first_quick(ENDS))
def test_programs_end_as_natively(ends: str, way: str) -> None:
    native, done = natively(ends, way), without_input(*COUNT, ends, way)
    assert done.stdout.startswith(native.stdout)
    assert done.returncode == (128 - native.returncode if native.returncode < 0 else native.returncode)


def test_deadlock_is_said(ends: str) -> None:
    done = without_input(*COUNT, ends, "deadlock")
    waits = "thread 1000 waits for a word of memory; thread 1001 waits for a word of memory"
    assert f"pfmon: deadlock: {waits}\n" in done.stderr and done.returncode == 128 + 9


def test_sleeps_take_no_time_of_the_host(ends: str) -> None:
    begun = time.monotonic()
    assert without_input(*COUNT, ends, "long sleeps").returncode == 0
    assert time.monotonic() - begun < 100


@pytest.mark.slow
def test_one_more_than_the_most_threads_does_not_begin(ends: str) -> None:
    assert without_input(*COUNT, ends, "too many").stdout.startswith("1 Resource temporarily unavailable\n")


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_counting_gives_what_threads_print(threads: str, way: str) -> None:
    done = without_input(*WAYS[way], threads, "signals")
    assert done.stdout.startswith(natively(threads, "signals").stdout)


# ---------------------------------------------------------------- signals from outside


DAEMON = """
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>
static sem_t never;
static void *stay(void *unused) { sem_wait(&never); return unused; }
int main(int count, char **words) {
    struct pollfd wanted = {.events = POLLIN};
    struct signalfd_siginfo info;
    pthread_t made;
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&made, NULL, stay, NULL);
    printf("%d\\n", getpid());
    fflush(stdout);
    if (count == 1)
        return sigwait(&set, &number) || number != SIGUSR1;
    wanted.fd = signalfd(-1, &set, 0);
    poll(&wanted, 1, -1);
    return read(wanted.fd, &info, sizeof(info)) != sizeof(info) || info.ssi_signo != SIGUSR1;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", [[], ["by a descriptor"]], ids=str)
def test_a_wait_for_a_signal_from_outside_is_no_deadlock(tmp_path: Path, words: list[str]) -> None:
    program = compile_c(tmp_path, DAEMON, "-w", "-pthread")
    command = [*PFMON, *COUNT, "--host-ids", str(program), *words]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        process = int(running.stdout.readline())
        time.sleep(0.2)  # it waits then, most likely
        os.kill(process, signal.SIGUSR1)
        assert running.wait(timeout=60) == 0


INTERRUPTED_CALLS = """
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
static volatile sig_atomic_t arrived;
static void note(int number) { (void)number; arrived++; }
int main(void) {
    struct itimerval often = {{0, 300}, {0, 300}};
    long parent = getppid();
    signal(SIGALRM, note);
    setitimer(ITIMER_REAL, &often, NULL);
    while (arrived < 1000)
        if (syscall(SYS_getppid) != parent)
            return 1;
    return 0;
}
"""


@pytest.mark.slow
def test_no_system_call_is_left_out_when_a_signal_arrives(tmp_path: Path) -> None:
    program = compile_c(tmp_path, INTERRUPTED_CALLS)
    assert without_input(*COUNT, "--host-clock", str(program)).returncode == 0


@pytest.mark.slow
def test_threads_that_poll_do_not_keep_others_from_a_lock() -> None:
    """As the interpreter's lock: its owner seldom waits with it. A sleep that ends takes no turn away."""
    done = without_input(*COUNT, sys.executable, "-S", str(SUPPORT / "x86_64_polling.py"))
    assert done.stdout.splitlines()[0] == "4000"


WRITER = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static char text[1 << 18];
static volatile int done;
static unsigned long count;
static void *wait_actively(void *none) { while (!done) count++; return none; }
int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, wait_actively, NULL);
    if (write(1, text, sizeof(text)) != sizeof(text)) return 1;
    done = 1;
    pthread_join(other, NULL);
    printf("%lu\\n", count);
    return 0;
}
"""


@pytest.mark.slow
def test_the_order_does_not_depend_on_how_fast_output_is_read(tmp_path: Path) -> None:
    """More bytes than a pipe holds; the other thread counts as long as it has turns."""
    program = compile_c(tmp_path, WRITER, "-pthread")
    told = []
    for seconds in (0, 0.7):
        command = [*PFMON, *COUNT, "--outfile=/dev/null", str(program)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as run:
            assert run.stdout is not None
            time.sleep(seconds)
            told.append(run.stdout.read().lstrip(b"\0"))
        assert run.returncode == 0
    assert told[0] == told[1] and told[0].strip().isdigit()


SENDER = """
import os, socket, sys, threading
one, other = socket.socketpair()
with open(sys.argv[1], "rb") as file:
    thread = threading.Thread(target=lambda: (print(os.sendfile(one.fileno(), file.fileno(), 5, 1 << 30)), one.close()))
    thread.start()
    received = b"".join(iter(lambda: other.recv(8192), b""))
    thread.join()
print(len(received), received[:3])
"""


@pytest.mark.slow
def test_a_file_is_sent_while_another_thread_receives(tmp_path: Path) -> None:
    """More bytes than the socket holds: sendfile(2) waits for the receiver."""
    (tmp_path / "data").write_bytes(bytes(range(250)) * 4000)
    done = without_input(*COUNT, sys.executable, "-S", "-c", SENDER, str(tmp_path / "data"))
    assert done.stdout.splitlines()[:2] == ["999995", r"999995 b'\x05\x06\x07'"]


NUMBERS = """
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static sem_t never;
static pid_t number;
static void *stay(void *unused) { number = gettid(); sem_post(unused); sem_wait(&never); return unused; }
int main(void) {
    pthread_t made;
    sem_t begun;
    int status;
    pid_t child;
    sem_init(&begun, 0, 0);
    pthread_create(&made, NULL, stay, &begun);
    sem_wait(&begun);
    child = fork();
    if (child == 0)
        for (;;)
            pause();
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    printf("%d %d\\n", child != number, WTERMSIG(status));
    return 0;
}
"""


@pytest.mark.parametrize("options", [[], ["--host-ids"]], ids=str)
def test_numbers_of_threads_are_no_processes(tmp_path: Path, options: list[str]) -> None:
    """A signal for a child goes to the child, and not to a thread of that number."""
    program = compile_c(tmp_path, NUMBERS, "-w", "-pthread")
    assert without_input(*COUNT, *options, str(program)).stdout.splitlines()[0] == f"1 {signal.SIGTERM}"
