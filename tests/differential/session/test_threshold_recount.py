"""Counts of single cycles under random qualifications, against a recount from a log of what issued when.

The log is the machine's: which instructions issued together and which of them executed, in how many cycles. Which of
them count is read from the registers (register_rules), the opcodes and the mnemonics.
"""

import random
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pytest
from grids import few, first_quick
from machine_runs import PROGRAMS, run_with_guest
from register_rules import bits, code_passes, opcode_passes

from pfmon.counting._counting import Tally
from pfmon.counting.totals.counting_unit import MachineRecords
from pfmon.errors import PfmonError
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, OpcodeMatch, RangeRequest, Request
from pfmon.session.run.programmed_pmu import ProgrammedPmu, RunData
from pfmon.stream._stream import BlockTable


class Issued(NamedTuple):
    """An instruction that issued."""

    bundle: int
    slot: str
    opcode: int
    mnemonic: str
    qp: int
    executed: bool


class Run(NamedTuple):
    """A finished run: cycles by what issued in them, the records, the blocks' table, and a tally of nothing."""

    cycles: list[tuple[tuple[Issued, ...], int]]
    records: MachineRecords
    table: BlockTable
    tally: Tally


EVENTS: dict[str, Callable[[Issued], bool]] = {
    "IA64_INST_RETIRED": lambda _: True,
    "NOPS_RETIRED": lambda one: one.executed and one.mnemonic.split(".")[0] in ("nop", "hint"),
    "PREDICATE_SQUASHED_RETIRED": lambda one: not one.executed and one.qp != 0 and one.slot != "b",
}


@cache
def finished(name: str, pmu: str) -> Run:
    machine, guest = run_with_guest(name, pmu)
    cycles = []
    for parts, count in machine.groups():
        issued = []
        for block, first, last, executed, _ in parts:
            for number in range(first, last + 1):
                one = guest.processor.block(block).instructions[number]
                held = bool(executed >> number - first & 1)
                slot = "i" if one.unit == "X" else one.unit.lower()
                name_of = one.row.mnemonic if one.row else ""
                issued.append(Issued(one.address & ~15, slot, one.encoding, name_of, one.qp, held))
        if issued:
            cycles.append((tuple(issued), count))
    return Run(cycles, MachineRecords(machine, load(pmu)), guest.table, Tally(guest.table, True))


def some_request(run: Run, pmu: str, pick: random.Random) -> Request:
    """A random code range, opcode matcher, threshold and event."""
    irange = None
    matcher: OpcodeMatch | None = None
    somewhere = [one for issued, _ in run.cycles for one in issued]
    if pick.random() < 0.6:
        low = pick.choice(somewhere).bundle
        end = low + 16 * pick.choice((1, 3, 10, 60, 1000))
        irange = RangeRequest(((low, end),), inverse=pick.random() < 0.3, fine=pick.random() < 0.7)
    if pick.random() < 0.5:
        width = 41 if pmu == "montecito" else 27
        opcode = pick.choice(somewhere).opcode
        mask = (1 << width) - 1
        for _ in range(pick.choice((0, 2, 6, 12))):
            mask &= ~(1 << pick.randrange(width))
        match = opcode if width == 41 else bits(opcode, 27, 14) << 13 | bits(opcode, 0, 13)
        matcher = OpcodeMatch("".join(letter for letter in "mifb" if pick.random() < 0.7) or "m", match, mask)
    event = EventRequest(pick.choice(list(EVENTS)), threshold=pick.choice((1, 1, 2, 3, 4, 5)))
    return Request((event,), irange=irange, opcodes=(matcher, None), check_qualifiers=False)


def recount(run: Run, counting: ProgrammedPmu) -> int:
    """The cycles in which more than the threshold of what passes happened."""
    (monitor,) = counting.programming.monitors
    pmu, writes = counting.programming.pmu, counting.programming.writes
    threshold = bits(writes[f"pmc{monitor.pmc}"], 20, 3)
    counts = EVENTS[monitor.event.name]
    event = monitor.event
    total = 0
    for issued, cycles in run.cycles:
        happened = sum(
            counts(one)
            and (not event.iar or code_passes(pmu, writes, 0, one.bundle))
            and (not event.opc or opcode_passes(pmu, writes, 0, one.slot, one.opcode))
            for one in issued
        )
        total += cycles * (happened > threshold)
    return total


def compare(name: str, cases: int, seed: int) -> int:
    """How many of so many random programmings counted anything."""
    pick = random.Random(seed)
    done = counted = 0
    while done < cases:
        run = finished(name, pmu := pick.choice(("itanium", "itanium2", "montecito")))
        request = some_request(run, pmu, pick)
        try:
            counting = ProgrammedPmu(get(pmu), request)
        except PfmonError:
            continue
        counting.take(RunData(run.table, run.tally, run.records))
        (found,) = counting.counts()
        assert found.value == recount(run, counting), (pmu, request)
        counted += bool(found.value)
        done += 1
    return counted


@pytest.mark.parametrize("name", first_quick(["epic", "fib", "sort"]))
def test_random_thresholds_count_as_the_recount(name: str) -> None:
    assert compare(name, 30, seed=3) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", few(sorted(PROGRAMS), 4))
def test_thousands_of_thresholds_count_as_the_recount(name: str) -> None:
    assert compare(name, 150, seed=4) > 10
