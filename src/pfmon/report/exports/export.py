"""What all exports have."""

from __future__ import annotations

from abc import ABC, abstractmethod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.session.profile import FunctionNames
    from pfmon.session.sampling import Sample


class Export(ABC):
    """Gathers samples; ``text`` is the file when all have come."""

    def __init__(self, names: FunctionNames) -> None:
        self.names = names

    def stack(self, sample: Sample) -> list[str]:
        """The functions that the program is in, the outermost first."""
        return [self.names.function(address)[0] for address in (*reversed(sample.calls), sample.iip)]

    @abstractmethod
    def take(self, samples: Sequence[Sample]) -> None:
        """The samples of a buffer."""

    @abstractmethod
    def text(self) -> str:
        """The contents of the file."""
