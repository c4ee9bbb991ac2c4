"""The options of a run, as set by the command line or the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from pfmon.engine.system_settings import TaskOffsets
from pfmon.library.options.option import OF_RUN
from pfmon.library.options.option_record import OptionRecord
from pfmon.library.options.set_options import SetOptions
from pfmon.library.options.timeline_place import TimelinePlace


def instruction_set_named(given: Set[str]) -> str:
    """Return what ia32 and ia64 select, given or not: one of them, or both."""
    return "".join(given) if len(given) == 1 else "both"


class Options(OptionRecord):
    """The values of the options of the run; the table has their defaults. Values that are parsed only when the PMU or
    the program is known are kept as text."""

    part = OF_RUN

    pmu: str
    """The PMU, "" for that of the machine, or of the program's processors (machine_selection.py)."""
    machine: str
    """A machine's name or file, "" for that of the PMU."""
    machine_settings: Sequence[str]
    """Changes of its figures, FIGURE=VALUE."""
    sets: Sequence[SetOptions]
    """Options of each event set; there is one at least, which may have no events."""
    use_default_events: bool
    """Without events: count the default ones."""

    levels: str
    """Letters of privilege levels, "" for user level."""
    instruction_sets: Set[str]
    """ia32, ia64; none of them, and both, are both."""
    system_wide: bool
    all_threads: bool
    check_qualifiers: bool
    controls: Mapping[str, int]
    """Fields of control registers (Intel, AMD, PowerPC)."""
    preload: Mapping[str, int]
    """Initial values of counters (PowerPC)."""

    report: str = ""
    """A report instead of counts: cpi, derived."""
    collect_report: bool = False
    """Collect the data of an HTML report, beside the counts."""
    unlimited: bool
    symbol_file: str
    debug_dirs: Sequence[str]
    """Directories of separate debug files, searched before the usual ones."""
    demangled: bool | None
    """Whether C++ names are demangled; None: the option is not given."""
    per_function: bool
    per_block: bool
    per_line: bool
    annotate: str
    """The function whose instructions are listed with their counts."""
    timeline: TimelinePlace | None
    """The code of whose block a timeline is shown."""

    switch_timeout: int | None
    """In nanoseconds of the program's processor time, like print_interval."""
    true_values: bool
    print_interval: int | None
    insecure: bool
    dont_start: bool
    idle_options: Sequence[str]
    """Given options that have no effect on a program's run."""
    triggers: Mapping[str, Sequence[str]]
    """Option --trigger-...-addresses -> its addresses, unparsed."""
    trigger_flags: Set[str]
    trigger_event: str
    """EVENT:N: counting starts when it has happened so often."""
    stop_event: str
    """EVENT:N: counting stops when it has happened so often since."""

    region: Sequence[str]
    """Names of the regions of the program in which counting is on; none: everywhere."""
    per_region: bool

    smpl_entries: int
    saturate_smpl_buffer: bool
    smpl_truth: bool
    smpl_stacks: bool
    smpl_skid: int
    """Cycles from an overflow to its interrupt."""
    ear_seed: int
    """Seed of the data EAR's choice among loads."""

    session_timeout: float | None

    follow_fork: bool
    follow_exec: bool
    follow_pthread: bool
    per_thread: bool
    """No effect: threads are always counted together."""
    follow_exec_only: str = ""
    """A regular expression: count executed programs whose path matches."""
    follow_exec_exclude: str
    """A regular expression: do not count executed programs whose path matches."""
    follow_limit: int
    """Maximum number of simultaneous processes."""

    record: str
    replay: str
    partial: bool

    sysroot: str | None
    confine: bool
    net: bool
    detach_children: bool
    host_clock: bool
    host_random: bool
    host_ids: bool
    host_env: bool
    environment: Sequence[str]
    seed: int
    quantum: int
    """0: QUANTUM, or with several cores CORES_QUANTUM."""
    schedule_seed: int
    memory_limit: int | None
    engine: str
    """The name of the engine that runs the program; empty: the usual one of its instruction set."""
    mask_cpuid: bool
    slow: bool
    cores: int
    """Cores on which the threads of a program run; with two programs 2: they run on two cores of one bus."""
    smt: Sequence[str]
    """The program of hardware thread 0 and its arguments, on the command line."""
    smt_name: str = ""
    """The option that set it."""
    smt_replay: str
    """The recording replayed on hardware thread 0."""
    smt_threads: bool
    """The threads of one program run on both hardware threads of a core."""
    smt_rules: bool
    """Enforce the manual's rules on counters of two threads on a core."""
    guest_pmu: str
    """The program uses the PMU: machine, or exact events alone."""
    system: str
    """The file of a whole system's image; "": a program runs."""
    memory: int
    """Bytes of its physical memory."""
    uart: int | None
    """Physical address of its serial port; None: it has none, or that of the platform."""
    processors: int
    """Its logical processors."""
    itc: str
    """What its interval timer counts: instructions or cycles."""
    cmdline: str
    """The command line of a Linux kernel."""
    initrd: str
    """The file of its initial file system, "": none, or that of its program."""
    guest_files: Sequence[tuple[str, str]]
    """Files for its program: the host's path, and the guest's."""
    guest_outputs: Sequence[tuple[str, str]]
    """Files that its program leaves: the guest's path, and the host's."""
    console: bool
    """What it says is shown beside its program's output."""
    exit_on: str
    """A regular expression: a line of the console that matches ends the run."""
    sysmap_file: str
    """The file of its symbols, "": its own."""
    from_boot: bool
    """Count all of it, not only while its program runs."""
    task: str
    """Name or pid of the tasks that count, PROGRAM_TASKS; "": all."""
    per_task: bool
    per_processor: bool
    cpu_list: tuple[int, ...] | None
    """Numbers of the processors that count; None: all."""
    task_offsets: TaskOffsets | None
    """Offsets in task_struct; None: they are found."""
    snapshot: str
    """The file that gets a snapshot of the system; "": none."""
    snapshot_on: str
    """A regular expression: a line of the console that matches has it taken."""
    from_snapshot: str
    """The file of the snapshot that the system goes on from; "": it boots."""

    @property
    def demangle(self) -> bool:
        """Whether C++ names are demangled."""
        return self.demangled is not False

    @property
    def events(self) -> list[str]:
        """Those of all event sets."""
        return [event for one in self.sets for event in one.events]

    @property
    def several_sets(self) -> bool:
        """Whether event sets take turns."""
        return len(self.sets) > 1

    @property
    def insn_set(self) -> str:
        """Instruction set of events that have none of their own: ia32, ia64 or both."""
        return instruction_set_named(self.instruction_sets)

    @property
    def sampled(self) -> bool:
        """Whether samples are taken."""
        return any(one.sampled for one in self.sets)

    def gives(self, *fields: str) -> bool:
        """Whether an event set has a value in one of these fields (SetOptions.gives)."""
        return any(one.gives(*fields) for one in self.sets)

    def take_events(self, events: list[str]) -> None:
        """Make the events those of a further event set, or of the first one."""
        if self.sets[-1].events:
            self.sets = [*self.sets, SetOptions()]
        self.sets[-1].events = events

    @property
    def follows(self) -> bool:
        """Whether children or executed programs are counted, too."""
        return self.follow_fork or self.follow_exec

    @property
    def two_programs(self) -> bool:
        """Whether two programs, or the threads of one program, run on one core or on two."""
        return bool(self.smt or self.smt_replay or self.smt_threads)

    @property
    def cores_of_threads(self) -> int:
        """Cores on which the threads of one program run."""
        return 1 if self.two_programs else self.cores

    @property
    def splits(self) -> bool:
        """Whether counts are split by function, block, line or instruction."""
        return self.per_function or self.per_block or self.per_line or bool(self.annotate)

    def __init__(self) -> None:
        super().__init__()
        self.use_default_events = True
        self.sets = [SetOptions()]
