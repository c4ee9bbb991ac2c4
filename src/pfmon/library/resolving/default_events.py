"""The events that are counted: those of the options, with patterns expanded to names, those of a report, or the default
ones.

Default events: cycles and instructions (`Target.default_events`) of the program's processor. Counting cycles needs the
machine model and takes several times as long as counting instructions alone; the command line says so when it counts
the default events.
"""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.errors import PfmonError
from pfmon.library.options.run_options import Options
from pfmon.library.options.set_options import SetOptions
from pfmon.library.options.table import rows
from pfmon.pmu.model.pmu_model import PmuModel


def counts_default_events(options: Options) -> bool:
    """Whether cycles and instructions are counted because nothing else was asked for."""
    if options.events or not options.use_default_events or options.report or options.collect_report:
        return False
    return not any(
        one.stands_alone and one.is_given(owner) for owner in (options, *options.sets) for one in rows(owner.part)
    )


def counted_sets(options: Options, model: PmuModel) -> Sequence[SetOptions]:
    """Return the event sets with the names of the events that are counted. PfmonError: no event has such a name."""
    first = options.sets[0]
    usual = counts_default_events(options)
    report_stands_alone(options)
    profile_needs_events(options, usual or bool(options.events))
    if usual:
        cycles, instructions = model.target.default_events
        # without a machine there are no cycles
        return [first.replaced(events=[instructions] if options.slow else [cycles, instructions])]
    if options.report == "derived":
        from pfmon.library.results.derived_run import events_of_formulas

        return [first.replaced(events=events_of_formulas(model))]
    return [_expanded(one, model, options.unlimited) for one in options.sets]


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
    """Splitting counts needs events, of the options or by default."""
    if options.splits and not events:
        raise PfmonError("--per-function, --per-block and --annotate split counts: give -e EVENT,... too").about(
            "--per-function", "--per-block", "--annotate", "--events"
        )
