"""The base class of sampling modules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pfmon.errors import PfmonError
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu.capture.captures import Captures
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.program.loaded_objects import shown_name
from pfmon.session.profile.code_profile import FunctionNames
from pfmon.session.sampling.sampling_period import Sample

CPU = 0
"""The processor that everything runs on."""

VIEWS = ("inst", "data", "level")
"""Views of dear-hist; the first is the default."""


class ModuleContext(NamedTuple):
    """The run and the options as a module sees them: ``names`` of functions, None where addresses are not resolved;
    ``by_function``: collapse what is in one function; ``top``: show so many rows (0: all); ``view``: one of VIEWS, ""
    for the default; ``model``: the PMU; ``captures``: what it captures beside its counters; ``events``: those with a
    period; ``machine`` gives the figures of the machine that the program runs on; ``captures_of_sets``: `captures` of
    each event set, if there are several; ``up_to``: show the rows up to the one with which so many percent of all are
    shown (0: all); ``sort``: value or level, "" for the number of samples; ``timed``: a
    machine runs, which predicts branches; ``truth``: samples are compared with all that happened."""

    process_id: int
    names: FunctionNames | None = None
    by_function: bool = False
    top: int = 0
    view: str = ""
    model: PmuModel | None = None
    captures: Captures = Captures()
    events: tuple[Event, ...] = ()
    machine: Callable[[], MachineFigures] | None = None
    captures_of_sets: tuple[Captures, ...] = ()
    up_to: int = 0
    sort: str = ""
    timed: bool = False
    truth: bool = False

    def place(self, address: int) -> str:
        """Return an instruction's function, offset, shared object and, with DWARF, line: ``main+0x11 main.c:7``,
        ``sin+0x20 [libm.so.6]``; "" without names."""
        if self.names is None:
            return ""
        function = self.names.function(address)
        name = f"{function.name}+{address - function.address:#x}" if function.address else function.name
        source = self.names.source(address)
        return shown_name(name, function.object) + (f" {source}" if source else "")

    def register(self, number: int) -> str:
        """Return a data register's name in the PMU's manual: PMD4, IA32_PMC0."""
        return self.model.data_name(number) if self.model else f"PMD{number}"

    def shown(self, address: int) -> str:
        """Return an instruction's address and, if addresses are resolved, its place: ``0x4000000000000111
        <main+0x11>``."""
        place = self.place(address)
        return f"{address:#x} <{place}>" if place else f"{address:#x}"


class SamplingModule(ABC):
    """Converts samples to text or bytes, buffer by buffer."""

    options: tuple[str, ...] = ()
    """The module-specific options that it supports."""
    is_binary = False
    """Whether its output is binary, which requires a file."""
    is_of_one_set = False
    """Whether it reads captures, which requires a single event set."""
    is_histogram = False
    """Whether it has no output before the last sample."""

    def __init__(self, context: ModuleContext) -> None:
        """PfmonError: the module cannot be used with the sampled events."""
        self.context = context

    @abstractmethod
    def take(self, samples: Sequence[Sample]) -> str | bytes:
        """Process a buffer of samples; return the output so far."""

    def take_exact_edges(self, edges: Mapping[tuple[int, int], int]) -> None:  # noqa: B027  # most modules have no edges
        """Take how often branches were taken by source and target, before `finish`."""

    def finish(self, exact: Mapping[int, int] | None) -> str | bytes:
        """Return the output after the last sample; ``exact``: the true counts of the sampled event by instruction, if
        counted."""
        return ""


def other_events(module: str, wanted: Sequence[str], context: ModuleContext) -> PfmonError:
    """Return the error for a module that cannot be used with the sampled events; ``wanted``: the supported events, of
    which exactly one may have a period."""
    given = ", ".join(event.name for event in context.events)
    return PfmonError(f"--smpl-module={module}: samples of {given}; it wants those of one event: {', '.join(wanted)}")
