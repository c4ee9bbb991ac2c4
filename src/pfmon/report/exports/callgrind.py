"""callgrind: what callgrind_annotate and KCachegrind read (Callgrind Format Specification, version 1). Costs are the
events of the samples' periods: at each instruction, and inclusive of what it called, at each call."""

from __future__ import annotations

from collections import Counter

from pfmon.report.exports.export import Export
from pfmon.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.session.profile import FunctionNames
    from pfmon.session.sampling import Sample

NO_LINE = 0
Function = tuple[str, int]
"""Name and address."""


class Callgrind(Export):
    """One cost, `Events`. How often a call was made is not known from samples: it is given as the number of samples
    that it is in."""

    def __init__(self, names: FunctionNames) -> None:
        super().__init__(names)
        self._own: Counter[int] = Counter()
        self._calls: Counter[tuple[int, Function]] = Counter()
        self._samples: Counter[tuple[int, Function]] = Counter()

    def take(self, samples: Sequence[Sample]) -> None:
        for sample in samples:
            self._own[sample.iip] += sample.last
            callee = self.names.function(sample.iip)
            edges = set()  # a recursive call counts once
            for site in sample.calls:
                edges.add((site, callee))
                callee = self.names.function(site)
            for edge in edges:
                self._calls[edge] += sample.last
                self._samples[edge] += 1

    def text(self) -> str:
        lines = ["# callgrind format", "version: 1", f"creator: pfmon {VERSION}", "positions: instr line"]
        lines += ["events: Events", f"summary: {self._own.total()}", ""]
        addresses: dict[Function, set[int]] = {}
        for address in (*self._own, *(site for site, _ in self._calls)):
            addresses.setdefault(self.names.function(address), set()).add(address)
        callees: dict[int, list[Function]] = {}
        for site, callee in self._calls:
            callees.setdefault(site, []).append(callee)
        for function in sorted(addresses):
            lines += ["fl=???", f"fn={function[0]}"]
            for address in sorted(addresses[function]):
                if address in self._own:
                    lines.append(f"{address:#x} {NO_LINE} {self._own[address]}")
                for callee in sorted(callees.get(address, ())):
                    lines += self._call(address, callee)
            lines.append("")
        return "\n".join(lines)

    def _call(self, site: int, callee: Function) -> list[str]:
        edge = (site, callee)
        return [
            f"cfn={callee[0]}",
            f"calls={self._samples[edge]} {callee[1]:#x} {NO_LINE}",
            f"{site:#x} {NO_LINE} {self._calls[edge]}",
        ]
