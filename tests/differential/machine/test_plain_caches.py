"""Misses of out-of-order machines, with time and without, and those of caches as lists, fed with the same stream."""

from collections import Counter
from pathlib import Path

import pytest
from grids import diagonal, first_quick
from guests import SMALL
from plain_caches import modelled
from qemu_guests import ASSEMBLER, EXAMPLES, assemble, guest
from x86_64_host import measured
from x86_64_random import random_program

from pfmon.machine._machine import IntervalMachine, MissMachine, Occurrence
from pfmon.machine.config.core_timings import CoreTimings
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import BlockTable, Recorder

pytestmark = ASSEMBLER

MISSES = (
    *("CORE_L1D_READ_MISS", "CORE_L1D_WRITE_MISS", "CORE_L1I_MISS", "CORE_LLC_REFERENCE", "CORE_LLC_MISS"),
    *("CORE_LOAD_WALK", "CORE_STORE_WALK", "CORE_ITLB_MISS"),
)
NO_PREFETCH = ("prefetch.degree=0", "prefetch.adjacent=false")
SMALL_CACHES = (
    *("l1d.size=1K", "l1d.ways=2", "l1i.size=1K", "l1i.ways=2", "l2.size=4K", "l2.ways=4", "l3.size=16K", "l3.ways=4"),
    *("dtlb1.entries=2", "dtlb1.ways=2", "itlb1.entries=2", "itlb1.ways=2", "tlb2.entries=4", "tlb2.ways=2"),
)
"""Caches and TLBs that are full; L3 removes lines that are in constant use."""
SMALL_CORE2 = tuple(one for one in SMALL_CACHES if not one.startswith("l3"))
MACHINES = [
    *(("skylake", ()), ("nehalem", ()), ("core2", ()), ("skylake", NO_PREFETCH), ("skylake", SMALL_CACHES)),
    *(("nehalem", (*SMALL_CACHES, "prefetch.adjacent=true")), ("core2", (*SMALL_CORE2, "memory.inclusive=true"))),
    *(("core2", SMALL_CORE2), ("skylake", (*SMALL_CACHES, *NO_PREFETCH))),
    *(("nehalem", (*SMALL_CACHES, "prefetch.degree=7", "prefetch.streams=3")),),
]
PROGRAMS = ["matmul", "sort", "dispatch", "lz", "strings", "hashmap", "nbody", "sha256", "queens", "stream"]


def read(command: list[str | Path]) -> tuple[BlockTable, Recorder]:
    """The stream of a program, with the addresses of its accesses."""
    with Path("/dev/null").open("w") as nowhere:
        files = (0, nowhere.fileno(), nowhere.fileno())
        one, reader = guest(command, files=files, addresses=True, engine="x86_64"), Recorder()
        ending = one.run(reader)
        one.close()
    assert ending is not None and ending.status == 0
    return one.table, reader


def misses(machine: IntervalMachine | MissMachine, words: Recorder) -> dict[str, int]:
    """How often what missed."""
    words.replay(machine)
    machine.finish()
    assert not machine.failure
    found: Counter[str] = Counter()
    for (_, _, occurrence, _), times in machine.occurrences().items():
        found[Occurrence(occurrence).name] += times
    return {name: found[name] for name in MISSES}


def compare(table: BlockTable, words: Recorder, name: str, changes: tuple[str, ...]) -> dict[str, int]:
    """The misses, which are the same in all three."""
    figures = load(name, changes)
    timings = CoreTimings(figures, table.instruction_names or [])
    plain = modelled(figures, table, words.words())
    expected = {name: plain[name] for name in MISSES}
    assert misses(IntervalMachine(figures, table, 1, timings), words) == expected
    assert misses(MissMachine(figures, table), words) == expected
    return expected


@measured
@diagonal
@pytest.mark.parametrize(("machine", "changes"), first_quick(MACHINES))
@pytest.mark.parametrize("name", first_quick(PROGRAMS))
def test_misses_are_those_of_plain_caches(name: str, machine: str, changes: tuple[str, ...]) -> None:
    table, words = read([EXAMPLES / "x86_64" / name, *SMALL[name]])
    found = compare(table, words, machine, changes)
    assert min(found[name] for name in ("CORE_L1I_MISS", "CORE_LLC_REFERENCE", "CORE_ITLB_MISS")) > 0


@measured
@pytest.mark.slow
@pytest.mark.parametrize("seed", [500, *(pytest.param(one, marks=pytest.mark.exhaustive) for one in range(501, 530))])
def test_misses_of_random_code_are_those_of_plain_caches(seed: int, tmp_path: Path) -> None:
    table, words = read([random_program(seed, 200, tmp_path, passes=20)])
    for machine, changes in MACHINES:
        compare(table, words, machine, changes)


PAST_CACHES = """
    .bss
    .balign 4096
data: .skip 0x50000
    .text
_start: mov $3, %ebp
    pcmpeqd %xmm0, %xmm0
again: lea data(%rip), %rbx
    mov $1000, %ecx
each: mov (%rbx), %rax
    movnti %rax, 0x2000(%rbx)
    movntps %xmm0, 0x4000(%rbx)
    prefetcht0 0x8000(%rbx)
    prefetchnta 0x10040(%rbx)
    mov 0x2004(%rbx), %edx
    mov %rdx, 0x403c(%rbx)
    clflush 0x5000(%rbx)
    add $208, %rbx
    dec %ecx
    jnz each
    lea data(%rip), %rdi
    mov $3000, %ecx
    rep stosb
    lea data(%rip), %rsi
    mov $700, %ecx
    rep movsq
    dec %ebp
    jnz again
    mov $60, %eax
    xor %edi, %edi
    syscall
"""


@measured
@pytest.mark.parametrize(("machine", "changes"), first_quick(MACHINES))
def test_prefetches_and_accesses_past_the_caches(machine: str, changes: tuple[str, ...], tmp_path: Path) -> None:
    """Stores that leave no line behind, software prefetches, which miss nothing, clflush, and strings of many lines."""
    found = compare(*read([assemble(tmp_path, PAST_CACHES)]), machine, changes)
    assert found["CORE_L1D_READ_MISS"] > 3000
