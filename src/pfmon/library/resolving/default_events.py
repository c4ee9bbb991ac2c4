"""The events that are counted: those of the options, with patterns expanded to names, those of a report, or the default
ones.

Default events: cycles and instructions (`Target.default_events`) of the program's processor and, unless they are split
into many rows, those of `FURTHER` that its PMU has, as perf stat(1) counts them. Counting cycles needs the machine
model and takes several times as long as counting instructions alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.counting.totals.countable import check_countable
from pfmon.errors import PfmonError
from pfmon.library.options.run_options import Options
from pfmon.library.options.set_options import SetOptions
from pfmon.library.options.table import rows
from pfmon.pmu.model.generic_events import generic_event
from pfmon.pmu.model.pmu_model import PmuModel

FURTHER = (
    *("branches", "branch-misses", "L1-dcache-loads", "L1-dcache-load-misses"),
    *("cache-references", "cache-misses", "dTLB-load-misses", "iTLB-load-misses"),
)
"""Events that are counted by default beside cycles and instructions, in perf's names."""


def counts_default_events(options: Options) -> bool:
    """Whether cycles and instructions are counted because nothing else was asked for."""
    if options.events or not options.use_default_events or options.report or options.collect_report:
        return False
    return not any(
        one.stands_alone and one.is_given(owner) for owner in (options, *options.sets) for one in rows(owner.part)
    )


def gives_summary(options: Options) -> bool:
    """Whether the default events are those of a summary: counts of the whole run, which nothing splits."""
    split = options.splits or options.per_thread or options.per_region or options.print_interval is not None
    return counts_default_events(options) and not (split or options.slow or options.two_programs)


def counted_sets(options: Options, model: PmuModel) -> Sequence[SetOptions]:
    """Return the event sets with the names of the events that are counted. PfmonError: no event has such a name."""
    first = options.sets[0]
    usual = counts_default_events(options)
    report_stands_alone(options)
    profile_needs_events(options, usual or bool(options.events))
    if usual:
        cycles, instructions = model.target.default_events
        # without a machine there are no cycles
        names = [instructions] if options.slow else [cycles, instructions]
        return [first.replaced(events=[*names, *further_events(model)] if gives_summary(options) else names)]
    if options.report == "derived":
        from pfmon.library.results.derived_run import events_of_formulas

        return [first.replaced(events=events_of_formulas(model))]
    return [_expanded(one, model, options.unlimited) for one in options.sets]


def further_events(model: PmuModel) -> list[str]:
    """Return those of `FURTHER` that a PMU has, and that a run counts."""
    return [name for name in FURTHER if _is_counted(model, name)]


def _is_counted(model: PmuModel, name: str) -> bool:
    event = generic_event(model.name, name)
    if event is None or not event.is_counted:
        return False
    try:
        check_countable(model, model.events[event.own_name])
    except PfmonError:  # no machine produces it
        return False
    return True


def _expanded(one: SetOptions, model: PmuModel, unlimited: bool) -> SetOptions:
    """Expand the patterns among a set's events to names."""
    from pfmon.session.run.event_patterns import check_counters, expand

    names = expand(model, one.events)
    if not unlimited:
        check_counters(model, one.events, names)
    return one.replaced(events=names)


def report_stands_alone(options: Options) -> None:
    """A report excludes events."""
    if options.report and options.events:
        raise PfmonError(
            f"--report={options.report} needs no events and prints none: leave -e out, or the report"
        ).about("--report", "--events")


def profile_needs_events(options: Options, events: bool) -> None:
    """Splitting counts needs events, of the options or by default. The cycle breakdown by line has none."""
    of_cycles = options.report == "cpi" and options.replaced(per_line=False).splits is False
    if options.splits and not events and not of_cycles:
        raise PfmonError(
            "--per-function, --per-block, --per-line and --annotate split counts: give -e EVENT,... too"
        ).about("--per-function", "--per-block", "--per-line", "--annotate", "--events")
