"""The main job: run a program and print its counts."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from pfmon.cli.config import Config
from pfmon.cli.find import find_program
from pfmon.cli.machine_options import machine_of
from pfmon.cli.output import Results, program_output
from pfmon.cli.privilege_options import notes as privilege_notes
from pfmon.cli.profile_options import profile_needs_events, wants_profile
from pfmon.cli.programming import Symbols, qualifies, request
from pfmon.cli.report_options import report_stands_alone
from pfmon.cli.session_options import notes
from pfmon.cli.symbols import symbols_of
from pfmon.cli.trigger_options import triggers
from pfmon.engine import api
from pfmon.engine.api import Recording
from pfmon.engine.settings import Settings
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.pmu.effects import effects, inexact
from pfmon.pmu.request import Request
from pfmon.program import image
from pfmon.program.image import Program
from pfmon.report.counts import count_lines
from pfmon.report.programming_record import Machine, Record
from pfmon.report.times import times_line
from pfmon.session.controls import Controls
from pfmon.session.monitoring import Interval
from pfmon.session.run import Outcome, Plan, Session, default_memory_limit

FIXED_ENVIRONMENT = ["PATH=/usr/bin:/bin", "LANG=C"]


def run(config: Config, command: Sequence[str]) -> int:
    """Run ``command``, or a recording, as ``config`` says; the exit status. PfmonError before the program starts."""
    _expand_events(config)
    recording = api.replay(config.replay) if config.replay else None
    command = recording.command if recording else command
    symbols = symbols_of(_loader(config, command, recording), config.symbol_file)
    asked = request(config, get(config.pmu), symbols)
    options_need_events(config, asked.request)
    profile_needs_events(config)
    report_stands_alone(config)
    session = Session(_plan(config, command, asked.request, symbols, recording))
    said = [*asked.warnings, *notes(config), *privilege_notes(config)]
    programmings = [one.programming for one in session.sets]
    said += effects(session.plan.model, asked.request, programmings)
    loose = inexact(programmings)
    for warning in [*said, *loose] if not config.verbose else said:
        sys.stderr.write(f"pfmon: {warning}\n")
    results = Results(config.outfile, config.append)
    if config.verbose and session.counting:
        from pfmon.report.programmed import programmed_text, trigger_text

        for number, one in enumerate(session.sets):
            sys.stderr.write(programmed_text([] if number else asked.said, one.plan, one.programming))
        sys.stderr.write(trigger_text(session.plan.controls.triggers))
    intervals: list[Interval] = []
    with program_output(config.no_cmd_output):
        outcome = session.run(_interval_printer(config, results, intervals))
    _say_how_it_ended(outcome)
    results.write(_text(config, command, session, outcome, intervals, [*said, *loose]))
    return outcome.status


def _loader(config: Config, command: Sequence[str], recording: Recording | None) -> Callable[[], Program]:
    """What loads the program, when it is needed."""
    if recording:
        return lambda: recording.program(config.sysroot)
    return lambda: image.load(find_program(command[0]), config.sysroot)


def _interval_printer(config: Config, results: Results, kept: list[Interval]) -> Callable[[Interval], None]:
    """What to do with the counts of an interval: print them when they come, or keep them for JSON."""
    if config.print_interval is None or config.json:
        return kept.append
    from pfmon.report.intervals import IntervalTable

    table = IntervalTable(config.events, config.number_style)
    return lambda interval: results.early(table.lines(interval))


def _expand_events(config: Config) -> None:
    """Patterns of events become names."""
    from pfmon.session.event_patterns import check_counters, expand

    model = get(config.pmu)
    given = iter(config.events)
    events: list[str] = []
    sizes: list[int] = []
    for size in config.set_sizes:
        asked = list(islice(given, size))
        names = expand(model, asked)
        if not config.unlimited:
            check_counters(model, asked, names)
        events += names
        sizes.append(len(names))
    config.events, config.set_sizes = events, sizes


def options_need_events(config: Config, wanted: Request) -> None:
    """PfmonError for qualification without an event to qualify."""
    if qualifies(wanted) and not config.events:
        raise PfmonError("ranges, levels, matchers and filters say how events count: give -e EVENT,... too")


def _plan(
    config: Config, command: Sequence[str], wanted: Request, symbols: Symbols, recording: Recording | None
) -> Plan:
    needed = not recording or wants_profile(config) or config.report
    return Plan(
        program=_loader(config, command, recording)() if needed else None,
        arguments=[os.fsencode(word) for word in command],
        environment=[os.fsencode(entry) for entry in _environment(config)],
        settings=Settings(
            sysroot=config.sysroot,
            host_clock=config.host_clock,
            host_random=config.host_random,
            host_ids=config.host_ids,
            seed=config.seed,
        ),
        model=get(config.pmu),
        request=wanted,
        memory_limit=config.memory_limit or default_memory_limit(),
        timeout=config.session_timeout,
        slow=config.slow,
        unlimited=config.unlimited,
        profile=wants_profile(config),
        annotate=symbols.code(config.annotate) if config.annotate else None,
        set_sizes=config.set_sizes,
        controls=Controls(
            triggers=triggers(config, symbols.code, symbols.data),
            switch=config.switch_timeout,
            true_values=config.true_values,
            interval=config.print_interval,
            insecure=config.insecure,
            dont_start=config.dont_start,
        ),
        machine=lambda: machine_of(config),
        report=bool(config.report),
        record=config.record,
        replay=config.replay,
        partial=config.partial,
    )


def _environment(config: Config) -> list[str]:
    """NAME=VALUE of every variable; later ones replace earlier ones."""
    start = [f"{name}={value}" for name, value in os.environ.items()] if config.host_env else FIXED_ENVIRONMENT
    variables = dict(entry.split("=", 1) for entry in start)
    for entry in config.environment:
        name, equals, value = entry.partition("=")
        if equals:
            variables[name] = value
        elif name in os.environ:
            variables[name] = os.environ[name]
        else:
            raise PfmonError(f"--env={name}: there is no such variable here; --env={name}=VALUE sets one")
    return [f"{name}={value}" for name, value in variables.items()]


def _say_how_it_ended(outcome: Outcome) -> None:
    if outcome.death:
        name = signal.Signals(outcome.death.signal).name if outcome.death.signal in list(signal.Signals) else ""
        sys.stderr.write(
            f"pfmon: the program was killed by signal {outcome.death.signal} ({name}): {outcome.death.text}, "
            f"at {outcome.death.where}\n"
        )
    elif outcome.stopped == "timeout":
        sys.stderr.write("pfmon: --session-timeout ended the program; the counts are those so far\n")
    elif outcome.stopped:
        sys.stderr.write("pfmon: interrupted; the counts are those so far\n")
    for note in outcome.notes:
        sys.stderr.write(f"pfmon: {note}\n")


def _record(config: Config, session: Session) -> Record:
    """How the run was set up."""
    return Record(
        session.plan.request,
        [[one.programming for one in group.sets] for group in session.groups],
        session.plan.model.programmer.matchers,
        Machine(config.machine or config.pmu, config.machine_settings),
    )


def _text(
    config: Config,
    command: Sequence[str],
    session: Session,
    outcome: Outcome,
    intervals: Sequence[Interval],
    said: Sequence[str],
) -> str:
    """The results as the options want them; ``said`` are notes on how the run was set up."""
    if config.json:
        from pfmon.report.header import occasion
        from pfmon.report.json_counts import counts_json

        profile, report = _profile_json(config, outcome), _report_json(outcome)
        where = occasion() if config.with_header else None
        record = _record(config, session)
        return counts_json(config.pmu, command, outcome, intervals, profile, report, record, said, where)
    text = ""
    if config.with_header:
        from pfmon.report.header import header

        text += header(config.pmu, command, _record(config, session), said)
    if config.show_time:
        text += times_line(outcome.times)
    if config.true_values:
        from pfmon.report.estimates import estimate_lines

        text += estimate_lines(outcome.counts, config.number_style)
    else:
        text += count_lines(outcome.counts, config.number_style)
    return text + _profiles(config, outcome) + _report(config, outcome)


def _report(config: Config, outcome: Outcome) -> str:
    """What --report asks for."""
    if outcome.cpi is None:
        return ""
    from pfmon.report.cpi import cpi_text

    return cpi_text(outcome.cpi, config.number_style)


def _report_json(outcome: Outcome) -> dict[str, Any] | None:
    """The same for JSON."""
    if outcome.cpi is None:
        return None
    from pfmon.report.cpi import cpi_json

    return cpi_json(outcome.cpi)


def _profile_json(config: Config, outcome: Outcome) -> dict[str, Any] | None:
    """The same for JSON."""
    if outcome.profile is None:
        return None
    from pfmon.report.json_profile import profile_json

    return profile_json(outcome.profile, config.per_function, config.per_block, config.annotate, outcome.listing)


def _profiles(config: Config, outcome: Outcome) -> str:
    """The tables that --per-function, --per-block and --annotate ask for, a line between them."""
    if outcome.profile is None:
        return ""
    from pfmon.report.profile import annotated, block_table, function_table

    tables = []
    if config.per_function:
        tables.append(function_table(outcome.profile, config.number_style))
    if config.per_block:
        tables.append(block_table(outcome.profile, config.number_style))
    if config.annotate:
        tables.append(annotated(outcome.profile, config.annotate, outcome.listing, config.number_style))
    return "".join(f"\n{table}" for table in tables)
