"""btb-hist: a histogram of captured branches by source and target, with their predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pfmon.errors import PfmonError
from pfmon.pmu.capture.branch_captures import NO_TARGET, UNKNOWN_TARGET, BranchBuffer
from pfmon.pmu.capture.last_branches import LastBranchStack
from pfmon.report.sampling.histogram_shares import COLUMNS, distance, shares
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

    options = ("--smpl-show-func", "--smpl-show-top", "--smpl-cum-threshold", "--smpl-truth")
    is_of_one_set = True
    is_histogram = True

    def __init__(self, context: ModuleContext) -> None:
        super().__init__(context)
        self._buffer = sampled_buffer(context)
        self._unpredicted = _unpredicted(self._buffer, context)
        if context.truth:
            _check_truth(self._buffer)
        self._exact: Mapping[tuple[int, int], int] | None = None
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

    def take_exact_edges(self, edges: Mapping[tuple[int, int], int]) -> None:
        self._exact = edges

    def finish(self, exact: Mapping[int, int] | None) -> str:
        by_function = self.context.by_function
        edges, truth = self._by_place(self._edges), None if self._exact is None else self._by_place(self._exact)
        lines = [
            f"# total_samples {self._samples}",
            f"# total_branches {self._edges.total()}",
            f"# {'function' if by_function else 'branch'} edge view",
            "# sorted by count",
            f"# showing per {'function histogram' if by_function else 'distinct value'}",
            f"# %taken: percentage of the captures of the {'functions' if by_function else 'branch'} that were taken",
            f"# %misp : {self._unpredicted or MISPREDICTED}",
            *(_truth_header(edges, truth) if truth is not None else ()),
            f"{COLUMNS}{'' if truth is None else '  %exact    error'}  %taken   %misp source -> target",
        ]
        return "".join(f"{line}\n" for line in [*lines, *self._rows(edges, truth)])

    def _rows(self, edges: Counter[Edge], truth: Counter[Edge] | None) -> list[str]:
        """Return a line for each edge; of those that were captured equally often, the one that was taken most first."""
        mispredicted = self._by_place(self._mispredicted)
        captured: Counter[Place] = Counter()
        taken: Counter[Place] = Counter()
        for (source, target), count in edges.items():
            captured[source] += count
            taken[source] += count if target[1] != NOT_TAKEN else 0
        lines = []
        exact = truth or Counter[Edge]()
        counts = {edge: edges[edge] for edge in {*edges, *exact}}

        def order(edge: Edge) -> tuple[int, int, Edge]:
            return -edges[edge], -exact[edge], edge

        for share in shares(counts, self.context.top, self.context.up_to, order):
            source, target = share.key
            rate = f"{100 * taken[source] / captured[source]:6.2f}%" if captured[source] else "-".rjust(7)
            known = share.times and not self._unpredicted
            wrong = f"{100 * mispredicted[share.key] / share.times:6.2f}%" if known else "-".rjust(7)
            own = 100 * exact[share.key] / (exact.total() or 1)
            compared = f" {own:6.2f}% {share.own - own:+7.2f}%" if truth is not None else ""
            lines.append(f"{share}{compared} {rate} {wrong} {_text(source)} -> {_text(target)}")
        return lines

    def _by_place(self, counts: Mapping[tuple[int, int], int]) -> Counter[Edge]:
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


def _truth_header(edges: Counter[Edge], truth: Counter[Edge]) -> list[str]:
    """Return the lines that compare captured branches with all."""
    return [
        f"# exact_total {truth.total()}",
        "# %exact: percentage of the taken branches that were of the edge",
        "# error : %self less %exact",
        f"# total error {100 * distance(edges, truth):.2f}%: so many of the captures would have to be elsewhere",
    ]


def _check_truth(buffer: BranchBuffer | LastBranchStack) -> None:
    """PfmonError: nothing counts what is captured."""
    if isinstance(buffer, BranchBuffer):
        raise PfmonError("--smpl-truth: branch buffers are compared with nothing; last branch records are (x86-64)")
    if buffer.has_call_stack:
        raise PfmonError(
            "--smpl-truth: in call stack mode records are the calls that the program is in, not branches that it took"
        )


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
    if context.model and context.model.architecture == "x86":
        raise PfmonError(
            f"--smpl-module=btb-hist: {context.model.name} has no last branch records, as skylake has them"
        ).about("--smpl-module")
    if buffer and len(context.events) == 1 and context.events[0].branch_buffer:
        return buffer
    model = context.model
    wanted = [event.name for event in model.events if event.branch_buffer] if model else []
    raise other_events("btb-hist", wanted, context)
