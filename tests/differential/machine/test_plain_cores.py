"""Several coherent cores against caches as lists with a plain MESI model, fed with the same streams of threads."""

import shutil
from collections import Counter
from pathlib import Path

import pytest
from grids import diagonal, first_quick
from host_programs import needs
from plain_cores import modelled_cores
from qemu_guests import compile_c
from x86_64_host import MARKS

from pfmon.engine import api, registry
from pfmon.engine.guest_settings import GuestSettings
from pfmon.machine._machine import IntervalCores, Occurrence
from pfmon.machine.config.core_timings import CoreTimings
from pfmon.machine.config.machine_config import load
from pfmon.program import image
from pfmon.stream._stream import BlockTable, Recorder

pytestmark = MARKS

PROGRAM = r"""
#include <emmintrin.h>
#include <pthread.h>
#include <string.h>
static long words[1 << 12] __attribute__((aligned(64)));
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long sink;
static void *work(void *argument) {
    unsigned long state = (unsigned long)argument * 977 + SEED, i;
    for (i = 0; i < 500; i++) {
        long *at;
        state = state * 6364136223846793005UL + 1442695040888963407UL;
        at = &words[(state >> 40) % (state >> 60 < 12 ? 64 : 1 << 12)];
        switch (state >> 33 & 15) {
        case 0: case 1: case 2: case 3: *at = (long)i; break;
        case 4: case 5: case 6: *(volatile long *)at += 1; break;
        case 7: __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); break;
        case 8: *(volatile int *)((char *)words + (state >> 40) % 8000) = 1; break;
        case 9: memset(words + (state >> 45) % 3000, 0, (state >> 50) % 300); break;
        case 10: pthread_mutex_lock(&lock); words[9]++; pthread_mutex_unlock(&lock); break;
        case 11: _mm_stream_si32((int *)at, 1); break;
        case 12: __asm__ volatile("incq %0" : "+m"(*at)); break;
        case 13: _mm_clflush(at); break;
        default: sink = *(volatile long *)at;
        }
    }
    return 0;
}
int main(void) {
    pthread_t threads[4];
    long i;
    for (i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"""
NO_PREFETCH = ("prefetch.degree=0", "prefetch.adjacent=false")
SMALL_CORE2 = ("l1d.size=1K", "l1d.ways=2", "l1i.size=1K", "l1i.ways=2", "l2.size=4K", "l2.ways=4")
SMALL_CACHES = (*SMALL_CORE2, "l3.size=16K", "l3.ways=4")
"""Caches that are full; the last level removes lines that are in constant use."""
MACHINES = [
    *(("skylake", SMALL_CACHES), ("core2", SMALL_CORE2), ("skylake", ()), ("nehalem", SMALL_CACHES), ("core2", ())),
    *(("icelake", (*SMALL_CACHES, *NO_PREFETCH)), ("core2", (*SMALL_CORE2, "memory.inclusive=true"))),
    ("skylake", (*SMALL_CACHES, "memory.inclusive=false")),
    ("zen3", SMALL_CACHES),
    ("zen3", ()),
]
MISSES = ("CORE_L1D_READ_MISS", "CORE_L1D_WRITE_MISS", "CORE_L1I_MISS", "CORE_LLC_REFERENCE", "CORE_LLC_MISS")


def read(command: list[str | Path], quantum: int, seed: int) -> tuple[BlockTable, Recorder]:
    """The stream of a program whose threads have turns of so many instructions."""
    with Path("/dev/null").open("w") as nowhere:
        settings = GuestSettings(
            standard_files=(0, nowhere.fileno(), nowhere.fileno()), quantum=quantum, schedule_seed=seed
        )
        words = [str(word).encode() for word in command]
        wanted = api.StartRequest(
            image.load(str(command[0])), words, (), settings, memory_limit=1 << 30, processor="intel_v2", addresses=True
        )
        one, reader = registry.start(wanted), Recorder()
        ending = one.run(reader)
        one.close()
    assert ending is not None and ending.status == 0
    return one.table, reader


def compare(table: BlockTable, words: Recorder, name: str, changes: tuple[str, ...], cores: int) -> Counter[str]:
    """Misses and the answers of cores are the same in both; what happened."""
    figures = load(name, changes)
    machine = IntervalCores(figures, table, 1, CoreTimings(figures, table.instruction_names or []), True, cores)
    words.replay(machine)
    machine.finish()
    assert not machine.failure
    plain = modelled_cores(figures, table, words.words(), cores)
    expected: Counter[str] = Counter()
    for core in plain.cores:
        expected.update({name: core.happened[name] for name in MISSES})
    found: Counter[str] = Counter()
    for (_, _, occurrence, _), times in machine.occurrences().items():
        found[Occurrence(occurrence).name] += times
    assert {name: found[name] for name in MISSES} == {name: expected[name] for name in MISSES}
    counts = machine.coherent.counts()
    assert counts == [{key: plain.counts[core][key] for key in one} for core, one in enumerate(counts)]
    happened: Counter[str] = Counter()
    for one in counts:
        happened.update(one)
    return happened


@diagonal
@pytest.mark.parametrize(("machine", "changes"), first_quick(MACHINES))
@pytest.mark.parametrize("cores", first_quick([2, 3, 5]))
@pytest.mark.parametrize("seed", first_quick([1, 2, 3]))
def test_misses_and_snoops_are_those_of_plain_mesi_caches(
    tmp_path: Path, machine: str, changes: tuple[str, ...], cores: int, seed: int
) -> None:
    program = compile_c(tmp_path, PROGRAM, "-O1", "-pthread", "-static", f"-DSEED={seed}")
    table, words = read([program], 50 * seed, seed - 1)
    happened = compare(table, words, machine, changes, cores)
    for one in ("read_hitm", "own_hitm", "own_hit", "invalidated"):
        assert happened[one] > 20


@pytest.mark.slow
@needs("xz")
@pytest.mark.parametrize(
    ("machine", "lines"),
    [("skylake", 300), *(pytest.param(one, 1500, marks=pytest.mark.exhaustive) for one in ("skylake", "core2"))],
)
def test_a_parallel_compression_is_that_of_plain_mesi_caches(tmp_path: Path, machine: str, lines: int) -> None:
    (tmp_path / "text").write_text("".join(f"{i * 7919 % 10007}\n" for i in range(lines)))
    words = [
        str(shutil.which("xz")),
        "-T2",
        "-0",
        f"--block-size={lines * 4096 // 1500}",
        "-k",
        "-c",
        tmp_path / "text",
    ]
    table, stream = read(words, 100, 0)
    assert compare(table, stream, machine, (), 2)["read_hitm"] > 20


@pytest.mark.parametrize("machine", ["core2", "skylake"])
def test_cycles_are_the_same_with_graphs_and_without(tmp_path: Path, machine: str) -> None:
    program = compile_c(tmp_path, PROGRAM, "-O1", "-pthread", "-static", "-DSEED=7")
    table, words = read([program], 60, 0)
    figures = load(machine)
    found = []
    for graphs in (True, False):
        cores = IntervalCores(figures, table, 1, CoreTimings(figures, table.instruction_names or []), graphs, 3)
        words.replay(cores)
        cores.finish()
        found.append((cores.cycles_of_cores(), cores.time(), cores.occurrences()))
        stalls = sum(cycles for *_, cycles in cores.bubbles())
        assert cores.records.cycles_with_issue() + stalls == cores.cycles == cores.time()[0]
    assert found[0] == found[1]
