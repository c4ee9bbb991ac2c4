"""Machines on the images of system mode: against a plain reading of their streams, with the memo and without, and by
privilege level."""

from collections import Counter
from itertools import count
from pathlib import Path

import pytest
import system_images
from grids import diagonal, each
from system_machine import INSERTED, bubbles, image, occurrences, on_machine, plainly, run

from pfmon.counting._counting import CountAccumulator, Gate, Increments, MachineTotals
from pfmon.counting.totals.record_query import query_of
from pfmon.machine._machine import Machine
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import ITANIUMS
from pfmon.pmu.qualify.filters import FilteredSignal, InstructionFilter, privileges
from pfmon.signals.machine_signals import meanings, named

QUICK = ("levels", "walker", "toggles")
LONG = ("changes", "interrupts", "stack")
"""Images of a million instructions and more."""
SHORT = [name for name in system_images.names() if name not in LONG]
IMAGES = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in SHORT]
LEVELS = range(4)


def path(name: str) -> Path:
    return system_images.image(name)


@each("name", IMAGES)
def test_walks_and_insertions_are_those_of_the_stream(name: str) -> None:
    plain, found = plainly(image(path(name))), occurrences(on_machine(image(path(name))))
    data = {outcome: times for (of_data, outcome), times in plain.walks.items() if of_data}
    fetches = {outcome: times for (of_data, outcome), times in plain.walks.items() if not of_data}
    assert found["L2DTLB_MISS"] == sum(data.values())
    assert found["DTLB_WALKED"] == data.get(INSERTED, 0)
    assert found["ITLB2_MISS"] == sum(fetches.values()) <= found["ITLB1_MISS"]
    assert found["ITLB_WALKED"] == fetches.get(INSERTED, 0)
    assert found["HPW_READ"] == plain.entries
    assert (found["DTLB_FILLED"], found["ITLB_FILLED"]) == (plain.executed["itc.d"], plain.executed["itc.i"])


@diagonal
@each("name", IMAGES)
@each("machine", ITANIUMS)
def test_the_memo_changes_nothing(name: str, machine: str) -> None:
    one, other = (on_machine(image(path(name)), machine, memo) for memo in (True, False))
    assert one.cycles == other.cycles
    assert occurrences(one) == occurrences(other) and bubbles(one) == bubbles(other)
    assert one.levels() == other.levels()


SAME = ("L2DTLB_MISS", "DTLB_WALKED", "ITLB2_MISS", "HPW_READ", "DTLB_FILLED", "UNCACHEABLE_LOAD", "L1D_READ")
"""Occurrences that do not depend on time: that differs with the blocks, which are the units of fetching ahead."""


@each("name", IMAGES)
def test_instruction_by_instruction_the_same_happens(name: str) -> None:
    one, other = (occurrences(on_machine(image(path(name), slow))) for slow in (False, True))
    assert [one[what] for what in SAME] == [other[what] for what in SAME]


@diagonal
@each("name", IMAGES)
@each("step", [1, 7, 100])
def test_a_split_stream_has_the_same_walks_and_pages(name: str, step: int) -> None:
    """A reader that stops after some instructions (splitter.pyx)."""
    whole, system = occurrences(on_machine(image(path(name)))), image(path(name))
    machine, dues = Machine(load("montecito"), system.table), count(2 * step, step)
    gate = Gate(system.table, [machine], traced=True, due=step, on_due=lambda: next(dues))
    run(system, gate)
    machine.finish()
    assert gate.error is None and not machine.failure
    parts = occurrences(machine)
    assert [parts[what] for what in SAME] == [whole[what] for what in SAME]


@diagonal
@each("name", IMAGES)
@each("machine", ITANIUMS)
def test_levels_share_every_event_of_the_machine(name: str, machine: str) -> None:
    """And at each of them a cycle retires something or is a bubble (Montecito manual section 4.6)."""
    system = image(path(name))
    found = Machine(load(machine), system.table)
    run(system, found)
    found.finish()
    signals = [
        signal
        for signal, meaning in meanings().items()
        if meaning.kind not in ("level", "per_cycle", "qualified", "stops", "never", "slots")
        and "CLOCK" not in named(signal)
    ]
    queries = [query_of(signal, 0, False, None) for signal in signals]
    rate = int(load(machine)["rse.rate"])

    def totals(plm: int) -> dict[str, int]:
        sink = CountAccumulator(len(queries), system.table)
        filtered = InstructionFilter(privileges=privileges(plm, None))
        weighed = [FilteredSignal(query.signal, filtered, query.ranged) for query in queries]
        MachineTotals(found, queries, Increments(weighed), system.table, rate).add(sink)
        return dict(zip(signals, sink.totals(), strict=True))

    whole, parts = totals(0b1111), [totals(1 << level) for level in LEVELS]
    assert {signal: sum(part[signal] for part in parts) for signal in signals} == whole
    assert whole["cpu_op_cycles.all"] == found.cycles
    retiring: Counter[int] = Counter()
    for block, last, cycles in retired_cycles(found):
        retiring[system.table.block(block).instructions[last].privilege & 3] += cycles
    for level in LEVELS:
        assert parts[level]["cpu_op_cycles.all"] == parts[level]["back_end_bubble.all"] + retiring[level]


def retired_cycles(machine: Machine) -> list[tuple[int, int, int]]:
    """(block, number of the last instruction, cycles) of the cycles in which something retired."""
    last = [(group[-1], cycles) for group, cycles in machine.groups()]
    return [(block, until, n) for (block, first, until, *_), n in last if first <= until and block is not None]
