"""Controls of counting during a run: triggers, event set switching, intervals, PSR.up."""

from __future__ import annotations

from typing import NamedTuple


class Trigger(NamedTuple):
    """An address that starts or stops counting: of code (a bundle that is about to execute) or of data (a byte that is
    about to be accessed, by ``reads`` or ``writes``). ``text`` is how the user called it, ``option`` where.
    ``whole_call``: it starts counting for a call of a function, which its return stops."""

    option: str
    text: str
    address: int
    starts: bool
    data: bool = False
    repeats: bool = False
    reads: bool = True
    writes: bool = True
    whole_call: bool = False

    @property
    def group(self) -> str:
        """The triggers that it shares its effect with: every one of those that repeat takes effect, and of the others
        the first start and the first stop, for code and for data."""
        return "repeating" if self.repeats else "data" if self.data else "code"


class EventTrigger(NamedTuple):
    """Counting starts, or stops, when an event has happened so many ``times``; ``text`` is how the user said it,
    ``option`` where."""

    event: str
    times: int
    text: str
    option: str = "trigger-event"


class Controls(NamedTuple):
    """The controls of a session. Times are in nanoseconds of the program's processor time."""

    triggers: tuple[Trigger, ...] = ()
    """Code triggers before data triggers."""
    switch: int | None = None
    """The switch timeout of event sets."""
    true_values: bool = False
    """Also count every set all the time."""
    interval: int | None = None
    """The length of printed intervals."""
    insecure: bool = False
    """PSR.sp is clear: the program may start and stop counting, and read the counters."""
    dont_start: bool = False
    """PSR.up is clear at first."""
    event_trigger: EventTrigger | None = None
    """An event that starts counting."""
    stop_event: EventTrigger | None = None
    """An event that stops counting: it counts from where the other one starts it, or from the beginning."""
    ear_seed: int = 1
    """Seed of the data EAR's choice among overlapping loads."""

    per_thread: bool = False
    """Count each thread separately."""
    by_task: bool = False
    """The marks of a system's tasks decide what counts."""
    tasks_apart: bool = False
    """Count each task, or each processor, of a system separately."""
    task_name: str = ""
    """Of those counted separately, the tasks with this name are added up; "": all."""
    without_idle: tuple[int, ...] = ()
    """Numbers of the event sets for which idle tasks do not count."""
    regions: tuple[str, ...] = ()
    """Count only while a thread is in one of these regions of the program."""
    per_region: bool = False
    """Count each region separately, too; without `regions`, all that the program marks."""

    @property
    def heeds_psr_up(self) -> bool:
        """Whether PSR.up affects counting: the program may change it, or it is initially clear."""
        return self.insecure or self.dont_start

    @property
    def gates(self) -> bool:
        """Whether they decide, along the stream, what is counted."""
        apart = self.per_thread or self.by_task or self.of_regions
        return bool(self.triggers or self.of_events) or self.heeds_psr_up or apart

    @property
    def parts_alone(self) -> Controls | None:
        """The controls of a reader of the whole run that heeds regions, and tasks of a system, and nothing else; None:
        it has all."""
        idle = tuple(number for number in self.without_idle if number == 0)
        parts = Controls(regions=self.regions, by_task=self.by_task, without_idle=idle)
        return parts if self.regions or self.by_task else None

    @property
    def of_regions(self) -> bool:
        """Whether the program's marks of regions decide what is counted."""
        return bool(self.regions) or self.per_region

    @property
    def of_events(self) -> bool:
        """Whether events start or stop counting."""
        return self.event_trigger is not None or self.stop_event is not None
