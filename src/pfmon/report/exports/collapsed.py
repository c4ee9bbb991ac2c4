"""Collapsed stacks: a line for each stack, its functions joined by semicolons, and how many samples have it. Scripts
for flame graphs, speedscope and others read them."""

from __future__ import annotations

from collections import Counter

from pfmon.report.exports.export import Export

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.session.profile import FunctionNames
    from pfmon.session.sampling import Sample


class Collapsed(Export):
    """Stacks in the order of their names."""

    def __init__(self, names: FunctionNames) -> None:
        super().__init__(names)
        self._counts: Counter[str] = Counter()

    def take(self, samples: Sequence[Sample]) -> None:
        self._counts.update(";".join(name.replace(";", ":") for name in self.stack(sample)) for sample in samples)

    def text(self) -> str:
        return "".join(f"{stack} {count}\n" for stack, count in sorted(self._counts.items()))
