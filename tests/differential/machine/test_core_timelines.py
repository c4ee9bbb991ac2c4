"""Timelines of an out-of-order core: the run takes the same time with them, their times are those of the run, and no
instruction starts before what it depends on is done."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from core_schedules_build import compiled
from core_streams import LENGTH, MACHINES, PASSES, PROGRAMS, example, machine_of, read, seeds
from grids import diagonal, first_quick
from qemu_guests import ASSEMBLER
from x86_64_host import measured
from x86_64_random import random_program

from pfmon.machine._machine import IntervalMachine
from pfmon.machine.config.core_timings import CoreKind, CoreTimings
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import BlockTable, Recorder

if TYPE_CHECKING:
    from pfmon.machine.captured_timelines import Captured

pytestmark = ASSEMBLER

ALL_REGISTERS = 64
"""Bits of RegisterMasks; larger numbers are no registers."""
X87 = 18
"""The first of eight, whose numbers are relative to the top of the stack."""
ORDERED = CoreKind.SERIALIZING | CoreKind.FENCES_STORES | CoreKind.LOCKED | CoreKind.PREFETCH


def kept(
    name: str, table: BlockTable, words: Recorder, *, graphs: bool = True, **wanted: Any
) -> tuple[IntervalMachine, "list[Captured]"]:
    """A machine that has read a stream, and the timelines that it kept."""
    machine = machine_of(name, table, graphs)
    timeline = machine.keep_timeline(**wanted)
    words.replay(machine)
    machine.finish()
    assert timeline is not None and machine.core is not None and not machine.failure
    return machine, timeline.captured(machine.core)


def same_run(name: str, table: BlockTable, words: Recorder) -> None:
    """Time, and all that happens, is the same with timelines; executed parts have other shares of the causes than
    graphs."""
    alone = machine_of(name, table, True)
    words.replay(alone)
    alone.finish()
    for graphs in (True, False):
        machine, found = kept(name, table, words, graphs=graphs)
        assert found
        assert (machine.cycles, machine.time(), machine.occurrences()) == (
            alone.cycles,
            alone.time(),
            alone.occurrences(),
        )
        stalls = sum(cycles for *_, cycles in machine.bubbles())
        assert machine.records.cycles_with_issue() + stalls == machine.cycles
        if graphs:
            assert machine.core and machine.core.from_graphs > 100


@diagonal
@pytest.mark.parametrize("machine", first_quick(MACHINES))
@pytest.mark.parametrize("name", first_quick(PROGRAMS))
def test_a_run_is_the_same_with_timelines(name: str, machine: str) -> None:
    table, words = read(example(name))
    same_run(machine, table, words)


@measured
@pytest.mark.parametrize("seed", seeds(200, 1, 20))
def test_a_run_of_random_code_is_the_same_with_timelines(seed: int, tmp_path: Path) -> None:
    table, words = read([random_program(seed, LENGTH, tmp_path, passes=PASSES)])
    for machine in MACHINES:
        same_run(machine, table, words)


def executions(table: BlockTable, words: list[int], number: int) -> Iterator[int]:
    """The places of the words of a block in a stream."""
    at = 0
    while at < len(words):
        word = words[at]
        if word >> 63 == 0:
            if word & 0xFFFFFFFF == number:
                yield at
            block = table.block(word & 0xFFFFFFFF)
            at += sum(bool(i.access) + (1 + (i.second >> 3)) * bool(i.second & 7) for i in block.instructions)
        at += 1


def cycles_before(name: str, table: BlockTable, words: list[int], place: int) -> int:
    """Cycles of a run that has come to the word of a block."""
    machine, recorder = machine_of(name, table, True), Recorder()
    recorder.load(words[:place])
    recorder.replay(machine)
    machine.update_records(table.block(words[place] & 0xFFFFFFFF).ip)
    return machine.cycles


@diagonal
@pytest.mark.parametrize("machine", first_quick(MACHINES, single=True))
@pytest.mark.parametrize("name", first_quick(["sort", "hashmap", "lz", "nbody"], single=True))
def test_iterations_take_the_cycles_that_the_run_counts_for_them(name: str, machine: str) -> None:
    """A run of the stream up to an execution has the cycles at which the timeline has its iteration begin."""
    table, recorder = read(example(name))
    words = recorder.words()
    one, found = kept(machine, table, recorder)
    assert one.core is not None
    compared = 0
    for block, runs, _, execution, whole, of_runs, rows, delays in found[:3]:
        places = list(executions(table, words, block))
        assert len(places) == runs
        begins = [run for run in of_runs if run[3]]
        for number, run in enumerate(begins):
            before = cycles_before(machine, table, words, places[execution - 1 + number])
            assert run[6] // one.core.ticks == before
            compared += 1
        if whole:
            place = places[execution - 1 + len(begins)]
            assert of_runs[-1][7] // one.core.ticks == cycles_before(machine, table, words, place)
        assert sum(delay[4] for delay in delays) == of_runs[-1][7] - of_runs[0][6]
        assert all(earlier[7] == later[6] for earlier, later in pairwise(of_runs))
        assert [row[7] for row in rows] == sorted(row[7] for row in rows)
    assert compared > 6


def check_dependences(found: "Captured", describe: Callable[[int], Mapping[str, Any]]) -> int:
    """Check that no instruction starts before its operands are ready, and that all happens in order; how many operands
    were compared. Registers of x87 are left out: blocks name them by the top of the stack."""
    ready: dict[int, int] = {}
    compared = 0
    _, _, _, _, _, runs, rows, _ = found
    dispatched = runs[0][6] - (1 << 40)
    for run, number, loads, begin, address, data, done, retired in rows:
        one = describe(runs[run][0])["instructions"][number]
        assert dispatched <= begin <= data <= done <= retired
        assert not loads or begin <= address <= data
        dispatched = begin
        for register in one["source"] if not one["kind"] & CoreKind.LOCKED else ():  # it has the lock before its data
            if register in ready and not X87 <= register < X87 + 8:
                assert data >= ready[register], (run, number, register)
                compared += 1
        for register in one["address"] if loads else ():
            if register in ready:
                assert address >= ready[register], (run, number, register)
                compared += 1
        if loads and not one["kind"] & ORDERED:
            assert data >= address + one["load"]
        for place, register in enumerate(one["result"]):
            if register < ALL_REGISTERS:
                written = done + (one["latency2"] - one["latency"] if place else 0)
                stores = any(writes for _, _, writes in one["accesses"])
                if stores or one["kind"] & ORDERED:  # done is later than its registers
                    ready.pop(register, None)
                else:
                    ready[register] = written
    return compared


@measured
@pytest.mark.parametrize("seed", seeds(300, 2, 20))
def test_instructions_of_random_code_start_behind_what_they_depend_on(seed: int, tmp_path: Path) -> None:
    table, words = read([random_program(seed, LENGTH, tmp_path, passes=PASSES)])
    for name in MACHINES:
        schedules = compiled().Schedules(table, CoreTimings(load(name, ()), table.instruction_names or []), True)
        known: dict[int, Mapping[str, Any]] = {}

        def describe(number: int, schedules: Any = schedules, known: dict[int, Any] = known) -> Mapping[str, Any]:
            return known.setdefault(number, schedules.description(number)) if number not in known else known[number]

        _, found = kept(name, table, words, captures=64)
        assert sum(check_dependences(one, describe) for one in found) > 500


@diagonal
@pytest.mark.parametrize("machine", first_quick(MACHINES, single=True))
@pytest.mark.parametrize("name", first_quick(["sort", "nbody"], single=True))
def test_ports_do_the_work_of_the_executed_uops(name: str, machine: str) -> None:
    """One cycle for each micro-operation that has a port, however it is spread over several."""
    table, words = read(example(name))
    schedules = compiled().Schedules(table, CoreTimings(load(machine, ()), table.instruction_names or []), True)
    one, found = kept(machine, table, words)
    timeline = one.keep_timeline()
    assert timeline is not None and one.core is not None
    ticks = one.core.ticks
    data_ports = machine.startswith("zen") is False
    for block in {run[0] for each in found for run in each[5]}:
        units = timeline.units_of(block)
        for instruction, work in zip(schedules.description(block)["instructions"], units, strict=True):
            accesses = sum(reads + (1 + data_ports) * writes for _, reads, writes in instruction["accesses"])
            ports = {unit: own for unit, own in work.items() if unit != 17}
            assert sum(ports.values()) == ticks * (len(instruction["uops"]) + accesses)
            assert work.get(17, 0) == instruction["divider"]
            allowed = {port for uop in instruction["uops"] for port in uop}
            assert not instruction["accesses"] or len(ports) >= 1
            assert instruction["accesses"] or set(ports) <= allowed


def test_a_block_in_a_range_is_kept_though_others_have_more_cycles() -> None:
    table, words = read(example("sort"))
    _, everything = kept("skylake", table, words)
    last = everything[-1][0]
    ip = table.block(last).ip
    _, found = kept("skylake", table, words, ranges=[(ip, ip + 1)], captures=1)
    assert [one[0] for one in found] == [last]


def test_captures_are_those_of_the_blocks_with_most_cycles() -> None:
    table, words = read(example("sort"))
    _, everything = kept("skylake", table, words, captures=64)
    _, few = kept("skylake", table, words, captures=3)
    assert [one[0] for one in few[:2]] == [one[0] for one in everything[:2]]
    assert len(few) == 3


def test_a_timeline_has_so_many_iterations_and_instructions() -> None:
    table, words = read(example("sort"))
    _, found = kept("skylake", table, words, iterations=2)
    assert sum(run[3] for run in found[0][5]) == 2
    assert found[0][4]
    _, found = kept("skylake", table, words, iterations=64, rows=40)
    first = found[0]
    whole = sum(run[3] for run in first[5])
    assert whole < 64 and 40 <= len(first[6]) < 40 + len(first[6]) / whole * 3
