"""An engine executes a program, or replays a recording, and writes what retires into a stream.

Sessions use engines through this module alone; registry.py chooses the engine of a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, runtime_checkable

from pfmon.engine.guest_pmu import PerformanceData
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.system_settings import SystemSettings, SystemTask
from pfmon.errors import PfmonError
from pfmon.program.guest_functions import GuestFunction
from pfmon.program.image import Program
from pfmon.program.mapped_files import MappedFile
from pfmon.program.python_interpreter import EvaluationLoop
from pfmon.stream._stream import BlockTable, Consumer, InstructionSet


class Task(NamedTuple):
    """One followed program in one process: from its start, fork or exec to its end. ``process``: place in the process
    tree, (1, 2) being the second child of (1,), the first process; ``image``: number of programs that the process
    executed before; ``command`` begins with the executed file; ``named``: it is the program that the user named, not
    one executed later."""

    process: tuple[int, ...]
    image: int
    pid: int
    command: Sequence[str]
    named: bool

    @property
    def name(self) -> str:
        """``1.2``, or ``1.2:1`` after its first exec."""
        return ".".join(map(str, self.process)) + (f":{self.image}" if self.image else "")


class TaskReader(Protocol):
    """The reader of one task's stream, within ``running``."""

    @property
    def consumer(self) -> Consumer:
        """The reader of its stream."""

    @property
    def running(self) -> AbstractContextManager[object]:
        """The context in which the task's stream arrives."""

    def ended(self, ending: ExitReport | None, retired: int) -> None:
        """The stream is read to its end. None: the task executed another program, or was stopped."""


class FollowRules(NamedTuple):
    """Child processes and executed programs to count, ``most`` processes at a time. ``watch`` returns a reader for each
    task but the first; such a task runs as an engine in a thread of its own, and an exception of task or reader ends
    the run. ``first_ended`` is called when the first task ends (None: as in `TaskReader.ended`), ``first_begins`` with
    the first task as soon as it is known."""

    forks: bool
    execs: bool
    most: int
    watch: Callable[[Task, Engine], TaskReader]
    first_ended: Callable[[Task, ExitReport | None], None]
    first_begins: Callable[[Task], None] = lambda _: None


class WaitingProcess(Protocol):
    """A process whose program has executed another one, and which waits for an engine that counts it."""

    def close(self) -> None:
        """Kill it: there is none."""


class ExecutedError(PfmonError):
    """A program has executed another one in its own process. ``path``: that one's file; ``retired``: instructions
    before; ``children``: processes that it has made; ``waiting``: the process."""

    def __init__(self, path: str, retired: int, children: int, waiting: WaitingProcess) -> None:
        super().__init__(f"the program executed {path}")
        self.path, self.retired, self.children, self.waiting = path, retired, children, waiting


class StartRequest(NamedTuple):
    """Parameters of a run. ``memory_limit``: bytes; ``processor``: the one that the program sees; ``slow``: every
    instruction is a block of its own; ``addresses``: the stream has those of memory accesses; ``totals``: the reader
    only adds up how often blocks ran and needs neither order nor conditions; ``listing``: code is listed after
    the run; ``on_notice`` is called with messages for the user while the program runs, ``on_detail`` with those that
    only --verbose prints; ``follow``: the child processes and executed programs to count; ``on_mapped`` is called when
    the first program has mapped files executable, before their blocks appear in the stream; ``engine``: the name of the
    wanted engine, empty for the usual one; ``python``: the loop of the interpreter whose Python functions are to be
    marked in the stream, as far as the engine can; ``anew``: `run` raises ExecutedError when the program executes
    another one in its own process, if the engine can let another one count that; ``waiting``: the process of such an
    error, which executes ``program`` now; ``system``: the bare system that the program is an image of, None: it
    runs under Linux; ``regions``: its marks of regions are in the stream (docs/regions.md);
    ``regions_alone``: what is outside of them need not be."""

    program: Program
    arguments: Sequence[bytes]
    environment: Sequence[bytes]
    settings: GuestSettings
    memory_limit: int
    processor: str
    slow: bool = False
    addresses: bool = False
    totals: bool = False
    listing: bool = False
    on_notice: Callable[[str], None] = lambda _: None
    on_detail: Callable[[str], None] = lambda _: None
    follow: FollowRules | None = None
    on_mapped: Callable[[], None] | None = None
    engine: str = ""
    python: EvaluationLoop | None = None
    anew: bool = False
    waiting: WaitingProcess | None = None
    system: SystemSettings | None = None
    regions: bool = False
    regions_alone: bool = False


class Capabilities(NamedTuple):
    """Features of an engine. ``addresses``: its stream has, or can have, the addresses of memory accesses;
    ``performance_data``: it supports PerformanceData; ``apart``: the program runs in a process of its own, in parallel
    to the reader of its stream; ``follows``: it can count child processes and executed programs;
    ``takes_turns``: threads run one at a time, in an order that repeats; ``system``: it runs a whole system, at all
    privilege levels; ``regions``: it puts a program's marks of regions into its stream."""

    addresses: bool
    performance_data: bool
    apart: bool = False
    follows: bool = False
    takes_turns: bool = False
    system: bool = False
    regions: bool = False


class ExitReport(NamedTuple):
    """The end of a program: exit status for the shell; ``signal`` that killed it (0: none), the reason and the place;
    ``report``: registers, code, stack and memory at that point, as far as the engine knows them."""

    status: int
    signal: int = 0
    text: str = ""
    where: str = ""
    report: str = ""


class Engine(Protocol):
    """A program that can be run once, to its end or until it is stopped."""

    @property
    def instruction_set(self) -> InstructionSet:
        """The instruction set of its blocks."""

    @property
    def capabilities(self) -> Capabilities:
        """Its features."""

    @property
    def table(self) -> BlockTable:
        """The blocks that its stream names."""

    @property
    def traced(self) -> bool:
        """Whether its stream has the addresses of memory accesses."""

    @property
    def mapped(self) -> Sequence[MappedFile]:
        """The files that the program has mapped executable so far; blocks name one by its place, from 1 on."""

    @property
    def functions(self) -> Sequence[GuestFunction]:
        """The Python functions that were called so far; marks of the stream name one by its place, from 1 on."""

    @property
    def threads(self) -> Sequence[tuple[int, int]]:
        """Its threads' turns so far, if known: instructions retired when the turn began, and the thread's number."""

    @property
    def retired(self) -> int:
        """Instructions retired so far."""

    @property
    def ip(self) -> int:
        """The address of the instruction that is next."""

    def set_monitoring(self, on: bool, locked: bool) -> None:
        """Set for the program's start whether its user-level monitoring is on, and whether the program may neither
        switch it nor read counters."""

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        """Write the stream to a consumer. Returns how the program ended, or None when it was stopped."""

    def stop(self) -> None:
        """Make `run` return soon; from any thread, or from a signal handler."""

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        """Address and text of the instructions in a range of code."""

    def close(self) -> None:
        """Release host resources."""


@runtime_checkable
class TaskedEngine(Protocol):
    """An engine whose stream tells the tasks of a system apart."""

    @property
    def tasks(self) -> Sequence[SystemTask]:
        """The tasks that are counted apart, by their numbers in the stream's marks."""


@runtime_checkable
class Interruptible(Protocol):
    """An engine whose program may have the user's terminal as its own."""

    def take_interrupt(self) -> bool:
        """Ctrl-C was typed. True: what runs gets it as a character; False: the run is to be ended."""


class StreamDemand(Protocol):
    """The reader of the streams of a system's two processors, which decides which of these executes."""

    @property
    def shares_core(self) -> bool:
        """Whether the processors are hardware threads of one core, which has one time."""

    def wait(self) -> tuple[int, int]:
        """Wait until everything has been read. Return the number of the processor whose stream is needed, and its
        machine's cycle."""

    def end_part(self, next_ip: int, sleeps: bool, wakes_other: bool, interrupts_other: bool) -> None:
        """Hand over what this processor has executed; the next instruction is at ``next_ip``. It sleeps then; the other
        one wakes; an external interrupt has arrived at the other one, which executes later."""


@runtime_checkable
class TimedSystem(Protocol):
    """An engine of a whole system whose time is that of the machines that read its stream."""

    def set_clock(self, cycles_before: Callable[[int], int]) -> None:
        """Let the interval timer count the cycles of the machine that reads the stream: ``cycles_before`` gives those
        until the instruction at an address, which is the next one."""

    def execute_on_demand(self, demand: StreamDemand) -> None:
        """Let the machines that read the streams of its two processors decide which of these executes."""


class Recording(Engine, Protocol):
    """A recorded run. ``command``: the recorded command line; ``damage``: where a damaged recording ends;
    ``sources``: the texts of source files that it keeps, by path, once it has been read."""

    command: list[str]
    damage: str
    sources: Mapping[str, str]

    def everything_mapped(self) -> Sequence[MappedFile]:
        """The files that the program maps executable during the whole recording."""

    def program(self, sysroot: str | None = None) -> Program:
        """The recorded program. PfmonError: the file is gone or has changed."""
