"""callgrind: the format of callgrind_annotate and KCachegrind (Callgrind Format Specification, version 1). Costs are
the events of the samples' periods: self costs at each instruction, inclusive costs at each call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pfmon.report.exports.exact_calls import EVENTS, call_paths, counts_of
from pfmon.report.exports.sample_export import SampleExport, utf8
from pfmon.session.profile.call_rows import ExactCalls
from pfmon.session.profile.code_profile import Function
from pfmon.session.sampling.sampling_period import Sample
from pfmon.version import VERSION

if TYPE_CHECKING:
    from pfmon.report.exports.sample_export import ExportSubject


UNKNOWN, NO_LINE = "???", 0
Cost = Counter[str]
"""The cost in each event."""


class Callgrind(SampleExport):
    """Samples do not show how often a call was made; its call count is the number of samples that contain it. Where all
    calls are known, it is the number of calls; they are at the first line of the caller."""

    def __init__(self, subject: ExportSubject) -> None:
        super().__init__(subject)
        self._own: dict[int, Cost] = {}
        self._calls: dict[int, dict[Function, Cost]] = {}
        self._samples: Counter[tuple[int, Function]] = Counter()
        self._total: Cost = Counter()

    def take(self, samples: Sequence[Sample]) -> bytes:
        for sample in samples:
            event = self.subject.event(sample)
            self._total[event] += sample.last
            self._own.setdefault(sample.iip, Counter())[event] += sample.last
            callee = self.names.function(sample.iip)
            edges = set()  # a recursive call counts once
            for site in sample.calls:
                edges.add((site, callee))
                callee = self.names.function(site)
            for site, called in edges:
                self._calls.setdefault(site, {}).setdefault(called, Counter())[event] += sample.last
            self._samples.update(edges)
        return b""

    def take_calls(self, calls: ExactCalls) -> bytes:
        for address, counts in calls.own.items():
            self._own[address] = Counter(dict(zip(EVENTS, counts_of(counts), strict=True)))
        for path in call_paths(calls.nodes, self.names):
            cost = Counter(dict(zip(EVENTS, path.counts, strict=True)))
            self._total += cost
            callees = map(self.names.function, path.entries)
            edges = dict.fromkeys(zip(path.entries[1:], callees, strict=False))  # a recursive call counts once
            for number, (site, callee) in enumerate(edges):
                self._calls.setdefault(site, {}).setdefault(callee, Counter()).update(cost)
                if not number:
                    self._samples[site, callee] += path.calls
        return b""

    def finish(self) -> bytes:
        events = list(self._total) or ["Events"]
        lines = ["# callgrind format", "version: 1", f"creator: pfmon {VERSION}"]
        lines += [f"cmd: {' '.join(' '.join(self.subject.command).split())}", "positions: instr line"]
        lines += [f"events: {' '.join(events)}", f"summary: {self._costs(self._total)}", ""]
        addresses: dict[Function, list[int]] = {}
        for address in sorted({*self._own, *self._calls}):
            addresses.setdefault(self.names.function(address), []).append(address)
        for function in sorted(addresses):
            lines += [*self._function(function, addresses[function]), ""]
        return utf8("\n".join(lines))

    def _function(self, function: Function, addresses: Sequence[int]) -> list[str]:
        """Return the lines of the object file, source file and function, and the costs of its instructions."""
        file, _ = self._line(function.address)
        lines = [f"ob={self._object(function)}", f"fl={file}", f"fn={function.name}"]
        here = file
        for address in addresses:
            source, line = self._line(address)
            if source != here:  # begin or end of code inlined from another file
                lines.append(f"{'fe' if source == file else 'fi'}={source}")
                here = source
            if address in self._own:
                lines.append(f"{address:#x} {line} {self._costs(self._own[address])}")
            for callee, cost in sorted(self._calls.get(address, {}).items()):
                lines += self._call(callee, self._samples[address, callee])
                lines.append(f"{address:#x} {line} {self._costs(cost)}")
        return lines

    def _call(self, callee: Function, count: int) -> list[str]:
        file, line = self._line(callee.address)
        names = [f"cob={self._object(callee)}", f"cfi={file}", f"cfn={callee.name}"]
        return [*names, f"calls={count} {callee.address:#x} {line}"]

    def _costs(self, cost: Cost) -> str:
        """Return the costs in the order of the events."""
        return " ".join(str(cost[event]) for event in self._total) or "0"

    def _line(self, address: int) -> tuple[str, int]:
        source = self.names.source(address)
        return (source.file, source.line) if source else (UNKNOWN, NO_LINE)

    def _object(self, function: Function) -> str:
        image = self.names.image(function.address)
        return function.object or (image.path if image else UNKNOWN)
