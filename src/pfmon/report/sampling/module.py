"""What all sampling modules have."""

from __future__ import annotations

from abc import ABC, abstractmethod

from pfmon.light_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pfmon.session.profile import FunctionNames
    from pfmon.session.sampling import Sample

CPU = 0
"""The processor that everything runs on."""


class Context(NamedTuple):
    """What a module knows of the run and of the options: ``names`` of functions, None where addresses are not resolved;
    ``by_function``: collapse what is in one function; ``top``: show so many rows (0: all)."""

    process_id: int
    names: FunctionNames | None = None
    by_function: bool = False
    top: int = 0

    def place(self, address: int) -> str:
        """``main+0x11 main.c:7``: the function that an instruction is in, how far from its beginning, and where there
        is DWARF its line; "" without names."""
        if self.names is None:
            return ""
        name, start = self.names.function(address)
        source = self.names.source(address)
        return (f"{name}+{address - start:#x}" if start else name) + (f" {source}" if source else "")


class SamplingModule(ABC):
    """Makes text of samples, buffer by buffer."""

    is_histogram = False

    def __init__(self, context: Context) -> None:
        self.context = context

    @abstractmethod
    def take(self, samples: Sequence[Sample]) -> str:
        """The samples of a buffer; the text that can be shown now."""

    def finish(self, exact: Mapping[int, int] | None) -> str:
        """What there is to show when all samples have come; ``exact``: how often the sampled event happened at each
        instruction, if that was counted."""
        return ""
