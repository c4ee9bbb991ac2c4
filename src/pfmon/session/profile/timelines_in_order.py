"""The timelines of hot blocks on an in-order core, from the records of their executions (issue_timeline.pyx)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pfmon.engine.api import Engine
from pfmon.machine._machine import Cause
from pfmon.program.line_tables import BUNDLE
from pfmon.session.profile.code_profile import FunctionNames
from pfmon.session.profile.timeline import BlockTimeline, TimedInstruction, Wait, component_of

if TYPE_CHECKING:
    from pfmon.machine.captured_timelines import CapturedIssues, IssuedPart, IssueRun, Stall

AFTER_ISSUE = "L1D_"
"""How the causes of stalls begin that follow the issue of their instruction; they are recorded before that cycle
ends."""
ISSUED, BEFORE = "cycles that retired", "the block before"
"""Causes of cycles in which something issued: an instruction shown, or only those before."""


class _Row:
    """An instruction of a run of a block: the cycle in which it issued (-1: not yet), and its stalls."""

    __slots__ = ("block", "held", "instruction", "issued", "iteration", "waits")

    def __init__(self, block: int, instruction: int, iteration: int) -> None:
        self.block, self.instruction, self.iteration = block, instruction, iteration
        self.issued, self.held = -1, True
        self.waits: list[Wait] = []


class _Code(NamedTuple):
    """Addresses of the instructions of blocks, and their texts."""

    addresses: dict[int, list[int]]
    texts: dict[int, str]


def issue_timeline(
    captured: CapturedIssues, machine: str, width: int, names: FunctionNames, engine: Engine
) -> BlockTimeline:
    """Return the timeline of a captured block. ``width``: instructions that issue in a cycle."""
    code = _Code({}, {})
    block, executions, cycles, execution, whole, runs = captured
    begins = [number for number, run in enumerate(runs) if run[0] == block]
    shown, repeats = (len(runs), True) if whole else (begins[-1], True) if len(begins) > 1 else (1, False)
    runs = runs[:shown]
    for number in {run[0] for run in runs}:
        _read_code(number, engine, code)
    rows = _rows(runs, block, code)
    _issue(rows, runs)
    edges = [run[1] for run in runs if run[0] == block] + [runs[-1][2]]
    address = code.addresses[block][0]
    return BlockTimeline(
        machine,
        names.function(address),
        address,
        names.source(address),
        executions,
        cycles,
        execution,
        1,
        width,
        tuple(after - before for before, after in pairwise(edges)),
        None,
        repeats,
        [_instruction(row, code) for row in rows],
    )


def _read_code(number: int, engine: Engine, code: _Code) -> None:
    if number not in code.addresses:
        found = [one.address for one in engine.table.block(number).instructions]
        code.addresses[number] = found
        code.texts.update(engine.listing(found[0] & -BUNDLE, (found[-1] & -BUNDLE) + BUNDLE))


def _rows(runs: Sequence[IssueRun], block: int, code: _Code) -> list[_Row]:
    """Return a row for each instruction of the runs."""
    rows, iteration = [], -1
    for run in runs:
        iteration += run[0] == block
        rows += [_Row(run[0], number, iteration) for number in range(len(code.addresses[run[0]]))]
    return rows


def _issue(rows: Sequence[_Row], runs: Sequence[IssueRun]) -> None:
    """Give the rows their cycles and stalls, from the records in order."""
    at, cycle = 0, 0
    stalls: list[Stall] = []
    for group, stall in (item for run in runs for item in run[3]):
        if stall is not None:
            stalls.append(stall)
            continue
        places = _places(rows, at, group)
        late = [one for one in stalls if _follows_issue(one, [rows[place] for place, _ in places])]
        cycle += _stall(rows, at, [one for one in stalls if one not in late], behind=False)
        for place, held in places:
            rows[place].issued, rows[place].held = cycle, held
        at = places[-1][0] + 1 if places else at
        if at:  # else what issued is of the block before
            rows[at - 1].waits.append(Wait(ISSUED, 1))
        else:
            rows[0].waits.append(Wait(BEFORE, 1))
        cycle += 1 + _stall(rows, at, late, behind=True)
        stalls = []
    _stall(rows, min(at, len(rows) - 1), stalls, behind=True)


def _places(rows: Sequence[_Row], at: int, group: Sequence[IssuedPart]) -> list[tuple[int, bool]]:
    """Return the places of the rows that issue in a cycle, and whether their predicates held; instructions issue in
    order."""
    found: list[tuple[int, bool]] = []
    for block, first, last, executed in group:
        for number in range(first, last + 1):
            place = at + len(found)
            if place < len(rows) and (rows[place].block, rows[place].instruction) == (block, number):
                found.append((place, bool(executed >> (number - first) & 1)))
    return found


def _follows_issue(stall: Stall, issued: Sequence[_Row]) -> bool:
    """Whether a stall follows the issue of its instruction, which is one of these."""
    of = any((row.block, row.instruction) == stall[:2] for row in issued)
    return of and Cause(stall[2]).name.startswith(AFTER_ISSUE)


def _stall(rows: Sequence[_Row], at: int, stalls: Iterable[Stall], behind: bool) -> int:
    """Give stalls to the rows of their instructions, near the next one that issues; returns their cycles."""
    cycles = 0
    for block, instruction, cause, waited in stalls:
        cycles += waited
        before, after = range(at - 1, -1, -1), range(at, len(rows))
        near = [*before, *after] if behind else [*after, *before]
        own = (place for place in near if (rows[place].block, rows[place].instruction) == (block, instruction))
        row = rows[next(own, min(at, len(rows) - 1))]
        row.waits.append(Wait(component_of(Cause(cause).name), waited, behind=behind))
    return cycles


def _instruction(row: _Row, code: _Code) -> TimedInstruction:
    address = code.addresses[row.block][row.instruction]
    return TimedInstruction(
        row.iteration,
        address,
        code.texts.get(address, "?"),
        None,
        None,
        row.issued,
        None,
        None,
        row.issued,
        1,
        {},
        tuple(row.waits),
        row.held,
    )
