"""inst-hist: the number of samples of each instruction or function, optionally beside the true counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pfmon.report.sampling.histogram_shares import distance
from pfmon.report.sampling.sampling_module import SamplingModule
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.sampling.sampling_module import ModuleContext


Place = tuple[int, str]
"""The address and the name of an instruction or a function."""


class InstHist(SamplingModule):
    """A histogram over instruction addresses, the largest count first. Its header and columns are those of pfmon's
    dear-hist (pfmon on Itanium 2, section 11), without latencies."""

    options = ("--smpl-show-func", "--smpl-show-top", "--smpl-cum-threshold", "--smpl-truth")
    is_histogram = True

    def __init__(self, context: ModuleContext) -> None:
        super().__init__(context)
        self._counts: Counter[int] = Counter()

    def take(self, samples: Sequence[Sample]) -> str:
        self._counts.update(sample.iip for sample in samples)
        return ""

    def finish(self, exact: Mapping[int, int] | None) -> str:
        rows = self._by_place(self._counts)
        truth = None if exact is None else self._by_place(exact)
        lines = [*self._header(rows, truth), *self._rows(rows, truth)]
        return "".join(f"{line}\n" for line in lines)

    def _by_place(self, counts: Mapping[int, int]) -> Counter[Place]:
        """Return the counts by instruction, or by function."""
        found: Counter[Place] = Counter()
        for address, count in counts.items():
            if self.context.by_function and self.context.names:
                function = self.context.names.function(address)
                found[function.address, str(function)] += count
            else:
                found[address, self.context.place(address)] += count
        return found

    def _header(self, rows: Counter[Place], truth: Counter[Place] | None) -> list[str]:
        what = "function" if self.context.by_function else "instruction"
        lines = [
            f"# total_samples {rows.total()}",
            f"# {what} addr view",
            "# sorted by count",
            f"# showing per {'function histogram' if self.context.by_function else 'distinct value'}",
        ]
        columns = "#count   %self    %cum"
        if truth is not None:
            lines += [
                f"# exact_total {truth.total()}",
                "# %exact: percentage of the events that happened there",
                "# error : %self less %exact",
                f"# total error {100 * distance(rows, truth):.2f}%: so many of the samples would have to be elsewhere",
            ]
            columns += "  %exact    error"
        return [*lines, f"{columns} {what} addr"]

    def _rows(self, rows: Counter[Place], truth: Counter[Place] | None) -> list[str]:
        """Return a line for each place, by decreasing count, then by true count, then by address."""
        places = sorted({*rows, *(truth or ())}, key=lambda place: (-rows[place], -(truth or rows)[place], place))
        total, seen, lines = rows.total() or 1, 0, []
        for place in places[: self.context.top or None]:
            seen += rows[place]
            share = 100 * rows[place] / total
            line = f"{rows[place]:8} {share:6.2f}% {100 * seen / total:6.2f}%"
            if truth is not None:
                exact = 100 * truth[place] / (truth.total() or 1)
                line += f" {exact:6.2f}% {share - exact:+7.2f}%"
            lines.append(f"{line} {place[0]:#x} {place[1]}".rstrip())
            if self.context.up_to and 100 * seen >= self.context.up_to * total:
                break
        return lines
