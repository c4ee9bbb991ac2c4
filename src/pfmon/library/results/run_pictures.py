"""`Run.plot` and `Run._repr_html_`: what a run has, as a picture and as a table of a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pfmon.errors import BadValueError, PfmonError
from pfmon.session.profile.cpi_stack import CpiStack
from pfmon.session.profile.notebook_tables import html_lines

if TYPE_CHECKING:
    from pfmon.library.results.result_tables import Table
    from pfmon.library.results.run_result import Run


def plot_run(run: Run, what: str, axes: Any | None) -> Any:
    """Draw one of `PICTURES`; "": the first one whose data the run has. BadValueError: there is no such picture;
    PfmonError: the run lacks its data, or matplotlib is missing."""
    if what and what not in PICTURES:
        raise BadValueError(f"plot({what!r}): one of {', '.join(PICTURES)} is wanted")
    for name in [what] if what else PICTURES:
        drawn = PICTURES[name][0](run, axes)
        if drawn is not None:
            return drawn
    if not what:
        raise PfmonError("plot(): the run has counted nothing")
    raise PfmonError(f"plot({what!r}): the run has no {what}; they come with {PICTURES[what][1]}")


def _intervals(run: Run, axes: Any | None) -> Any:
    from pfmon.report.plots.run_plots import intervals_plot

    if not run.intervals:
        return None
    events = {name: [row.counts[place] for row in run.intervals] for place, name in enumerate(run.intervals.events)}
    return intervals_plot([row.end for row in run.intervals], events, axes)


def _cpi(run: Run) -> CpiStack | None:
    return run.cpi or (run.surveyed.cpi if run.surveyed else None)


def _cycles(run: Run, axes: Any | None) -> Any:
    from pfmon.report.plots.run_plots import cycles_plot

    cpi = _cpi(run)
    return cycles_plot(cpi, axes) if cpi else None


def _slots(run: Run, axes: Any | None) -> Any:
    from pfmon.report.plots.run_plots import slots_plot

    cpi = _cpi(run)
    return slots_plot(cpi.top_down, axes) if cpi and cpi.top_down else None


def _functions(run: Run, axes: Any | None) -> Any:
    from pfmon.report.plots.run_plots import functions_plot

    cpi = _cpi(run)
    return functions_plot(cpi, axes) if cpi and cpi.functions else _table(run.functions, axes)


def _lines(run: Run, axes: Any | None) -> Any:
    return _table(run.lines, axes)


def _table(table: Table | None, axes: Any | None) -> Any:
    from pfmon.report.plots.run_plots import table_plot

    if not table or not table.events:
        return None
    return table_plot([row.shown for row in table], [row.values[0] for row in table], table.events[0], axes)


def _counts(run: Run, axes: Any | None) -> Any:
    from pfmon.report.plots.run_plots import counts_plot

    return counts_plot(run.counts, axes) if run.counts else None


PICTURES: dict[str, tuple[Callable[[Run, Any | None], Any], str]] = {
    "intervals": (_intervals, "print_interval"),
    "cycles": (_cycles, 'report="cpi"'),
    "slots": (_slots, 'report="cpi", and an out-of-order machine'),
    "functions": (_functions, 'report="cpi" or per_function'),
    "lines": (_lines, "per_line"),
    "counts": (_counts, "events"),
}
"""Name of a picture -> what draws it (None: the run lacks its data), and the options that it needs."""


def run_html(run: Run) -> str:
    """Return the command, how the run ended, the finding, and the tables that the run has."""
    lines = [" ".join(run.command), f"{run.pmu}, exit status {run.status}, {run.retired:,} instructions"]
    lines += [str(run.finding)] if run.finding else []
    tables = (run.counts, run.cpi, run.functions, run.lines, run.annotated)
    return html_lines(lines) + "".join(one._repr_html_() for one in tables if one)
