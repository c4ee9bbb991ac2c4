"""A whole system that an image runs on (`--system`): memory, devices, and what its firmware says of the processor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class CacheDescription(NamedTuple):
    """One cache. ``level``: from 0 on; ``kind``: instruction, data or unified; ``size``, ``line``: bytes; ``latency``:
    cycles of a load; ``write_back``: else stores are written through it."""

    level: int
    kind: str
    size: int
    line: int
    ways: int
    latency: int
    write_back: bool


class TlbDescription(NamedTuple):
    """One translation cache. ``level``: from 0 on; ``kind``: instruction or data."""

    level: int
    kind: str
    entries: int
    ways: int


class PmuDescription(NamedTuple):
    """The performance monitors that the system may program. ``pm_info``: pairs, width, and the events of cycles and
    instructions; ``masks``: PMCs, PMDs, counters of cycles, counters of instructions, 256 bits each (PAL_PERF_MON_INFO,
    volume 2, 11.10.3)."""

    pm_info: int
    masks: bytes


NO_PMU = PmuDescription(0, bytes(128))
"""The performance monitors belong to pfmon: the system sees none."""


class ProcessorDescription(NamedTuple):
    """The modelled processor. ``brand``: its name; ``frequency``, ``bus_frequency``: MHz; ``shares_core``: a core has
    several hardware threads; ``threads``, ``cores``: how many hardware threads a core and cores a package of the system
    have."""

    brand: str
    frequency: int
    bus_frequency: int
    caches: tuple[CacheDescription, ...]
    tlbs: tuple[TlbDescription, ...]
    shares_core: bool
    pmu: PmuDescription = NO_PMU
    threads: int = 1
    cores: int = 1


INSTRUCTIONS, CYCLES = "instructions", "cycles"
QUANTUM = 10_000
"""Instructions of a processor's turn."""
COUPLED = 2
"""Processors of a system whose streams two machines read: hardware threads of a core, or cores."""


class PackedProgram(NamedTuple):
    """A program that a Linux kernel runs. ``path``: the host's; ``arguments``: with its name; ``environment``:
    NAME=VALUE of each variable; ``directory``: in which it begins; ``sysroot``: where its interpreter and libraries
    are, None: nowhere; ``files``: further files and directories, (host's path, guest's); ``outputs``: files that the
    system hands out when the program has ended, (guest's path, host's)."""

    path: str
    arguments: Sequence[bytes]
    environment: Sequence[bytes]
    directory: str
    sysroot: str | None = None
    files: Sequence[tuple[str, str]] = ()
    outputs: Sequence[tuple[str, str]] = ()


class BootSettings(NamedTuple):
    """How a Linux kernel boots. ``cmdline``: its command line; ``initrd``: the file of an initial file system, "":
    none, or the program's; ``program``: None: the kernel's console is the user's; ``console``: what the kernel says is
    shown beside a program; ``exit_on``: a regular expression, whose first match on the console ends the run;
    ``snapshot``: the file that gets a snapshot, "": none; ``snapshot_on``: a regular expression, whose first match on
    the console has it taken, "": it is taken when the system is ready for a program; ``from_snapshot``: the file of a
    snapshot that the system goes on from, "": it boots."""

    cmdline: str = ""
    initrd: str = ""
    program: PackedProgram | None = None
    console: bool = False
    exit_on: str = ""
    snapshot: str = ""
    snapshot_on: str = ""
    from_snapshot: str = ""

    @property
    def takes_programs(self) -> bool:
        """Whether the first program is pfmon's, which runs a program."""
        return self.program is not None or bool(self.snapshot and not self.snapshot_on)


class TaskOffsets(NamedTuple):
    """Offsets in Linux' task_struct: the name, the pid of the task, that of its process, and the task that has started
    it (real_parent)."""

    comm: int
    pid: int
    tgid: int
    parent: int


PROGRAM_TASKS = "program"
"""The tasks of the program, and of what it starts."""
TASKS_APART = 128
"""Maximum number of tasks counted separately; the last ones are counted together."""


class TaskSettings(NamedTuple):
    """How the tasks of a Linux kernel are counted. ``apart``, ``by_processor``: each task, each processor by itself;
    ``wanted``: PROGRAM_TASKS, or a pid; "": all; ``processors``: those that count, None: all; ``offsets``: None: they
    are found. ``stacks``: they are told apart for call stacks alone, as well as the kernel lets it."""

    apart: bool = False
    by_processor: bool = False
    wanted: str = ""
    processors: tuple[int, ...] | None = None
    offsets: TaskOffsets | None = None
    stacks: bool = False


class SystemTask(NamedTuple):
    """What was counted apart: a task with the pid of itself and of its process, and its last name (None: all tasks of a
    processor, or one that ended before it was known), on a processor (None: on all). ``is_rest``: it stands for all
    that had no room."""

    pid: int | None
    process: int | None
    name: str
    processor: int | None
    is_rest: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether it is what a processor executes that has nothing to do."""
        return self.pid == 0


class SystemSettings(NamedTuple):
    """``memory``: bytes of physical memory, from address 0 on; ``uart``: physical address of the serial port, None:
    there is none, or the platform chooses; ``guest_pmu``: the system programs the performance monitors; ``itc``: what
    the interval timer counts, INSTRUCTIONS or the machine's CYCLES; ``boot``: the image is a Linux kernel, None: it
    brings its own firmware; ``processors``: logical ones, which take turns of ``quantum`` instructions; ``from_boot``:
    what is before and after the program is in the stream, too; ``tasks``: None: tasks are not told apart;
    ``marks_handlers``: interruptions set PSR.pp."""

    memory: int
    uart: int | None
    processor: ProcessorDescription
    guest_pmu: bool = False
    itc: str = INSTRUCTIONS
    boot: BootSettings | None = None
    processors: int = 1
    quantum: int = QUANTUM
    from_boot: bool = True
    tasks: TaskSettings | None = None
    marks_handlers: bool = False
