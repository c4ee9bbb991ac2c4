"""Programs with threads under qemu: nothing is lost, whichever thread executes it."""

from pathlib import Path

import pytest
from grids import first_quick
from host_programs import needs
from independent_counts import instructions_by_valgrind
from qemu_guests import ASSEMBLER, QEMU, compile_c, run

import pfmon
from pfmon.stream._stream import Mark

pytestmark = [QEMU, ASSEMBLER]

WORKING = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { THREADS = 4 };
static long turns;
static void *work(void *all) {
    volatile long sum = 0;
    char *block = malloc(1000);
    for (long i = 0; i < turns; i++) { sum += i; block[i % 1000] = 1; }
    free(block);
    return all;
}
int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int together = argc > 2;
    turns = atol(argv[1]);
    if (argc > 3) mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, NULL)) return 1;
        if (!together) pthread_join(threads[i], NULL);
    }
    for (int i = 0; together && i < THREADS; i++) pthread_join(threads[i], NULL);
    return 5;
}
"""
TURNS = 4 * 50_000

DYING = """
#include <pthread.h>
static void *work(void *all) { __asm__ volatile("nop\\n mov %%eax, 0\\n nop" ::: "memory"); return all; }
int main(void) { pthread_t one; pthread_create(&one, NULL, work, NULL); for (;;) ; }
"""

ATOMIC = """
#include <pthread.h>
static long sum;
static void *work(void *all) { for (int i = 0; i < 20000; i++) __sync_fetch_and_add(&sum, 1); return all; }
int main(void) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    return sum == 8 * 20000 ? 0 : 1;
}
"""


@pytest.mark.slow
@needs("valgrind")
def test_threads_one_after_another_retire_what_valgrind_counts(tmp_path: Path) -> None:
    """The difference of two runs: the C library's start-up asks the processor what it can, and Valgrind's is another.
    Whether a thread that is joined has ended already is the host's to say; that makes some ten instructions."""
    program = compile_c(tmp_path, WORKING, "-static", "-pthread")
    runs = [run([program, turns]) for turns in ("100", "30100")]
    assert [ran.ending.status for ran in runs if ran.ending] == [5, 5]
    theirs = [instructions_by_valgrind(program, turns, status=5) for turns in ("100", "30100")]
    assert runs[1].retired - runs[0].retired == pytest.approx(theirs[1] - theirs[0], rel=0.001)
    assert all(ran.tally.instructions() == ran.retired for ran in runs)


@pytest.mark.parametrize("link", first_quick(["-static", "-pie"]))
def test_threads_at_the_same_time_lose_nothing(link: str, tmp_path: Path) -> None:
    program = compile_c(tmp_path, WORKING, link, "-fPIE" if link == "-pie" else "-fno-pie", "-pthread")
    for arguments in ([], ["together"], ["together", "shared"]):  # memory that is shared: translated anew before
        ran = run([program, "50000", *arguments])
        assert ran.ending is not None and ran.ending.status == 5
        assert ran.tally.instructions() == ran.retired
        loop = [number for number in ran.guest.table.numbers() if ran.tally.runs(number) >= TURNS - 8]
        assert sum(ran.tally.runs(number) for number in loop) in (TURNS, TURNS - 4, TURNS * 2, TURNS * 2 - 4)


@pytest.mark.slow
def test_atomic_instructions_of_threads(tmp_path: Path) -> None:
    """Repeated: when the second thread begins is the host's to say, and qemu translates anew a little later."""
    program = compile_c(tmp_path, ATOMIC, "-pthread")
    for _ in range(10):
        ran = run([program])
        assert ran.ending is not None and ran.ending.status == 0
        assert ran.tally.instructions() == ran.retired > 8 * 20000 * 3


@pytest.mark.slow
def test_fault_in_a_second_thread_kills_the_program(tmp_path: Path) -> None:
    ran = run([compile_c(tmp_path, DYING, "-pthread")])
    assert ran.ending is not None and ran.ending.signal == 11
    assert ran.tally.instructions() == ran.retired
    assert ran.tally.marks(Mark.FAULT)[0] == 1


@pytest.mark.parametrize("together", first_quick([("all",), ()], single=True), ids=["together", "in turn"])
def test_each_thread_has_calls_and_counts_of_its_own(together: tuple[str, ...], tmp_path: Path) -> None:
    """Four threads run the same loop, and the first one does not; a thread that has ended leaves its place in qemu to
    the next one, and not its calls."""
    program = compile_c(tmp_path, WORKING, "-static", "-pthread", "-fno-inline")
    ran = pfmon.run([str(program), "20000", *together], report="html", capture=True)
    assert ran.surveyed and ran.status == 5
    graph = ran.surveyed.graph
    calls = {(edge.caller.name, edge.callee.name): (edge.calls, edge.instructions) for edge in graph.edges}
    assert calls["start_thread", "work"][0] == 4
    inclusive = {function.name: instructions for function, (_, instructions) in graph.inclusive.items()}
    (own,) = (row.instructions for row in ran.surveyed.cpi.functions if row.name == "work")
    assert 4 * 20000 * 5 < own <= inclusive["work"] < 1.2 * own  # what it allocates is the rest
    threads = ran.surveyed.threads
    assert [number for number, _ in threads] == [0, 1, 2, 3, 4]
    assert sum(counts[-1] for _, counts in threads) == ran.retired
    assert all(own / 4 <= counts[-1] < 1.3 * own / 4 for _, counts in threads[1:])
