"""inst-hist: how many samples each instruction, or each function, has."""

from __future__ import annotations

from collections import Counter

from pfmon.report.sampling.module import SamplingModule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pfmon.report.sampling.module import Context
    from pfmon.session.sampling import Sample


class InstHist(SamplingModule):
    """A histogram over instruction addresses, the largest count first. Its header and columns are those of pfmon's
    dear-hist (pfmon on Itanium 2, section 11), without latencies."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._counts: Counter[int] = Counter()

    def take(self, samples: Sequence[Sample]) -> str:
        self._counts.update(sample.iip for sample in samples)
        return ""

    def finish(self) -> str:
        total = self._counts.total()
        by_function = self.context.by_function
        lines = [
            f"# total_samples {total}",
            f"# {'function' if by_function else 'instruction'} addr view",
            "# sorted by count",
            f"# showing per {'function histogram' if by_function else 'distinct value'}",
            f"#count   %self    %cum {'function addr' if by_function else 'instruction addr'}",
        ]
        seen = 0
        for number, (count, text) in enumerate(self._rows()):
            if self.context.top and number == self.context.top:
                break
            seen += count
            lines.append(f"{count:8} {100 * count / total:6.2f}% {100 * seen / total:6.2f}% {text}")
        return "".join(f"{line}\n" for line in lines)

    def _rows(self) -> Iterator[tuple[int, str]]:
        """Counts and what they are of, the largest first, then by address."""
        if not self.context.by_function or self.context.names is None:
            for address, count in sorted(self._counts.items(), key=lambda item: (-item[1], item[0])):
                yield count, f"{address:#x} {self.context.place(address)}".rstrip()
            return
        functions: Counter[tuple[int, str]] = Counter()
        for address, count in self._counts.items():
            name, start = self.context.names.function(address)
            functions[start, name] += count
        for (start, name), count in sorted(functions.items(), key=lambda item: (-item[1], item[0])):
            yield count, f"{start:#x} {name}"
