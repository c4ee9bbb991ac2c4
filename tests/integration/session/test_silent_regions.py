"""Code outside of regions writes no stream where nobody looks at it: counts, the program's clock and what it does
are the same."""

import subprocess
import sys
from pathlib import Path

import pytest
from host_programs import RUNS_X86_64, needs

from pfmon import run
from pfmon.cli.include import FOLDER

pytestmark = [RUNS_X86_64, needs("cc")]

EVENTS = ["INSTRUCTIONS_RETIRED", "BRANCH_INSTRUCTIONS_RETIRED"]
SPIN = 'static void spin(long n) { __asm__ volatile("1: dec %0; jnz 1b" : "+r"(n)); }\n'
CLOCK = f"""
#include <pfmon.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
{SPIN}
static long now(void) {{
    struct timespec it;
    clock_gettime(CLOCK_MONOTONIC, &it);
    return it.tv_sec * 1000000000L + it.tv_nsec;
}}
static void step(long n) {{
    spin(n);
    printf("%ld\\n", now());
}}
static void *other(void *unused) {{
    PFMON_START("work");
    step(60000);
    PFMON_STOP("work");
    step(300000);
    return unused;
}}
int main(int argc, char **argv) {{
    pthread_t thread;
    int turn;
    step(1000);
    for (turn = 0; turn < TURNS; turn++) {{
        PFMON_START("work");
        step(100 + turn);
        PFMON_STOP("work");
        step(200);
    }}
    pthread_create(&thread, 0, other, 0);
    step(500000);
    pthread_join(thread, 0);
    fflush(stdout);
    PFMON_START("work");
    if (!fork()) {{
        step(10);
        PFMON_STOP("work");
        step(10);
        PFMON_START("work");
        step(10);
        fflush(stdout);
        _exit(0);
    }}
    wait(0);
    PFMON_STOP("work");
    if (!vfork())
        _exit(0);
    wait(0);
    step(10);
    fflush(stdout);
    if (argc > 1)
        execl(argv[1], argv[1], (char *)0);
    return 0;
}}
"""
PAGE_END = """
#define _GNU_SOURCE
#include <pfmon.h>
#include <string.h>
#include <sys/mman.h>
int main(void) {
    char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + 4096, 4096);
    memcpy(page + 4096 - 5, "last", 5);
    PFMON_START(page + 4096 - 5);
    PFMON_STOP("last");
    memset(page, 'x', 4096);
    PFMON_START(page + 4096 - 5);     /* its end is not readable */
    PFMON_START((char *)0);
    PFMON_START((char *)-8);
    PFMON_START((char *)0x8000000000000000UL);
    PFMON_START((char *)0x700000000000UL);
    PFMON_START("last");
    return 0;
}
"""


def built(folder: Path, source: str, *options: str) -> str:
    (folder / "program.c").write_text(source)
    words = ["gcc", "-O1", *options, f"-I{FOLDER}", "-o", folder / "program", folder / "program.c", "-lpthread"]
    subprocess.run(words, check=True)
    return str(folder / "program")


@pytest.mark.parametrize("turns", [3, 2000])
def test_counts_and_the_clock_are_the_same(tmp_path: Path, turns: int) -> None:
    path = built(tmp_path, CLOCK, f"-DTURNS={turns}")
    plain = run(path, events=EVENTS, capture=True)
    alone = run(path, events=EVENTS, region="work", capture=True)
    streamed = run(path, events=EVENTS, region="work", per_thread=True, capture=True)
    assert alone.status == plain.status == 0
    assert alone.output == streamed.output == plain.output
    assert [one.value for one in alone.counts] == [one.value for one in streamed.counts]
    assert alone.retired == plain.retired == streamed.retired


def test_an_executed_program_begins_outside(tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    second = built(tmp_path / "second", "#include <pfmon.h>\n" + SPIN + SECOND)
    path = built(tmp_path, CLOCK, "-DTURNS=3")
    done = run([path, second], events=EVENTS[:1], region="work", capture=True)
    (count,) = done.counts
    assert isinstance(count.value, int) and 2 * 700 < count.value < 2 * 700 + 5
    assert any("launcher" in note for note in done.notes)


SECOND = """
int main(void) {
    spin(5000);
    PFMON_START("work");
    spin(700);
    PFMON_STOP("work");
    return 0;
}
"""


def test_names_that_cannot_be_read_are_no_regions(tmp_path: Path) -> None:
    done = run(built(tmp_path, PAGE_END), events=EVENTS, per_region=True)
    assert [(one.name, one.entered) for one in done.regions or ()] == [("last", 2), ("", 0)]
    assert "5 marks of regions without a valid name" in "".join(done.notes)
    assert run(tmp_path / "program", events=EVENTS, region="last").notes == done.notes


TIMER = """
import os, signal, time
def mark(text):
    try:
        os.pwrite(-1, text, 0)
    except OSError:
        pass
hits = []
signal.signal(signal.SIGALRM, lambda *_: hits.append(time.monotonic_ns()))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0007)
for turn in range(30):
    mark(b"pfmon:start work")
    sum(range(3000))
    mark(b"pfmon:stop work")
    sum(range(9000))
signal.setitimer(signal.ITIMER_REAL, 0)
print(hits)
"""


def test_timers_expire_at_the_same_instructions(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TIMER)
    command = [sys.executable, "-S", "-I", str(tmp_path / "program.py")]
    plain = run(command, events=EVENTS, capture=True)
    alone = run(command, events=EVENTS, region="work", capture=True)
    streamed = run(command, events=EVENTS, region="work", per_thread=True, capture=True)
    assert plain.output is not None and plain.output.count(b",") > 10
    assert alone.output == streamed.output == plain.output
    assert [one.value for one in alone.counts] == [one.value for one in streamed.counts]
    assert alone.retired == plain.retired
