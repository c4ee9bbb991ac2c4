"""The base class of exports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pfmon.pmu.capture.last_branches import LastBranchStack
from pfmon.report.exports.exact_calls import call_paths
from pfmon.session.profile.call_rows import ExactCalls
from pfmon.session.profile.code_profile import FunctionNames
from pfmon.session.sampling.sampling_period import Sample

COMM = 15
"""Length of a command's name in Linux (TASK_COMM_LEN)."""


class ExportSubject(NamedTuple):
    """The origin of samples. ``command``: the program and its arguments; ``events``: their names, by event set and PMD;
    ``registers``: the PMDs that samples can have values of; ``nanoseconds``: of an instruction, by the program's clock;
    ``epoch``: seconds since 1970 when it starts; ``megahertz``: of the machine whose cycles the stamps are, 0: they are
    instructions; ``of_task``: the file is of several programs, and this is one of them; ``architecture``: that of the
    program's instructions, by the name that uname -m has; ``branches``: last branches in the samples, None: there are
    none; ``loads``: samples have precise loads; ``exact``: there are no samples, but all calls."""

    names: FunctionNames
    command: Sequence[str]
    process_id: int
    events: Mapping[tuple[int, int], str]
    registers: Sequence[int] = ()
    nanoseconds: int = 1
    epoch: int = 0
    megahertz: int = 0
    of_task: bool = False
    architecture: str = ""
    branches: LastBranchStack | None = None
    loads: bool = False
    exact: bool = False

    @property
    def comm(self) -> str:
        """The command's name, truncated as by Linux."""
        return self.command[0].rpartition("/")[2][:COMM] if self.command else ""

    def event(self, sample: Sample) -> str:
        """Return the event whose period ended with a sample; if several did, the first, to which the period belongs."""
        pmd = sample.overflowed[0] if sample.overflowed else 0
        return self.events.get((sample.set, pmd), f"PMD{pmd}")

    def time(self, sample: Sample) -> int:
        """Nanoseconds since the program began."""
        return sample.stamp * 1000 // self.megahertz if self.megahertz else sample.stamp * self.nanoseconds


class SampleExport(ABC):
    """Encodes samples as a file, buffer by buffer."""

    joins = False
    """Whether the files of several programs are one, behind each other."""

    def __init__(self, subject: ExportSubject) -> None:
        """PfmonError: the format is not available, as a library is missing."""
        self.subject = subject
        self.names = subject.names

    def stack(self, sample: Sample) -> list[str]:
        """Return the functions of a sample's call stack, the outermost first."""
        return [str(self.names.function(address)) for address in reversed(frames(sample))]

    @abstractmethod
    def take(self, samples: Sequence[Sample]) -> bytes:
        """Add a buffer of samples; return the bytes that can be written."""

    def take_calls(self, calls: ExactCalls) -> bytes:
        """Take all calls of a run instead of samples; return the bytes that can be written. Each call path is a sample
        of each event, whose period is the path's count; the samples follow each other as the paths first did, each when
        the cycles of those before it have passed."""
        stamp = 0
        samples = []
        for path in call_paths(calls.nodes, self.names):
            for event, count in enumerate(path.counts):
                if count:
                    samples.append(Sample(path.entries[0], stamp, (event,), count, 0, (), path.entries[1:]))
            stamp += path.counts[0]
        return self.take(samples)

    @abstractmethod
    def finish(self) -> bytes:
        """Return the rest of the file after the last sample."""


def frames(sample: Sample) -> tuple[int, ...]:
    """Return the addresses of a sample's instruction and of its callers, the innermost first."""
    return (sample.iip, *sample.calls)


def utf8(text: str) -> bytes:
    """Encode text; bytes of paths that are not UTF-8 stay unchanged."""
    return text.encode("utf-8", "surrogateescape")
