"""One monitored run: a program, an event set, a time limit."""

import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from pfmon.engine.ia64.guest import Guest
from pfmon.engine.ia64.linux.interface import Death, End
from pfmon.engine.ia64.linux.settings import Settings
from pfmon.pmu.model import PmuModel
from pfmon.pmu.request import Request
from pfmon.program.image import Program
from pfmon.session.controls import Controls
from pfmon.session.counting import Count, Counting
from pfmon.session.event_sets import EventSets
from pfmon.session.monitoring import Interval, Monitoring
from pfmon.session.supported import check_machine_counts, check_runs_here
from pfmon.stream.shapes import Consumer
from pfmon.stream.tally import Tally

if TYPE_CHECKING:
    from pfmon.machine.config import MachineFigures
    from pfmon.session.cpi import Cpi
    from pfmon.session.profile import Profile

TIMED_OUT = 124
"""Exit status of a run that --session-timeout ended, as timeout(1) has it."""


class Plan(NamedTuple):
    """What is to be run and counted. ``timeout`` is in seconds; no events: the program just runs; ``profile``: say
    where the counts come from; ``annotate``: a range of code whose instructions are to be listed; ``unlimited``:
    count on as many PMUs as the events need; ``set_sizes``: how many of the events belong to each event set, if there
    are several that take turns; ``controls``: when is counted; ``machine``: gives the machine that the program runs on,
    None: that of the PMU's processor; ``report``: break the cycles down; there are no events then."""

    program: Program
    arguments: Sequence[bytes]
    environment: Sequence[bytes]
    settings: Settings
    model: PmuModel
    request: Request
    memory_limit: int
    timeout: float | None = None
    slow: bool = False
    profile: bool = False
    annotate: tuple[int, int] | None = None
    unlimited: bool = False
    set_sizes: Sequence[int] = ()
    controls: Controls = Controls()
    machine: "Callable[[], MachineFigures] | None" = None
    report: bool = False


class Times(NamedTuple):
    """Seconds of the host that a run took."""

    real: float
    user: float
    system: float


class Outcome(NamedTuple):
    """How a run ended. ``status`` is the exit status for the shell; ``death`` is set when a signal killed it,
    ``stopped`` names what ended it from outside."""

    status: int
    counts: list[Count]
    times: Times
    retired: int
    death: Death | None = None
    where: str = ""
    stopped: str = ""
    profile: "Profile | None" = None
    listing: Sequence[tuple[int, str]] = ()
    notes: Sequence[str] = ()
    cpi: "Cpi | None" = None


def event_groups(plan: Plan) -> list[EventSets]:
    """The event sets of a plan, each programmed; none without events."""
    request, groups, first = plan.request, [], 0
    for size in plan.set_sizes or [len(request.events)]:
        part = request._replace(events=request.events[first : first + size])
        if part.events:
            groups.append(EventSets(plan.model, part, plan.unlimited))
        first += size
    return groups


class Observer:
    """A run on a machine without a PMU: what a report of the whole machine needs."""

    def __init__(self, figures: "MachineFigures", guest: Guest) -> None:
        from pfmon.session.machine_run import MachineRun  # most runs need no machine

        self._figures, self._processor = figures, guest.processor
        self._tally = Tally(guest.processor.shapes, traced=True)
        self.running = MachineRun(figures, guest.processor, beside=self._tally)

    def breakdown(self, program: Program) -> "Cpi":
        """Where the cycles went."""
        from pfmon.session.cpi import breakdown

        return breakdown(self._figures, self.running.counts(), self._processor, self._tally, program)


class Session:
    """A plan, programmed and loaded: whatever is wrong with it shows when this is made (PfmonError)."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        check_runs_here(plan.model)
        self.groups = event_groups(plan)
        self.counting = self.groups[0] if self.groups else None
        self._machine = _machine(plan) if self._wants_machine else None
        self.guest = Guest(
            plan.program,
            plan.arguments,
            plan.environment,
            plan.settings,
            memory_limit=plan.memory_limit,
            processor=plan.model.name,
            slow=plan.slow,
            trace=plan.report or any(group.wants_addresses for group in self.groups),
        )
        self._stopped = ""

    @property
    def _wants_machine(self) -> bool:
        return self.plan.report or any(group.wants_machine for group in self.groups)

    @property
    def sets(self) -> list[Counting]:
        """All programmed PMUs."""
        return [one for group in self.groups for one in group.sets]

    def run(self, on_interval: Callable[[Interval], None] = lambda _: None) -> Outcome:
        """Run the program to its end and read the counters. ``on_interval`` gets the counts of each interval."""
        scale = self.plan.settings.nanoseconds_per_instruction
        monitoring = (
            Monitoring(self.groups, self.plan.controls, self.guest, scale, on_interval, self._machine)
            if self.groups
            else None
        )
        observer = Observer(self._machine, self.guest) if self._machine and not monitoring else None
        before = _now()
        with self._interruptible():
            if observer:
                with observer.running:
                    end = self.guest.run(observer.running.consumer)
            elif monitoring:
                with monitoring.running:
                    end = self.guest.run(monitoring.consumer, monitoring.agenda)
            else:
                end = self.guest.run(Consumer())
        times = Times(*(after - first for after, first in zip(_now(), before, strict=True)))
        counts: list[Count] = []
        notes: list[str] = []
        profile: Profile | None = None
        lines: list[tuple[int, str]] = []
        if monitoring:
            monitoring.finish_interval()
            counts = monitoring.counts()
            notes = monitoring.notes()
            if self.plan.profile:
                profile, lines = self._profile(monitoring.tally)
        death = end if isinstance(end, Death) else None
        where = self._place() if death else ""
        self.guest.close()
        return Outcome(
            status=self._status(end),
            counts=counts,
            times=times,
            retired=self.guest.processor.retired,
            death=death,
            where=where,
            stopped=self._stopped,
            profile=profile,
            listing=lines,
            notes=notes,
            cpi=observer.breakdown(self.plan.program) if observer else None,
        )

    def _profile(self, tally: Tally) -> "tuple[Profile | None, list[tuple[int, str]]]":
        from pfmon.session.profile import Profile, listing  # as _place

        if self.counting is None:
            return None, []
        profile = Profile(self.counting, self.plan.program, self.guest.processor, tally)
        return profile, listing(self.guest.memory, self.plan.annotate) if self.plan.annotate else []

    def _status(self, end: End | None) -> int:
        if end is not None:
            return end.status & 0xFF
        return TIMED_OUT if self._stopped == "timeout" else 128 + signal.SIGINT

    def _place(self) -> str:
        from pfmon.session.place import describe  # only a program that dies needs symbols and a disassembler

        return describe(self.plan.program, self.guest)

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Ctrl-C and the time limit stop the run instead of killing it."""

        def stop(number: int, _: FrameType | None) -> None:
            self._stopped = self._stopped or ("timeout" if number == signal.SIGALRM else "interrupt")
            self.guest.stop()

        old = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGALRM)}
        if self.plan.timeout:
            signal.setitimer(signal.ITIMER_REAL, self.plan.timeout)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in old.items():
                signal.signal(number, handler)


def _machine(plan: Plan) -> "MachineFigures":
    """The machine of a run. PfmonError: it cannot count as the controls want."""
    from pfmon.machine.config import load  # exact events alone do not need it

    check_machine_counts(plan.slow)
    return plan.machine() if plan.machine else load(plan.model.name)


def _now() -> tuple[float, float, float]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return time.monotonic(), usage.ru_utime, usage.ru_stime


def default_memory_limit() -> int:
    """Half of the host's memory, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
