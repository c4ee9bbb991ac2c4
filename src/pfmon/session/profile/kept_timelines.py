"""Timelines that a machine keeps while it runs: of the blocks with most cycles, in chosen code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pfmon.engine.api import Engine
from pfmon.errors import LostError
from pfmon.machine._machine import IntervalCores, IntervalMachine, IssueTimeline, Machine, RecordObserver
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.session.profile.code_profile import FunctionNames
from pfmon.session.profile.timeline import BlockTimeline
from pfmon.session.profile.timelines_in_order import issue_timeline
from pfmon.session.profile.timelines_out_of_order import CoreTicks, core_timeline
from pfmon.stream._stream import BlockTable

if TYPE_CHECKING:
    from pfmon.machine._outoforder import CoreTimeline
    from pfmon.machine.captured_timelines import Captured, CapturedIssues

MAX_ROWS = 1024
"""Instructions of a timeline (core_timeline.pxd, TIMELINE_ROWS)."""
ISSUE_WIDTH = 6
"""Instructions that an Itanium issues in a cycle: those of two bundles."""
OUT_OF_MEMORY = "the timelines could not be kept: memory ran out"


class WantedTimelines(NamedTuple):
    """What is kept. ``ranges``: first address and the one behind of the code of which blocks are wanted; none: of all;
    ``iterations``, ``rows``: a timeline ends when it has so many iterations, or instructions."""

    ranges: Sequence[tuple[int, int]] = ()
    iterations: int = 4
    rows: int = MAX_ROWS


class CoreTimelines:
    """The timelines that an out-of-order machine keeps."""

    def __init__(self, machine: IntervalMachine, kept: CoreTimeline, figures: MachineFigures) -> None:
        self._machine, self._kept, self._figures = machine, kept, figures

    def found(self) -> list[Captured]:
        """Return what was kept, the blocks with most cycles first."""
        assert self._machine.core
        return self._kept.captured(self._machine.core)

    def timeline(self, one: Captured, names: FunctionNames, engine: Engine) -> BlockTimeline:
        """Return a timeline of what was kept."""
        assert self._machine.core
        ticks = CoreTicks(self._machine.core.ticks, int(self._figures["core.width"]))
        return core_timeline(self._kept, one, str(self._figures["machine.name"]), ticks, names, engine)


class IssueTimelines:
    """The timelines that an in-order machine keeps."""

    def __init__(self, kept: IssueTimeline, figures: MachineFigures) -> None:
        self._kept, self._figures = kept, figures

    def found(self) -> list[CapturedIssues]:
        """Return what was kept, the blocks with most cycles first."""
        return self._kept.captured()

    def timeline(self, one: CapturedIssues, names: FunctionNames, engine: Engine) -> BlockTimeline:
        """Return a timeline of what was kept."""
        return issue_timeline(one, str(self._figures["machine.name"]), ISSUE_WIDTH, names, engine)


def keep_timelines(
    machine: Machine | IntervalMachine | IntervalCores,
    figures: MachineFigures,
    table: BlockTable,
    wanted: WantedTimelines,
    observer: RecordObserver | None = None,
) -> CoreTimelines | IssueTimelines | None:
    """Let a machine that has not begun keep timelines; None: it has no times of single instructions. ``observer``: of
    an in-order machine's records, besides."""
    ranges, iterations, rows = wanted
    if isinstance(machine, IntervalMachine):
        kept = machine.keep_timeline(ranges, iterations, rows)
        return CoreTimelines(machine, kept, figures) if kept else None
    if not isinstance(machine, Machine):
        return None
    issued = IssueTimeline(table, machine.records, ranges, iterations, rows, following=observer)
    machine.set_observer(issued)
    return IssueTimelines(issued, figures)


def hottest(
    kept: CoreTimelines | IssueTimelines,
    names: FunctionNames,
    engine: Engine,
    most: int = 1,
    among: Callable[[int, int], bool] = lambda first, last: True,
) -> list[BlockTimeline]:
    """Return timelines of the blocks with most cycles, each of other code. ``among``: whether a block is wanted, by the
    addresses of its first and its last instruction. LostError: there was no memory for them."""
    timelines: list[BlockTimeline] = []
    seen: set[int] = set()
    try:
        everything = kept.found()
    except MemoryError:
        raise LostError(OUT_OF_MEMORY) from None
    for one in everything:
        addresses = [each.address for each in engine.table.block(one[0]).instructions]
        if len(timelines) < most and addresses[0] not in seen and among(addresses[0], addresses[-1]):
            timelines.append(kept.timeline(one, names, engine))  # type: ignore[arg-type]  # of its own kind: it has found it
            seen.update(each.address for each in timelines[-1].instructions)
    return timelines
