"""What is asked of a run: the options of the command line and of the library, with their values."""

from __future__ import annotations

from pfmon.library.set_options import SetOptions

MOST_ENTRIES = 1 << 24
"""Samples in a buffer, or rows of a histogram."""
MOST_SKID = 1 << 20
"""Cycles from an overflow to its interrupt."""
MOST_DELAY = 255
"""Cycles of the IP-EAR's freeze behind that of the monitors (Montecito manual table 3-30)."""
MOST_PROCESSES = 10_000
"""At a time, of a program that is followed."""
MOST_QUANTUM = 1 << 40
"""Instructions of a thread's turn."""
MOST_SEED = (1 << 31) - 2
"""Of the minimal standard generator."""


class Options:
    """The options' values, with their defaults (what holds several values begins empty). Values are texts where the
    command line's are parsed late, by what the PMU or the program makes of them."""

    pmu: str = "itanium2"
    pmu_given: bool = False
    machine: str = ""
    """A machine's name or file, "" for that of the PMU."""
    machine_settings: list[str]
    """Changes of its figures, FIGURE=VALUE."""
    sets: list[SetOptions]
    """Options of each event set; there is one at least, which may have no events."""
    usual_events: bool = False
    """Without events: count cycles and instructions."""

    levels: str = ""
    """Letters of privilege levels, "" for user level."""
    instruction_sets: set[str]
    """ia32, ia64; none of them, and both, are both."""
    system_wide: bool = False
    all_threads: bool = False
    check_qualifiers: bool = True
    controls: dict[str, int]
    """Fields of control registers (Intel, PowerPC)."""
    preload: dict[str, int]
    """What counters hold when counting begins (PowerPC)."""

    watched: bool = False
    """The counts are looked at while the program runs."""
    report: str = ""
    """A report instead of counts: cpi, derived."""
    survey: bool = False
    """Look at everything that an HTML report shows, beside what counts."""
    one_thread: bool = False
    """The machine in the thread of the stream's reader: many runs at once share the processors better."""
    unlimited: bool = False
    symbol_file: str = ""
    debug_dirs: list[str]
    """Where separate debug files are, before the usual directories."""
    demangle: bool = True
    """C++ names as programmers write them."""
    per_function: bool = False
    per_block: bool = False
    annotate: str = ""
    """A function whose instructions are to be listed with their counts."""

    switch_timeout: int | None = None
    """In nanoseconds of the program's processor time, as print_interval."""
    true_values: bool = False
    print_interval: int | None = None
    insecure: bool = False
    dont_start: bool = False
    idle_options: list[str]
    """Options that were given and change nothing while a program runs."""
    triggers: dict[str, list[str]]
    """Option --trigger-...-addresses -> its addresses, as texts."""
    trigger_flags: set[str]
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
    """Of the choice that the data event address register makes among loads."""

    session_timeout: float | None = None

    follow_fork: bool = False
    follow_exec: bool = False
    follow_pthread: bool = False
    per_thread: bool = False
    """Threads are counted together, in any case."""
    follow_exec_only: str = ""
    """A regular expression: of the programs that are executed, count those whose path matches."""
    follow_exec_exclude: str = ""
    """... and leave these out."""
    follow_limit: int = 250
    """Processes at a time."""
    aggregate_results: bool = False

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
    environment: list[str]
    seed: int = 0
    quantum: int = 100_000
    schedule_seed: int = 0
    memory_limit: int | None = None
    slow: bool = False
    cores: int = 1
    """2: the two programs run on two cores of one bus."""
    smt_threads: bool = False
    """The threads of one program run on both hardware threads of a core."""
    smt_rules: bool = True
    """With two programs on a core: hold to what the manual says of their counters."""
    guest_pmu: str = ""
    """The program has the PMU: machine, or exact events alone."""

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
        return "".join(self.instruction_sets) if len(self.instruction_sets) == 1 else "both"

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
            self.sets.append(SetOptions())
        self.sets[-1].events = events

    @property
    def follows(self) -> bool:
        """Whether what the program starts is counted, too."""
        return self.follow_fork or self.follow_exec

    def __init__(self) -> None:
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
