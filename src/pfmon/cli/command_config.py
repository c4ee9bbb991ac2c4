"""The parsed command line."""

from __future__ import annotations

from pfmon.library.options.run_options import Options


class CommandConfig(Options):
    """The options of a run, how its results are printed, and the action when no program is run."""

    action: str = ""
    """The action instead of a run: help, version, list, list-long, info, pmu-info, check, decode."""
    subject: str = ""
    """The action's argument: a regular expression, an event, register values."""
    verbose: bool = False
    print_syms: bool = False
    """Print the symbols of the program before it runs."""
    use_default_events: bool = True

    smt: list[str]
    """The program of hardware thread 0 and its arguments."""
    smt_name: str = ""
    """The option that set it."""
    smt_replay: str = ""
    """The recording replayed on hardware thread 0."""
    smt_output: str = ""

    smpl_module: str = ""
    """"" for the default one."""
    smpl_outfile: str = ""
    smpl_print_counts: bool = False
    exports: list[tuple[str, str]]
    """Formats and files of exported samples."""
    smpl_show_func: str = ""
    """The option that asks for functions, as it was typed."""
    smpl_show_top: int = 0
    smpl_cum_threshold: int = 0
    """Percent; 0: all rows."""
    smpl_sort: str = ""
    """value or level, "" for the number of samples."""
    smpl_save_raw: bool = False
    smpl_view: str = ""
    """inst, data or level, "" for the module's own."""
    smpl_eager_save: bool = False
    resolve_addresses: bool = False

    progress: bool | None = None
    """Show progress; None: only on a terminal."""
    live: bool = False
    """Show counts and functions during the run."""

    number_style: str = "plain"
    outfile: str = ""
    crash_report: str = ""
    append: bool = False
    with_header: bool = False
    show_time: bool = False
    no_cmd_output: bool = False
    json: bool = False

    html_report: str = ""
    """The file of an HTML report."""

    baseline: str = ""
    save_baseline: str = ""
    tolerance: str = ""
    """Percentages, unparsed: their events are known only when the PMU is programmed."""

    def __init__(self) -> None:
        super().__init__()
        self.exports = []
        self.smt = []

    @property
    def two_programs(self) -> bool:
        """Whether two programs, or the threads of one program, run on one core or on two."""
        return bool(self.smt or self.smt_replay or self.smt_threads)
