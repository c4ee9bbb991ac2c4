"""What is asked of a run: the options of the command line and of the library, with their values."""

from __future__ import annotations

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
    events: list[str]
    """Those of all event sets."""
    set_sizes: list[int]
    """How many events each -e gave."""
    usual_events: bool = False
    """Without events: count cycles and instructions."""

    # One value an event, as texts: how many events there are is known when the PMU is programmed.
    event_thresholds: str = ""
    priv_levels: str = ""
    insn_sets: str = ""
    invert: str = ""
    edge: str = ""

    # For all events.
    levels: str = ""
    """Letters of privilege levels, "" for user level."""
    insn_set: str = "both"
    system_wide: bool = False
    all_threads: bool = False
    check_qualifiers: bool = True
    controls: dict[str, int]
    """Fields of control registers (Intel, PowerPC)."""
    preload: dict[str, int]
    """What counters hold when counting begins (PowerPC)."""

    irange: str = ""
    drange: str = ""
    checkpoint_func: str = ""
    inverse_irange: bool = False
    irange_demand_fetch: bool = False
    irange_prefetch_match: bool = False

    opcode_matches: dict[str, str]
    """Option name -> [mifb]:match:mask."""
    branch_filters: list[str]
    """Options --btb-... and --etb-... by name."""
    ip_ear: int | None = None
    """The delay of Montecito's IP-EAR."""

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

    # One value an event, as texts.
    long_smpl_periods: str = ""
    short_smpl_periods: str = ""
    smpl_periods_random: str = ""
    smpl_entries: int = 2048
    saturate_smpl_buffer: bool = False
    reset_non_smpl_periods: bool = False
    smpl_truth: bool = False
    smpl_stacks: bool = False
    smpl_skid: int = 0
    """Cycles from an overflow to its interrupt."""
    extra_smpl_pmds: str = ""
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
    def sampled(self) -> bool:
        """Whether samples are taken."""
        return bool(self.long_smpl_periods or self.short_smpl_periods)

    @property
    def follows(self) -> bool:
        """Whether what the program starts is counted, too."""
        return self.follow_fork or self.follow_exec

    def __init__(self) -> None:
        self.machine_settings = []
        self.events = []
        self.set_sizes = []
        self.controls = {}
        self.preload = {}
        self.opcode_matches = {}
        self.branch_filters = []
        self.idle_options = []
        self.triggers = {}
        self.trigger_flags = set()
        self.environment = []
        self.debug_dirs = []
