"""Timers and waits under the x86_64 engine: signals at exact instructions, and time that passes without the host's."""

import subprocess
import time
from pathlib import Path

import pytest
from grids import diagonal, first_quick
from qemu_guests import assemble
from x86_64_host import ENGINE, MARKS, PFMON, WAYS, compiled, counted, outcomes, pfmon

pytestmark = [*MARKS, pytest.mark.slow]

ARMED = """
    mov $13, %eax
    mov $14, %edi
    lea action(%rip), %rsi
    xor %edx, %edx
    mov $8, %r10d
    syscall
    mov $38, %eax
    mov $WHICH, %edi
    lea timer(%rip), %rsi
    xor %edx, %edx
    syscall
"""
"""rt_sigaction of SIGALRM, then setitimer, in 11 instructions."""
TIMER = """
    .balign 8
action: .quad handler, 0x04000000, back, 0
timer: .quad 0, INTERVAL, 0, FIRST
back: mov $15, %eax
    syscall
"""
"""The handler's action, with its return (rt_sigreturn, 2 instructions), and the timer's setting in microseconds."""
EXIT = "mov $60, %eax\n xor %edi, %edi\n syscall\n"
MICROSECOND = 1000
"""Instructions of a microsecond: 1 ns each."""


def armed(tmp_path: Path, body: str, which: int = 0, first: int = 1000, interval: int = 0) -> str:
    """The program, with the timer's data behind it: ITIMER_REAL is 0, ITIMER_PROF 2; times in microseconds."""
    symbols = f"-Wa,--defsym,WHICH={which},--defsym,FIRST={first},--defsym,INTERVAL={interval}"
    return str(assemble(tmp_path, body + TIMER, symbols))


@diagonal
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("filler", [0, 3, 40])
def test_timer_s_signal_comes_at_its_instruction(filler: int, way: str, tmp_path: Path) -> None:
    """1,000,000 instructions after setitimer, wherever this is in a block; then the handler's 3."""
    loop = f"1: .rept {filler}\n inc %rbx\n .endr\n jmp 1b\n"
    program = armed(tmp_path, ARMED + loop + "handler: " + EXIT)
    assert counted([program], *WAYS[way]) == 11 + 1000 * MICROSECOND + 3


@pytest.mark.parametrize("way", WAYS)
def test_interval_timer_keeps_its_beat(way: str, tmp_path: Path) -> None:
    """The fifth signal comes 5 ms after setitimer, whatever the handlers execute."""
    handler = "handler: incq 72(%rdx)\n cmpq $5, 72(%rdx)\n je 2f\n ret\n2: " + EXIT  # r12 in the context of the signal
    program = armed(tmp_path, ARMED + "1: inc %rbx\n jmp 1b\n" + handler, interval=1000)
    assert counted([program], *WAYS[way]) == 11 + 5000 * MICROSECOND + 6


@pytest.mark.parametrize("way", WAYS)
def test_timer_counts_what_retires_of_blocks_that_fault(way: str, tmp_path: Path) -> None:
    """Each turn executes 3 instructions and faults at the fourth, whose handler goes on behind it with 3 more."""
    on_fault = """
        mov $13, %eax
        mov $11, %edi
        lea fault(%rip), %rsi
        xor %edx, %edx
        mov $8, %r10d
        syscall
    """
    loop = "1: inc %rbx\n inc %rbx\n inc %rbx\n mov %eax, 8\n inc %rbx\n inc %rbx\n jmp 1b\n"
    handlers = """
    skip: addq $7, 168(%rdx)
        ret
    fault: .quad skip, 0x04000004, back, 0
    handler:
    """
    program = armed(tmp_path, on_fault + ARMED + loop + handlers + EXIT, first=100)
    assert counted([program], *WAYS[way]) == 17 + 100 * MICROSECOND + 3


@pytest.mark.parametrize("way", ["totals", "addresses"])
def test_wait_takes_no_processor_time(way: str, tmp_path: Path) -> None:
    """ITIMER_PROF, whose signal is SIGPROF, goes on with instructions alone: nanosleep of 1 s before is not counted."""
    sleep = "mov $35, %eax\n lea second(%rip), %rdi\n xor %esi, %esi\n syscall\n"
    rest = f"1: inc %rbx\n jmp 1b\nhandler: {EXIT}second: .quad 1, 0\n"
    program = armed(tmp_path, ARMED.replace("$14", "$27") + sleep + rest, which=2)
    assert counted([program], *WAYS[way]) == 11 + 1000 * MICROSECOND + 3


@pytest.fixture(scope="module")
def waits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that prints how its waits end."""
    return compiled(tmp_path_factory.mktemp("waits"), "waits", "-pthread")


ENDS = """\
alarm had 0 then 3
pause EINTR after 5000 ms, signals 1
nanosleep EINTR after 2000 ms, left 8000
timer 1 expired 0 times more
timerfd 1 after 1000 ms
timerfd 3 after 3000 ms
poll of timerfd 1 after 500 ms
poll of pipe 0 after 5000 ms
select 0 after 1500 ms, left 0
pselect EINTR after 2000 ms, signals 1
epoll 0 after 700 ms
epoll with a byte 1 after 0 ms
semaphore ETIMEDOUT after 4000 ms
sigtimedwait 10 by timer 1 after 2000 ms
sigtimedwait EAGAIN after 3000 ms
read EINTR after 1000 ms
blocked alarm waits 1 then came 1
overrun 4
child's pause EINTR after 2000 ms, parent's alarm 1
"""
"""What the program prints, by the manual pages of the calls (section 2), and the times that it gives them."""


@pytest.mark.parametrize("way", first_quick(["totals", "addresses", "stream"]))
def test_waits_end_as_the_manual_pages_say(way: str, waits: Path) -> None:
    """30 s of the program's time, of which none is waited for."""
    began = time.monotonic()
    done = subprocess.run(
        [*PFMON, *WAYS[way], "--outfile=/dev/null", waits], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == (ENDS, 0), done.stderr
    assert time.monotonic() - began < 15


INTERRUPTED = """\
open of a fifo EINTR after 200 ms, signals 1
flock EINTR after 200 ms, signals 1
wait EINTR after 200 ms, signals 1
read EINTR after 200 ms, signals 1
write 65536 after 200 ms, signals 1
wait for its end 1 after 0 ms, signals 0
"""
"""What ends when the timer of 200 ms expires; a pipe takes 65,536 bytes (pipe(7))."""


@pytest.mark.slow
def test_timer_interrupts_calls_that_wait_in_the_kernel(waits: Path, tmp_path: Path) -> None:
    """These take the host's time, since another process might end them."""
    words = [*PFMON, *WAYS["totals"], "--outfile=/dev/null", waits, tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (INTERRUPTED, 0), done.stderr


def test_waits_count_the_same_beside_other_processes(waits: Path) -> None:
    """Also when the host is busy."""
    alone = counted([str(waits)])
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4)]
    try:
        assert counted([str(waits)]) == alone
    finally:
        for one in busy:
            one.kill()
            one.wait()


def test_default_action_of_a_timer_kills_the_program(tmp_path: Path) -> None:
    body = "mov $38, %eax\n xor %edi, %edi\n lea timer(%rip), %rsi\n xor %edx, %edx\n syscall\n1: jmp 1b\nhandler:\n"
    program = armed(tmp_path, body)
    for way in ("totals", "stream", "addresses"):
        assert counted([program], *WAYS[way], status=142) == 5 + 1000 * MICROSECOND


@pytest.mark.slow
def test_executed_program_keeps_the_alarm(tmp_path: Path) -> None:
    """alarm(1), then execve of a program that sleeps: SIGALRM ends it."""
    body = """
        mov $37, %eax
        mov $1, %edi
        syscall
        mov $59, %eax
        lea path(%rip), %rdi
        lea words(%rip), %rsi
        xor %edx, %edx
        syscall
    path: .asciz "/bin/sleep"
    ten: .asciz "10"
        .balign 8
    words: .quad path, ten, 0
    """
    pfmon(ENGINE, "-e", "instructions_retired", str(assemble(tmp_path, body)), status=142)


VFORK = """
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int rang;
static void handle(int number) { rang++; }
int main(void) {
    struct itimerval once = {{0}, {0, 50000}};
    int status;
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &once, 0);
    if (vfork() == 0) {
        int left = alarm(60);
        usleep(100000);
        _exit(left);
    }
    while (wait(&status) < 0)
        ;
    printf("child had %d, parent's rang %d, has %d\\n", status, rang, alarm(0));
}
"""


@pytest.mark.slow
def test_child_of_vfork_has_timers_of_its_own(tmp_path: Path) -> None:
    """It inherits none (fork(2)), and its parent's goes on while it waits."""
    source, made = tmp_path / "vfork.c", tmp_path / "vfork"
    source.write_text(VFORK)
    subprocess.run(["cc", "-O1", "-w", "-o", made, source], check=True)
    found = set(outcomes([made], tmp_path).values())
    assert [(status, told) for status, told, _ in found] == [(0, "child had 0, parent's rang 1, has 0\n")]


@pytest.mark.slow
def test_input_ends_a_wait_before_its_limit() -> None:
    """Input from outside: the host's time passes, not the program's."""
    read = "import select, time; t = time.monotonic(); select.select([0], [], [], 60); print(time.monotonic() - t < 1)"
    with subprocess.Popen(["sh", "-c", "sleep 0.3; echo"], stdout=subprocess.PIPE) as source:
        done = subprocess.run(
            [*PFMON, *WAYS["totals"], "--outfile=/dev/null", "/usr/bin/python3", "-S", "-I", "-c", read],
            stdin=source.stdout,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout == "True\n", done.stderr
