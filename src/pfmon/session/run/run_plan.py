"""The plan of a run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pfmon.engine.api import Task, WaitingProcess
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.system_settings import CYCLES, SystemSettings
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.request import RangeRequest, Request
from pfmon.program.image import NO_DIRECTORIES, DebugDirectories, Program
from pfmon.program.mapped_files import MappedFile
from pfmon.program.python_interpreter import EvaluationLoop
from pfmon.program.source_texts import SourceFile
from pfmon.session.coupled.coupled_run import HardwareThread
from pfmon.session.run.controls import Controls, Trigger
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.supported import check_machine_counts
from pfmon.session.sampling.sampling_period import Sampling

if TYPE_CHECKING:
    from pfmon.program.loaded_objects import LoadedObjects


MACHINE, EXACT = "machine", "exact"
"""The events that a program using the PMU can count."""


class ResolvedAddresses(NamedTuple):
    """Ranges (of code and of data, by event set) and triggers whose addresses have become known."""

    ranges: Sequence[tuple[RangeRequest | None, RangeRequest | None]]
    triggers: tuple[Trigger, ...]


class TimelineRequest(NamedTuple):
    """The block of which a timeline is wanted. ``place``: a range of code, of which it is the block with most cycles; a
    name, if that is known when the program has run; None: all code; ``text``: the place as given; ``iterations``: how
    many are shown."""

    place: tuple[int, int] | str | None
    text: str
    iterations: int


class FollowOptions(NamedTuple):
    """Selection of counted tasks. ``only`` and ``never``: regular expressions that an executed program's path must
    match, and must not match, to be counted; "": all, none. ``most``: maximum number of simultaneous processes."""

    forks: bool
    execs: bool
    most: int
    only: str = ""
    never: str = ""

    def counts(self, task: Task) -> bool:
        """Return whether a task is counted; its children are followed in any case."""
        path = task.command[0]
        wanted = not self.only or re.search(self.only, path) is not None
        return task.named or (wanted and not (self.never and re.search(self.never, path)))


class TaskStart(NamedTuple):
    """The start of a task: the files that its code is from, and its triggers."""

    objects: LoadedObjects
    triggers: Sequence[Trigger]


class RunPlan(NamedTuple):
    """A run and its counts. ``requests``: what is asked of the PMU for each event set, which take turns if there are
    several; ``timeout`` is in seconds; no events: the program just runs; ``profile``: say where the counts come from;
    ``lines``: by source line, too; ``annotate``: a range of code whose instructions are to be listed, or a source file,
    or a name, if that is known when the program has run; ``unlimited``: count on as many PMUs as the events need;
    ``finding``: find the largest cause of stalls, if a machine runs; ``controls``: when is counted; ``machine``: gives
    the machine that the program runs on, None: that of the PMU's processor; ``report``: break the cycles down; there
    are no events then; ``record``: a file that the run is recorded in; ``replay``: a recording that is run instead of a
    program (``partial``: as far as it is whole), whose ``program`` is needed for names alone; ``sampling``: which
    events are sampled, of one event set that counts on one PMU all the time; ``demangle``: C++ names where counts come
    from; ``following``: what is counted of what the program starts; ``debug``: where separate debug files are looked
    for; ``collect_report``: look at everything, beside what counts; ``collect_calls``: keep all calls beside it, with
    cycles and instructions; ``collect_edges``: and taken branches by source and target; ``shared_lines``: find the
    lines of memory that threads share; ``timeline``: keep that of a block, on a machine beside it; ``threaded``: a
    machine in a thread of its own; ``guest_pmu``: the program has the PMU, and a machine runs (MACHINE), or only what
    architecture decides is counted (EXACT); there are no events then; ``watched``: somebody looks at the counts while
    it runs; ``hardware_thread``: the hardware thread of a core that it runs on; ``deferred``: says, of the files that
    are mapped, where ranges and triggers are whose addresses are not known yet; None: no more than before; ``anew``,
    ``waiting``: as in StartRequest; ``python``: the loop of the interpreter whose Python functions are marked;
    ``split_python``: events are counted by them; ``begin``: what is known of a task (None: the first one) that is
    followed and begins, with the files that it will have mapped; None: each is the program of the plan; ``system``: as
    in StartRequest."""

    program: Program | None
    arguments: Sequence[bytes]
    environment: Sequence[bytes]
    settings: GuestSettings
    model: PmuModel
    requests: Sequence[Request]
    memory_limit: int
    timeout: float | None = None
    engine: str = ""
    slow: bool = False
    profile: bool = False
    lines: bool = False
    annotate: tuple[int, int] | SourceFile | str | None = None
    unlimited: bool = False
    finding: bool = False
    controls: Controls = Controls()
    machine: Callable[[], MachineFigures] | None = None
    report: bool = False
    record: str = ""
    replay: str = ""
    partial: bool = False
    sampling: Sampling | None = None
    demangle: bool = True
    following: FollowOptions | None = None
    debug: DebugDirectories = NO_DIRECTORIES
    collect_report: bool = False
    collect_calls: bool = False
    collect_edges: bool = False
    shared_lines: bool = False
    timeline: TimelineRequest | None = None
    threaded: bool = True
    guest_pmu: str = ""
    watched: bool = False
    hardware_thread: HardwareThread | None = None
    deferred: Callable[[Sequence[MappedFile]], ResolvedAddresses | None] | None = None
    python: EvaluationLoop | None = None
    split_python: bool = False
    anew: bool = False
    waiting: WaitingProcess | None = None
    begin: Callable[[Task | None, Callable[[], Sequence[MappedFile]]], TaskStart] | None = None
    system: SystemSettings | None = None

    @property
    def counts_time_in_cycles(self) -> bool:
        """Whether the interval timer of a system counts the cycles of its machine."""
        return self.system is not None and self.system.itc == CYCLES

    @property
    def surveyed(self) -> bool:
        """Whether everything is looked at, or all calls, beside what counts."""
        return self.collect_report or self.collect_calls


def event_groups(plan: RunPlan) -> list[EventSets]:
    """The event sets of a plan, each programmed; none without events."""
    return [EventSets(plan.model, request, plan.unlimited) for request in plan.requests if request.events]


def planned_machine(plan: RunPlan) -> MachineFigures:
    """Return the machine's figures. PfmonError: it does not support the controls."""
    from pfmon.machine.config.machine_config import load

    check_machine_counts(plan.slow)
    return plan.machine() if plan.machine else load(plan.model.target.machine(plan.requests[0].ia32_program))


def default_memory_limit() -> int:
    """Return half of the host's memory, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
