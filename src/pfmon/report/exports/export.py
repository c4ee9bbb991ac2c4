"""What all exports have."""

from __future__ import annotations

from abc import ABC, abstractmethod

from pfmon.light_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pfmon.session.profile import FunctionNames
    from pfmon.session.sampling import Sample

COMM = 15
"""Characters of a command's name that Linux keeps (TASK_COMM_LEN)."""


class Subject(NamedTuple):
    """What samples are of. ``command``: the program and its arguments; ``events``: their names, by event set and PMD;
    ``registers``: the PMDs that samples can have values of; ``nanoseconds``: of an instruction, by the program's clock;
    ``epoch``: seconds since 1970 when it starts; ``megahertz``: of the machine whose cycles the stamps are, 0: they are
    instructions; ``of_task``: the file is of several programs, and this is one of them."""

    names: FunctionNames
    command: Sequence[str]
    process_id: int
    events: Mapping[tuple[int, int], str]
    registers: Sequence[int] = ()
    nanoseconds: int = 1
    epoch: int = 0
    megahertz: int = 0
    of_task: bool = False

    @property
    def comm(self) -> str:
        """The command's name as Linux has it."""
        return self.command[0].rpartition("/")[2][:COMM] if self.command else ""

    def event(self, sample: Sample) -> str:
        """The event whose period ended with a sample; of several the first one, which the period is of."""
        pmd = sample.overflowed[0] if sample.overflowed else 0
        return self.events.get((sample.set, pmd), f"PMD{pmd}")

    def time(self, sample: Sample) -> int:
        """Nanoseconds since the program began."""
        return sample.stamp * 1000 // self.megahertz if self.megahertz else sample.stamp * self.nanoseconds


class Export(ABC):
    """Makes a file of samples, buffer by buffer."""

    joins = False
    """Whether the files of several programs are one, behind each other."""

    def __init__(self, subject: Subject) -> None:
        """PfmonError when it cannot be made here."""
        self.subject = subject
        self.names = subject.names

    def stack(self, sample: Sample) -> list[str]:
        """The functions that the program is in, the outermost first."""
        return [str(self.names.function(address)) for address in reversed(frames(sample))]

    @abstractmethod
    def take(self, samples: Sequence[Sample]) -> bytes:
        """The samples of a buffer; what can be written of the file now."""

    @abstractmethod
    def finish(self) -> bytes:
        """All samples have come: the rest of the file."""


def frames(sample: Sample) -> tuple[int, ...]:
    """The instruction of a sample, and those that called, the latest first."""
    return (sample.iip, *sample.calls)


def utf8(text: str) -> bytes:
    """Text as it is written; what is no character (paths may have such bytes) stays the byte that it was."""
    return text.encode("utf-8", "surrogateescape")
