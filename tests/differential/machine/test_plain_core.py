"""Schedules of blocks, and those of a plain core in absolute time: all times, block by block."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from core_schedules_build import compiled
from example_counts import usual_size
from grids import diagonal, few, first_quick
from guests import SMALL
from plain_core import MISPREDICTED, REDIRECTED, SOURCE_SHIFT, TAKEN, CoreWithStation, Kind, PlainCore, Response
from qemu_guests import ASSEMBLER, EXAMPLES, assemble, guest
from x86_64_host import measured
from x86_64_random import random_program

from pfmon.machine.config.core_timings import CoreKind, CoreTimings
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import BlockTable, Recorder

pytestmark = ASSEMBLER

MACHINES = ["skylake", "icelake", "zen3", "zen4", "nehalem", "core2"]
BLOCKS = usual_size(500, 1500)
"""Runs of blocks that are compared of a program."""
FEW_ENTRIES = ("core.window=32", "core.scheduler=16", "core.loads=8", "core.stores=8", "core.fills=2")
OTHER_WIDTH = ("core.width=3", "core.walkers=1")


def stream(command: list[str | Path]) -> tuple[BlockTable, list[int]]:
    """The blocks of a program, in the order in which they ran."""
    with Path("/dev/null").open("w") as nowhere:
        files = (0, nowhere.fileno(), nowhere.fileno())
        one, reader = guest(command, files=files, addresses=True, engine="x86_64"), Recorder()
        one.run(reader)
        one.close()
    numbers, words, at = [], reader.words(), 0
    while at < len(words):
        word = words[at]
        at += 1
        if word >> 63 == 0:
            numbers.append(word & 0xFFFFFFFF)
            block = one.table.block(numbers[-1])
            at += sum(bool(i.access) + (1 + (i.second >> 3)) * bool(i.second & 7) for i in block.instructions)
    return one.table, numbers


class Memory:
    """Responses at random; ``rare``: how many accesses have none."""

    def __init__(self, random: Random, rare: float) -> None:
        self.random, self.rare = random, rare

    def responses(self, block: Mapping[str, Any]) -> list[Response]:
        """What happens to the accesses of a block."""
        found = list(self._fetches())
        missed: list[int] = []
        stored: list[int] = []
        for one in block["instructions"]:
            for access, reads, _ in one["accesses"]:
                if one["kind"] & CoreKind.STRING:
                    found.append((access, Kind.STRING, self.random.randrange(2000)))
                while self.random.random() > self.rare:
                    kind = self._kind(reads, bool(missed), bool(stored))
                    value = {Kind.IN_FLIGHT_HERE: missed, Kind.FORWARDED_HERE: stored, Kind.BLOCKED_HERE: stored}
                    found.append(
                        (access, kind, self.random.choice(value[kind]) if kind in value else self._value(kind))
                    )
                    if kind <= Kind.MEMORY:
                        missed.append(access)
            stored += [access for access, _, writes in one["accesses"] if writes]
        return found

    def _fetches(self) -> Iterator[Response]:
        if self.random.random() > self.rare + 0.2:
            yield 0, self.random.choice([Kind.FETCH, Kind.FETCH_TRANSLATION]), self.random.randrange(1, 200)

    def _kind(self, reads: bool, missed: bool, stored: bool) -> Kind:
        kinds = [Kind.L2, Kind.L2, Kind.L3, Kind.MEMORY, Kind.IN_FLIGHT, Kind.WALK, Kind.BUS, Kind.TRANSLATION]
        kinds += [Kind.SPLIT, Kind.PAGE_SPLIT, *([Kind.IN_FLIGHT_HERE] * missed)]
        if reads:
            kinds += [Kind.FORWARDED, Kind.FORWARDED, Kind.BLOCKED, Kind.ALIASED]
            kinds += [Kind.FORWARDED_HERE, Kind.FORWARDED_HERE, Kind.BLOCKED_HERE] * stored
        return self.random.choice(kinds)

    def _value(self, kind: Kind) -> int:
        if kind == Kind.BUS:
            return self.random.randrange(3) << 16 | self.random.randrange(1, 3)
        return self.random.randrange(150) if kind in (Kind.IN_FLIGHT, Kind.FORWARDED, Kind.BLOCKED) else 0

    def end(self) -> int:
        """How the block ends."""
        taken, source = self.random.randrange(2) * TAKEN, self.random.randrange(3) << SOURCE_SHIFT
        wrong = self.random.random()
        return taken | source | (MISPREDICTED if wrong < 0.04 else REDIRECTED if wrong < 0.06 and taken else 0)


class SamePatterns(Memory):
    """The same responses to a block most of the time, which give other times."""

    def __init__(self, random: Random, rare: float) -> None:
        super().__init__(random, rare)
        self.known: dict[int, list[Response]] = {}

    def responses(self, block: Mapping[str, Any]) -> list[Response]:
        if block["number"] not in self.known or self.random.random() < 0.02:
            self.known[block["number"]] = super().responses(block)
        given = (Kind.IN_FLIGHT, Kind.FORWARDED, Kind.BLOCKED)
        found = self.known[block["number"]]
        return [(access, kind, self._value(Kind(kind)) if kind in given else value) for access, kind, value in found]


def timings_of(name: str, table: BlockTable, *changes: str) -> CoreTimings:
    return CoreTimings(load(name, changes), table.instruction_names or [])


def times_of(plain: PlainCore) -> dict[str, Any]:
    of_cores = {"dispatch": plain.now, "front end": plain.front, "retired": plain.retired, "committed": plain.committed}
    waits = {"undelivered": plain.undelivered, "mispredicted": plain.mispredicted}
    return {**of_cores, **waits, "registers": plain.values(), "stores": plain.stores}


def known(times: dict[str, Any]) -> dict[str, Any]:
    """Without registers that nothing has written."""
    return {**times, "registers": [max(ready, 0) for ready in times["registers"]]}


def compare(table: BlockTable, numbers: list[int], timings: CoreTimings, graphs: bool, memory: Memory) -> int:
    """Every time is the same after every block; how many parts ran by graphs."""
    schedules = compiled().Schedules(table, timings, graphs)
    plain = PlainCore(timings.core_figures(), schedules.ticks)
    for at, number in enumerate(numbers[:BLOCKS]):
        block = schedules.description(number)
        responses, end = memory.responses(block), memory.end()
        times = schedules.run(number, responses, end)
        plain.run(block, responses, end)
        found, expected = known(times_of(plain)), known(times)
        different = {name: (found[name], expected[name]) for name in found if found[name] != expected[name]}
        assert not different, (at, number, responses, end)
    assert plain.retired > 1000 * schedules.ticks
    return int(schedules.from_graphs)


def compare_both(
    table: BlockTable,
    numbers: list[int],
    machine: str,
    rare: float,
    *changes: str,
    kind: Callable[[Random, float], Memory] = Memory,
) -> None:
    """With graphs and without."""
    for graphs in (True, False):
        timings = timings_of(machine, table, *changes)
        assert compare(table, numbers, timings, graphs, kind(Random(rare), rare)) > 10


@measured
@pytest.mark.slow
@pytest.mark.parametrize("machine", few(MACHINES, 3))
def test_patterns_of_responses_are_scheduled_as_by_the_plain_core(machine: str, tmp_path: Path) -> None:
    """By their graphs, when a pattern has come twice in a row."""
    table, numbers = stream([random_program(7, 100, tmp_path, passes=30)])
    compare_both(table, numbers, machine, 0.7, kind=SamePatterns)
    compare_both(table, numbers, machine, 0.9, *FEW_ENTRIES, kind=SamePatterns)
    assert compare(table, numbers, timings_of(machine, table), True, SamePatterns(Random(2), 0.5)) > compare(
        table, numbers, timings_of(machine, table), True, Memory(Random(2), 0.5)
    )


@measured
@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", first_quick(["sort", "lz", "nbody", "strings"]))
def test_examples_are_scheduled_as_by_the_plain_core(name: str, machine: str) -> None:
    """Once without anything but L1D, once with rare responses."""
    table, numbers = stream([EXAMPLES / "x86_64" / name, *SMALL[name]])
    for rare in (1.0, 0.95):
        compare_both(table, numbers, machine, rare)


@measured
@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "machines"),
    [
        (0, ["skylake", "core2"]),
        *(pytest.param(one, MACHINES, marks=pytest.mark.exhaustive) for one in range(30)),
    ],
)
def test_random_code_is_scheduled_as_by_the_plain_core(seed: int, machines: list[str], tmp_path: Path) -> None:
    table, numbers = stream([random_program(seed, 300, tmp_path, passes=10)])
    for machine in machines:
        for rare in (1.0, 0.9, 0.5):
            compare_both(table, numbers, machine, rare)
        compare_both(table, numbers, machine, 0.9, *FEW_ENTRIES)
        compare_both(table, numbers, machine, 0.98, *OTHER_WIDTH)


class AllInFlight(Memory):
    """Every access waits for a line under way, each for its own."""

    def responses(self, block: Mapping[str, Any]) -> list[Response]:
        accesses = [access for one in block["instructions"] for access, *_ in one["accesses"]]
        return [(access, Kind.IN_FLIGHT, self._value(Kind.IN_FLIGHT)) for access in accesses]


STORES = f"""
    .bss
data: .skip 0x1000
    .text
_start: mov $60, %ebp
    lea data(%rip), %rdi
1:  {"; ".join(f"mov %rax, {64 * one}(%rdi)" for one in range(24))}
    dec %ebp
    jnz 1b
    mov $60, %eax
    xor %edi, %edi
    syscall
"""


@measured
@pytest.mark.slow
@pytest.mark.parametrize("graphs", [True, False])
def test_parts_with_a_response_to_each_access_are_scheduled_as_by_the_plain_core(graphs: bool, tmp_path: Path) -> None:
    """Twelve times that memory gives to a part, as many as it has micro-operations."""
    table, numbers = stream([assemble(tmp_path, STORES)])
    assert compare(table, numbers, timings_of("skylake", table), graphs, AllInFlight(Random(1), 0.5)) > 10 * graphs


ALONE = """
    .bss
data: .skip 0x1000
    .text
_start: mov $20, %ebp
    lea data(%rip), %rdi
    fld1
1:  mov %rax, (%rdi)
    mfence
    mov 8(%rdi), %rbx
    imul %rbx, %rbx
    mov %rbx, 16(%rdi)
    sfence
    lock incl 24(%rdi)
    xchg %rax, 32(%rdi)
    lfence
    mov 32(%rdi), %rcx
    fld1
    faddp
    fld %st(0)
    fmul %st(1)
    fstps 40(%rdi)
    xor %eax, %eax
    mov %al, %bh
    inc %eax
    jc 2f
2:  xor %edx, %edx
    lea 7(%rbx), %ecx
    or $1, %ecx
    mov $1000, %eax
    div %ecx
    cpuid
    dec %ebp
    jnz 1b
    mov $60, %eax
    xor %edi, %edi
    syscall
"""


@measured
@pytest.mark.parametrize("machine", first_quick(MACHINES, single=True))
def test_fences_locks_and_divisions_are_scheduled_as_by_the_plain_core(machine: str, tmp_path: Path) -> None:
    """And x87's stack, flags of two instructions, cpuid."""
    table, numbers = stream([assemble(tmp_path, ALONE)])
    for rare in (1.0, 0.8):
        compare_both(table, numbers, machine, rare)


MOST_BY_PARTS = 0.1
"""Of the cycles, which the reservation station may take more if it is followed by parts than by an entry for each µop:
nbody takes 9% more on nehalem, 3% on core2, whose divisions and square roots are long; others less than 0.5%."""


@measured
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "machines"),
    [
        ("nbody", ["skylake", "nehalem"]),
        *(pytest.param(one, MACHINES, marks=pytest.mark.exhaustive) for one in ("nbody", "sort", "sha256")),
    ],
)
def test_entries_by_part_change_few_cycles(name: str, machines: list[str]) -> None:
    table, numbers = stream([EXAMPLES / "x86_64" / name, *SMALL[name]])
    for machine in machines:
        timings, ends = timings_of(machine, table), []
        schedules = compiled().Schedules(table, timings, True)
        blocks = {number: schedules.description(number) for number in set(numbers[:BLOCKS])}
        for kind in (PlainCore, CoreWithStation):
            plain, memory = kind(timings.core_figures(), schedules.ticks), Memory(Random(name), 0.995)
            for number in numbers[:BLOCKS]:
                plain.run(blocks[number], memory.responses(blocks[number]), TAKEN | 1 << SOURCE_SHIFT)
            ends.append(plain.retired)
        assert 0.995 * ends[1] <= ends[0] <= (1 + MOST_BY_PARTS) * ends[1], machine
