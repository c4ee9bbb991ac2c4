"""Options of the output: how results are printed, and queries that are answered instead of a run."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.library.options.option import OF_OUTPUT
from pfmon.library.options.option_record import OptionRecord


class OutputOptions(OptionRecord):
    """How results are printed, and the action when no program is run; the table has the defaults."""

    part = OF_OUTPUT

    action: str
    """The action instead of a run: help, version, list, list-long, info, pmu-info, check, decode."""
    subject: str = ""
    """The action's argument: a regular expression, an event, register values."""
    verbose: bool
    print_syms: bool
    """Print the symbols of the program before it runs."""

    smt_output: str
    """The file of the standard output of hardware thread 0's program."""
    aggregate_results: bool
    """Print what all tasks come to, and not what each does."""

    smpl_module: str
    """"" for the default one."""
    smpl_outfile: str
    smpl_print_counts: bool
    exports: Sequence[tuple[str, str]]
    """Formats and files of exported samples."""
    smpl_show_func: str
    """The option that asks for functions, as it was typed."""
    smpl_show_top: int
    smpl_cum_threshold: int
    """Percent; 0: all rows."""
    smpl_sort: str
    """value or level, "" for the number of samples."""
    smpl_save_raw: bool
    smpl_view: str
    """inst, data or level, "" for the module's own."""
    smpl_eager_save: bool
    resolve_addresses: bool

    progress: bool | None
    """Show progress; None: only on a terminal."""
    live: bool
    """Show counts and functions during the run."""

    number_style: str
    outfile: str
    crash_report: str
    append: bool
    with_header: bool
    show_time: bool
    no_cmd_output: bool
    json: bool
    csv: bool
    repeat: int
    """How often the program is run."""

    html_report: str
    """The file of an HTML report."""
    opens_page: bool
    """Show it in the browser."""

    baseline: str
    save_baseline: str
    tolerance: str
    """Percentages, unparsed: their events are known only when the PMU is programmed."""

    @property
    def parted(self) -> bool:
        """Whether standard output has results for programs to read, and nothing that the program prints."""
        return (self.json or self.csv) and self.outfile in ("", "-")

    @property
    def only_exports(self) -> bool:
        """Whether samples are exported, and no option asks for them in the output."""
        histograms = self.smpl_show_func or self.smpl_show_top or self.smpl_cum_threshold or self.smpl_sort
        printed = self.smpl_module or self.smpl_outfile or histograms or self.resolve_addresses
        return bool(self.exports) and not printed

    @property
    def watches(self) -> bool:
        """Whether counts are shown during the run."""
        return self.live or self.progress is True
