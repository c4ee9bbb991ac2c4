"""The timelines of hot blocks on an out-of-order core, from what the core kept (outoforder/core_timeline.pyx)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pfmon.engine.api import Engine
from pfmon.machine._machine import Cause
from pfmon.session.profile.code_profile import FunctionNames
from pfmon.session.profile.timeline import BlockTimeline, TimedInstruction, Wait, component_of

if TYPE_CHECKING:
    from pfmon.machine._outoforder import CoreTimeline
    from pfmon.machine.captured_timelines import Captured, Row, Run

NO_UNIT, UNIT_DIVIDER = 0xFF, 17
"""core_timeline.pxd, core_state.pxd: numbers of units; those below are ports."""
MISPREDICTED = 2
"""scheduler.pxd, BlockEnd."""


class CoreTicks(NamedTuple):
    """A core's figures: ticks of a cycle, µops that dispatch in it."""

    cycle: int
    width: int


class BlockCode:
    """What the table says of the blocks of a timeline, and the texts of their instructions."""

    def __init__(self, timeline: CoreTimeline, engine: Engine) -> None:
        self._timeline, self._engine = timeline, engine
        self._addresses: dict[int, list[int]] = {}
        self._slots: dict[int, list[int]] = {}
        self._ports: dict[int, list[dict[str, int]]] = {}
        self._texts: dict[int, str] | None = None

    def address(self, block: int, instruction: int) -> int:
        """Return an instruction's address."""
        if block not in self._addresses:
            self._addresses[block] = [one.address for one in self._engine.table.block(block).instructions]
        return self._addresses[block][instruction]

    def slots(self, block: int, instruction: int) -> int:
        """Return the µops of an instruction that dispatch."""
        if block not in self._slots:
            self._slots[block] = self._timeline.slots_of(block)
        return self._slots[block][instruction]

    def ports(self, block: int, instruction: int) -> dict[str, int]:
        """Return the ticks of work of an instruction's µops by port."""
        if block not in self._ports:
            self._ports[block] = [_named(units) for units in self._timeline.units_of(block)]
        return self._ports[block][instruction]

    def text(self, address: int) -> str:
        """Return an instruction's text."""
        if self._texts is None:
            self._texts = dict(self._engine.listing(0, 1 << 64))
        return self._texts.get(address, "?")


def core_timeline(
    kept: CoreTimeline, captured: Captured, machine: str, ticks: CoreTicks, names: FunctionNames, engine: Engine
) -> BlockTimeline:
    """Return the timeline of a captured block."""
    code = BlockCode(kept, engine)
    block, executions, all_ticks, execution, whole, runs, rows, delays = captured
    shown, repeats = _whole_iterations(runs, whole)
    beyond = runs[shown][1] if shown < len(runs) else len(rows)
    runs, rows = runs[:shown], rows[:beyond]
    origin = rows[0][3] // ticks.cycle * ticks.cycle
    waits: list[list[Wait]] = [[] for _ in rows]
    for row, cause, unit, behind, waited in delays:
        if row < beyond:
            waits[row].append(Wait(component_of(Cause(Cause.WINDOW_L2 + cause).name), waited, _unit(unit), behind))
    address = code.address(block, 0)
    return BlockTimeline(
        machine,
        names.function(address),
        address,
        names.source(address),
        executions,
        all_ticks,
        execution,
        ticks.cycle,
        ticks.width,
        _iterations(runs),
        sum(run[5] for run in runs),
        repeats,
        _instructions(runs, rows, waits, origin, code),
    )


def _whole_iterations(runs: Sequence[Run], whole: bool) -> tuple[int, bool]:
    """Return how many runs of blocks are of whole iterations, and whether there are any; one run if there are none."""
    if whole:
        return len(runs), True
    begins = [number for number, run in enumerate(runs) if run[3]]
    return (begins[-1], True) if len(begins) > 1 else (1, False)


def _iterations(runs: Sequence[Run]) -> tuple[int, ...]:
    """Return the ticks of each iteration: by which retirement proceeds in its blocks."""
    begins = [run[6] for run in runs if run[3]] + [runs[-1][7]]
    return tuple(after - before for before, after in pairwise(begins))


def _instructions(
    runs: Sequence[Run], rows: Sequence[Row], waits: Sequence[Sequence[Wait]], origin: int, code: BlockCode
) -> list[TimedInstruction]:
    found: list[TimedInstruction] = []
    iteration, before = -1, -1
    lasts = [run[1] - 1 for run in runs[1:]] + [len(rows) - 1]
    for (place, number, loads, dispatched, address, data, done, retired), own in zip(rows, waits, strict=True):
        run, row = runs[place], len(found)
        iteration += run[3] and place != before
        before = place
        at = code.address(run[0], number)
        found.append(
            TimedInstruction(
                iteration,
                at,
                code.text(at),
                run[4] - origin,
                dispatched - origin,
                (address if loads else data) - origin,
                data - origin,
                done - origin,
                retired - origin,
                code.slots(run[0], number),
                code.ports(run[0], number),
                tuple(own),
                mispredicted=run[2] & MISPREDICTED > 0 and row == lasts[place],
            )
        )
    return found


def _named(units: dict[int, int]) -> dict[str, int]:
    return {_unit(unit): ticks for unit, ticks in sorted(units.items())}


def _unit(unit: int) -> str:
    """Return the name of a port or a unit, "" for none."""
    if unit == NO_UNIT:
        return ""
    return "divider" if unit == UNIT_DIVIDER else f"p{unit:x}"
