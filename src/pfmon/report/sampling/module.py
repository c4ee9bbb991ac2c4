"""What all sampling modules have."""

from __future__ import annotations

from abc import ABC, abstractmethod

from pfmon.errors import PfmonError
from pfmon.light_typing import NamedTuple
from pfmon.pmu.captures import Captures
from pfmon.program.objects import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pfmon.machine.machine_figures import MachineFigures
    from pfmon.pmu.event import Event
    from pfmon.pmu.model import PmuModel
    from pfmon.session.profile import FunctionNames
    from pfmon.session.sampling import Sample

CPU = 0
"""The processor that everything runs on."""

VIEWS = ("inst", "data", "level")
"""What dear-hist counts by; the first is the default."""


class Context(NamedTuple):
    """What a module knows of the run and of the options: ``names`` of functions, None where addresses are not resolved;
    ``by_function``: collapse what is in one function; ``top``: show so many rows (0: all); ``view``: one of VIEWS, ""
    for the default; ``model``: the PMU; ``captures``: what it captures beside its counters; ``events``: those with a
    period; ``machine`` gives the figures of the machine that the program runs on; ``captures_of_sets``: `captures` of
    each event set, if there are several; ``up_to``: show the rows up to the one with which so many percent of all are
    shown (0: all); ``sort``: value or level, "" for the number of samples."""

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

    def place(self, address: int) -> str:
        """``main+0x11 main.c:7``, ``sin+0x20 [libm.so.6]``: the function that an instruction is in, how far from its
        beginning, the shared object, and where there is DWARF the line; "" without names."""
        if self.names is None:
            return ""
        function = self.names.function(address)
        name = f"{function.name}+{address - function.address:#x}" if function.address else function.name
        source = self.names.source(address)
        return shown_name(name, function.object) + (f" {source}" if source else "")

    def register(self, number: int) -> str:
        """What the PMU's manual calls a data register: PMD4, IA32_PMC0."""
        return self.model.data_name(number) if self.model else f"PMD{number}"

    def shown(self, address: int) -> str:
        """``0x4000000000000111 <main+0x11>``: an instruction's address, and its place if addresses are resolved."""
        place = self.place(address)
        return f"{address:#x} <{place}>" if place else f"{address:#x}"


class SamplingModule(ABC):
    """Makes text, or bytes, of samples, buffer by buffer."""

    options: tuple[str, ...] = ()
    """Those of the options of some modules that it has."""
    is_binary = False
    """Whether it makes bytes, which only a file takes."""
    is_of_one_set = False
    """Whether it reads what one event set captures."""
    is_histogram = False
    """Whether there is nothing to show before all samples have come."""

    def __init__(self, context: Context) -> None:
        """PfmonError: it does not go with what is sampled."""
        self.context = context

    @abstractmethod
    def take(self, samples: Sequence[Sample]) -> str | bytes:
        """The samples of a buffer; what can be shown now."""

    def finish(self, exact: Mapping[int, int] | None) -> str | bytes:
        """What there is to show when all samples have come; ``exact``: how often the sampled event happened at each
        instruction, if that was counted."""
        return ""


def other_events(module: str, wanted: Sequence[str], context: Context) -> PfmonError:
    """That a module does not go with the events that are sampled; ``wanted``: those that it goes with, of which one
    alone may have a period."""
    given = ", ".join(event.name for event in context.events)
    return PfmonError(f"--smpl-module={module}: samples of {given}; it wants those of one event: {', '.join(wanted)}")
