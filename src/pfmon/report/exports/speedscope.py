"""speedscope: a profile of samples in speedscope's own format (its file-format-spec), each weighing the events that its
period had."""

from __future__ import annotations

import json

from pfmon.report.exports.export import Export
from pfmon.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.session.profile import FunctionNames
    from pfmon.session.sampling import Sample

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class Speedscope(Export):
    """One profile: stacks in the order in which they were sampled."""

    def __init__(self, names: FunctionNames) -> None:
        super().__init__(names)
        self._frames: dict[str, int] = {}
        self._stacks: list[list[int]] = []
        self._weights: list[int] = []

    def take(self, samples: Sequence[Sample]) -> None:
        for sample in samples:
            self._stacks.append([self._frames.setdefault(name, len(self._frames)) for name in self.stack(sample)])
            self._weights.append(sample.last)

    def text(self) -> str:
        profile = {
            "type": "sampled",
            "name": "samples",
            "unit": "none",
            "startValue": 0,
            "endValue": sum(self._weights),
            "samples": self._stacks,
            "weights": self._weights,
        }
        whole = {
            "$schema": SCHEMA,
            "exporter": f"pfmon {VERSION}",
            "shared": {"frames": [{"name": name} for name in self._frames]},
            "profiles": [profile],
        }
        return json.dumps(whole) + "\n"
