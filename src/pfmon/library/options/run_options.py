"""The options of a run, as set by the command line or the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from pfmon.library.options.frozen_record import FreezableRecord
from pfmon.library.options.set_options import SetOptions

MAX_SAMPLE_ENTRIES = 1 << 24
"""Samples in a buffer, or rows of a histogram."""
MAX_SKID = 1 << 20
"""Cycles from an overflow to its interrupt."""
MAX_IP_EAR_DELAY = 255
"""Cycles from the freeze of the monitors to that of the IP-EAR (Montecito manual table 3-30)."""
MAX_PROCESSES = 10_000
"""Default limit on simultaneous processes of a followed program."""
MAX_QUANTUM = 1 << 40
"""Instructions of a thread's turn."""
MAX_SEED = (1 << 31) - 2
"""Modulus of the minimal standard generator."""


def instruction_set_named(given: Set[str]) -> str:
    """Return what ia32 and ia64 select, given or not: one of them, or both."""
    return "".join(given) if len(given) == 1 else "both"


class Options(FreezableRecord):
    """The options' values and defaults (containers begin empty). Values that are parsed only when the PMU or the
    program is known are kept as text."""

    pmu: str = ""
    """"" for that of the machine, or of the program's processors (machine_selection.py)."""
    machine: str = ""
    """A machine's name or file, "" for that of the PMU."""
    machine_settings: Sequence[str]
    """Changes of its figures, FIGURE=VALUE."""
    sets: Sequence[SetOptions]
    """Options of each event set; there is one at least, which may have no events."""
    use_default_events: bool
    """Without events: count cycles and instructions."""

    levels: str = ""
    """Letters of privilege levels, "" for user level."""
    instruction_sets: Set[str]
    """ia32, ia64; none of them, and both, are both."""
    system_wide: bool = False
    all_threads: bool = False
    check_qualifiers: bool = True
    controls: Mapping[str, int]
    """Fields of control registers (Intel, PowerPC)."""
    preload: Mapping[str, int]
    """Initial values of counters (PowerPC)."""

    report: str = ""
    """A report instead of counts: cpi, derived."""
    collect_report: bool = False
    """Collect the data of an HTML report, beside the counts."""
    unlimited: bool = False
    symbol_file: str = ""
    debug_dirs: Sequence[str]
    """Directories of separate debug files, searched before the usual ones."""
    demangled: bool | None = None
    """Whether C++ names are demangled; None: the option is not given."""
    per_function: bool = False
    per_block: bool = False
    annotate: str = ""
    """The function whose instructions are listed with their counts."""

    switch_timeout: int | None = None
    """In nanoseconds of the program's processor time, like print_interval."""
    true_values: bool = False
    print_interval: int | None = None
    insecure: bool = False
    dont_start: bool = False
    idle_options: Sequence[str]
    """Given options that have no effect on a program's run."""
    triggers: Mapping[str, Sequence[str]]
    """Option --trigger-...-addresses -> its addresses, unparsed."""
    trigger_flags: Set[str]
    trigger_event: str = ""
    """EVENT:N: counting starts when it has happened so often."""
    stop_event: str = ""
    """EVENT:N: counting stops when it has happened so often since."""

    smpl_entries: int = 2048
    saturate_smpl_buffer: bool = False
    smpl_truth: bool = False
    smpl_stacks: bool = False
    smpl_skid: int = 0
    """Cycles from an overflow to its interrupt."""
    ear_seed: int = 1
    """Seed of the data EAR's choice among loads."""

    session_timeout: float | None = None

    follow_fork: bool = False
    follow_exec: bool = False
    follow_pthread: bool = False
    per_thread: bool = False
    """No effect: threads are always counted together."""
    follow_exec_only: str = ""
    """A regular expression: count executed programs whose path matches."""
    follow_exec_exclude: str = ""
    """A regular expression: do not count executed programs whose path matches."""
    follow_limit: int = 250
    """Maximum number of simultaneous processes."""

    record: str = ""
    replay: str = ""
    partial: bool = False

    sysroot: str | None = None
    confine: bool = False
    net: bool = False
    detach_children: bool = False
    host_clock: bool = False
    host_random: bool = False
    host_ids: bool = False
    host_env: bool = False
    environment: Sequence[str]
    seed: int = 0
    quantum: int = 100_000
    schedule_seed: int = 0
    memory_limit: int | None = None
    engine: str = ""
    """The name of the engine that runs the program; empty: the usual one of its instruction set."""
    slow: bool = False
    cores: int = 1
    """2: the two programs run on two cores of one bus."""
    smt: Sequence[str]
    """The program of hardware thread 0 and its arguments, on the command line."""
    smt_name: str = ""
    """The option that set it."""
    smt_replay: str = ""
    """The recording replayed on hardware thread 0."""
    smt_threads: bool = False
    """The threads of one program run on both hardware threads of a core."""
    smt_rules: bool = True
    """Enforce the manual's rules on counters of two threads on a core."""
    guest_pmu: str = ""
    """The program uses the PMU: machine, or exact events alone."""

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
    def splits(self) -> bool:
        """Whether counts are split by function, block or instruction."""
        return self.per_function or self.per_block or bool(self.annotate)

    def __init__(self, use_default_events: bool = False) -> None:
        self.use_default_events = use_default_events
        self.machine_settings = []
        self.sets = [SetOptions()]
        self.instruction_sets = set()
        self.controls = {}
        self.preload = {}
        self.idle_options = []
        self.triggers = {}
        self.trigger_flags = set()
        self.environment = []
        self.debug_dirs = []
        self.smt = []
