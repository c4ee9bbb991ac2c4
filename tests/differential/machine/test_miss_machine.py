"""The machine without time: misses of a plain model and of the machine with time, from words of paths or of blocks."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import command
import pytest
from grids import diagonal, first_quick
from guests import SMALL
from plain_caches import modelled
from qemu_guests import ASSEMBLER, EXAMPLES, QEMU, assemble, guest

from pfmon.machine._machine import IntervalMachine, MissMachine, Occurrence
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import BlockTable, Consumer, Failure, Recorder

pytestmark = ASSEMBLER

NO_PREFETCH = ("prefetch.degree=0", "prefetch.adjacent=false")
UNTIMED = range(Occurrence.CORE_L1D_READ_MISS, Occurrence.CORE_LOAD_MISS_CYCLE)
MISSES = (
    *("CORE_L1D_READ_MISS", "CORE_L1D_WRITE_MISS", "CORE_L1I_MISS", "CORE_LLC_REFERENCE", "CORE_LLC_MISS"),
    *("CORE_LOAD_WALK", "CORE_STORE_WALK", "CORE_ITLB_MISS"),
)
SMALLER = ("l1d.size=1K", "l1d.ways=2", "l1i.size=1K", "l1i.ways=2", "l2.size=8K", "l2.ways=4", "dtlb1.entries=2",
           "dtlb1.ways=2", "itlb1.entries=2", "itlb1.ways=2", "tlb2.entries=4", "tlb2.ways=2")  # fmt: skip
INCLUSIVE = (*SMALLER, "l3.size=16K", "memory.inclusive=true")
"""L3 removes lines that are in constant use."""
MODULO = ("l1d.size=3K", "l1d.ways=2", "l1d.index=modulo", "l2.size=12K", "l2.ways=4", "l2.index=modulo",
          "l3.size=24K", "l3.index=modulo")  # fmt: skip
Setting = tuple[str, Sequence[str]]
MACHINES: list[Setting] = [
    ("core2", ()),
    ("nehalem", SMALLER),
    ("nehalem", INCLUSIVE),
    ("nehalem", MODULO),
    ("itanium2_ia32", ()),
    ("core2", SMALLER),
    ("nehalem", ()),
    ("ppc604e", ()),
]
PROGRAMS = ["sort", "dispatch", "matmul", "fib", "lz", "strings", "hashmap", "nbody"]


def read(name: str, consumer: Consumer | None = None, engine: str = "qemu") -> tuple[BlockTable, Recorder | Consumer]:
    """Read the stream of an example, with the addresses of its accesses."""
    with Path("/dev/null").open("w") as nowhere:
        files = (0, nowhere.fileno(), nowhere.fileno())
        one = guest([EXAMPLES / "x86_64" / name, *SMALL[name]], files=files, addresses=True, engine=engine)
        reader = consumer or Recorder()
        one.run(reader)
        one.close()
    return one.table, reader


def counted(machine: IntervalMachine | MissMachine) -> Counter[tuple[int | None, int, int, int]]:
    machine.finish()
    assert not machine.failure
    return Counter({place: times for place, times in machine.occurrences().items() if place[2] in UNTIMED})


def named(machine: MissMachine) -> Counter[str]:
    found: Counter[str] = Counter()
    for (_, _, occurrence, _), times in counted(machine).items():
        found[Occurrence(occurrence).name] += times
    return found


@QEMU
@diagonal
@pytest.mark.parametrize("setting", first_quick(MACHINES, single=True))
@pytest.mark.parametrize("name", first_quick(PROGRAMS))
def test_misses_are_those_of_the_machine_with_time(name: str, setting: Setting) -> None:
    """By block and instruction, with prefetchers and mispredictions."""
    table, words = read(name)
    assert isinstance(words, Recorder)
    figures = load(*setting)
    timed, alone = IntervalMachine(figures, table), MissMachine(figures, table)
    words.replay(timed)
    words.replay(alone)
    assert counted(alone) == counted(timed)
    assert len(counted(timed)) > 20


@QEMU
@diagonal
@pytest.mark.parametrize("setting", first_quick([one for one in MACHINES if one[1] != INCLUSIVE], single=True))
@pytest.mark.parametrize("name", first_quick(PROGRAMS))
def test_misses_are_those_of_a_plain_model(name: str, setting: Setting) -> None:
    table, words = read(name)
    assert isinstance(words, Recorder)
    figures = load(setting[0], (*NO_PREFETCH, "memory.inclusive=false", *setting[1]))
    alone = MissMachine(figures, table)
    words.replay(alone)
    expected = modelled(figures, table, words.words())
    assert {name: named(alone)[name] for name in MISSES} == {name: expected[name] for name in MISSES}


@diagonal
@pytest.mark.parametrize("setting", first_quick(MACHINES, single=True))
@pytest.mark.parametrize("name", first_quick(PROGRAMS))
def test_paths_have_the_misses_of_their_blocks(name: str, setting: Setting) -> None:
    """Both by this project's engine, which writes words of paths to a reader that takes them."""
    figures = load(*setting)
    table, words = read(name, engine="x86_64")
    assert isinstance(words, Recorder)
    by_blocks = MissMachine(figures, table)
    words.replay(by_blocks)
    with Path("/dev/null").open("w") as nowhere:
        files = (0, nowhere.fileno(), nowhere.fileno())
        one = guest([EXAMPLES / "x86_64" / name, *SMALL[name]], files=files, addresses=True, engine="x86_64")
        by_paths = MissMachine(figures, one.table)
        one.run(by_paths)
        one.close()
    assert counted(by_paths) == counted(by_blocks)


MISS_EVENTS = "llc_references,llc_misses,branch_misses_retired,instructions_retired"


@pytest.mark.parametrize("engine", ["x86_64", "qemu"])
def test_counts_without_cycles_are_those_beside_cycles(engine: str) -> None:
    """By function as well, and so are the counts of executions, which the machine gives."""
    program = [str(EXAMPLES / "x86_64" / "sort"), *SMALL["sort"]]
    found = []
    for events in (MISS_EVENTS, f"{MISS_EVENTS},unhalted_core_cycles"):
        words = [f"--engine={engine}", "--unlimited", "-e", events, "--json", "--outfile=/dev/stderr", "--per-function"]
        done = command.pfmon(*words, *program)
        assert done.returncode == 0, done
        results = json.loads(next(line for line in done.stderr.splitlines() if line.startswith("{")))
        counts = [one["count"] for one in results["events"][:4]]
        functions = {one["name"]: one["counts"][:4] for one in results["profile"]["functions"]}
        found.append((counts, {name: own for name, own in functions.items() if any(own)}))
    assert found[0] == found[1]
    assert min(found[0][0]) > 15 and len(found[0][1]) > 3


def test_more_regions_of_memory_than_there_are_numbers_for_are_refused(tmp_path: Path) -> None:
    """Each of the 40 mappings is 8 GB behind the one before."""
    maps = """.text
 _start: mov $40, %ebx
 movabs $0x100000000000, %r12
 1: mov %r12, %rdi
 mov $4096, %esi
 mov $3, %edx
 mov $0x32, %r10d
 mov $-1, %r8
 xor %r9d, %r9d
 mov $9, %eax
 syscall
 mov (%r12), %rax
 movabs $0x200000000, %rax
 add %rax, %r12
 dec %ebx
 jnz 1b
 mov $60, %eax
 xor %edi, %edi
 syscall
"""
    with Path("/dev/null").open("w") as nowhere:
        files = (0, nowhere.fileno(), nowhere.fileno())
        one = guest([assemble(tmp_path, maps)], files=files, addresses=True, engine="x86_64")
        machine = MissMachine(load("nehalem"), one.table)
        one.run(machine)
        one.close()
    assert machine.failure == Failure.TOO_MANY_REGIONS
