"""btb-hist: a histogram of captured branches by source and target, with their predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pfmon.errors import PfmonError
from pfmon.pmu.capture.branch_captures import NO_TARGET, UNKNOWN_TARGET, BranchBuffer
from pfmon.pmu.capture.last_branches import LastBranchStack
from pfmon.report.sampling.histogram_shares import COLUMNS, shares
from pfmon.report.sampling.sampling_module import SamplingModule, other_events
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.sampling.sampling_module import ModuleContext


NOT_TAKEN, UNKNOWN = "not taken", "unknown"
"""Targets of branches without one, or whose target the buffer does not record."""

MISPREDICTED = "percentage of the captures of the edge that were mispredicted"
NO_MACHINE = "not known: no machine runs that predicts branches (-e EVENT,branch-misses lets one run)"

Place = tuple[int, str]
Edge = tuple[Place, Place]
"""Source and target: addresses and their names; -1 for a missing address."""


class BtbHist(SamplingModule):
    """A histogram of edges, branch -> target, including branches that were not taken. The share of taken captures is
    that of the branch, mispredictions are those of the edge."""

    options = ("--smpl-show-func", "--smpl-show-top", "--smpl-cum-threshold")
    is_of_one_set = True
    is_histogram = True

    def __init__(self, context: ModuleContext) -> None:
        super().__init__(context)
        self._buffer = sampled_buffer(context)
        self._unpredicted = _unpredicted(self._buffer, context)
        self._edges: Counter[tuple[int, int]] = Counter()
        self._mispredicted: Counter[tuple[int, int]] = Counter()
        self._samples = 0

    def take(self, samples: Sequence[Sample]) -> str:
        for sample in samples:
            self._samples += 1
            for source, target, mispredicted in self._buffer.edges(dict(sample.pmds)):
                self._edges[source, target] += 1
                self._mispredicted[source, target] += mispredicted
        return ""

    def finish(self, exact: Mapping[int, int] | None) -> str:
        by_function = self.context.by_function
        lines = [
            f"# total_samples {self._samples}",
            f"# total_branches {self._edges.total()}",
            f"# {'function' if by_function else 'branch'} edge view",
            "# sorted by count",
            f"# showing per {'function histogram' if by_function else 'distinct value'}",
            f"# %taken: percentage of the captures of the {'functions' if by_function else 'branch'} that were taken",
            f"# %misp : {self._unpredicted or MISPREDICTED}",
            f"{COLUMNS}  %taken   %misp source -> target",
        ]
        return "".join(f"{line}\n" for line in [*lines, *self._rows()])

    def _rows(self) -> list[str]:
        """Return a line for each edge."""
        edges, mispredicted = self._by_place(self._edges), self._by_place(self._mispredicted)
        captured: Counter[Place] = Counter()
        taken: Counter[Place] = Counter()
        for (source, target), count in edges.items():
            captured[source] += count
            taken[source] += count if target[1] != NOT_TAKEN else 0
        lines = []
        for share in shares(edges, self.context.top, self.context.up_to):
            source, target = share.key
            rate = 100 * taken[source] / captured[source]
            wrong = f"{100 * mispredicted[share.key] / share.times:6.2f}%" if not self._unpredicted else "-".rjust(7)
            lines.append(f"{share} {rate:6.2f}% {wrong} {_text(source)} -> {_text(target)}")
        return lines

    def _by_place(self, counts: Counter[tuple[int, int]]) -> Counter[Edge]:
        found: Counter[Edge] = Counter()
        for (source, target), count in counts.items():
            found[self._place(source), self._place(target)] += count
        return found

    def _place(self, address: int) -> Place:
        if address < 0:
            return -1, TARGETS[address]
        if self.context.by_function and self.context.names:
            function = self.context.names.function(address)
            return function.address, str(function)
        return address, self.context.place(address)


TARGETS = {NO_TARGET: NOT_TAKEN, UNKNOWN_TARGET: UNKNOWN}
"""Numbers that stand for missing addresses."""


def _text(place: Place) -> str:
    address, name = place
    return name if address < 0 else f"{address:#x} {name}".rstrip()


def _unpredicted(buffer: BranchBuffer | LastBranchStack, context: ModuleContext) -> str:
    """Return why it is not known which branches were mispredicted, "" if it is."""
    if isinstance(buffer, BranchBuffer):
        return ""
    if context.model and not buffer.has_predictions:
        return f"not known: {context.model.name} does not record it"
    return "" if context.timed else NO_MACHINE


def sampled_buffer(context: ModuleContext) -> BranchBuffer | LastBranchStack:
    """Return what holds the branches of a sample: the branch buffer whose event has the period, or the last branch
    records. PfmonError: no such event has, or no branches are recorded."""
    buffer = context.captures.branches
    if isinstance(buffer, LastBranchStack):
        return buffer
    if context.model and context.model.target.last_branches:
        raise PfmonError(
            "--smpl-module=btb-hist: no branches are recorded; -b (--branch-any) or --branch-filter records them"
        ).about("--smpl-module")
    if buffer and len(context.events) == 1 and context.events[0].branch_buffer:
        return buffer
    model = context.model
    wanted = [event.name for event in model.events if event.branch_buffer] if model else []
    raise other_events("btb-hist", wanted, context)
