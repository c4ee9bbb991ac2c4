"""The main command: run a program and print its counts."""

from __future__ import annotations

import gc
import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.commands.run_termination import stop_notice, stopping
from pfmon.cli.output.printing import print_notice
from pfmon.cli.output.result_output import Outputs, ResultOutput, check_crash_report, write_crash_report
from pfmon.engine.api import ExitReport, Task
from pfmon.errors import PfmonError
from pfmon.library.checks.option_checks import wants_profile
from pfmon.library.options.run_options import Options
from pfmon.library.preparing.prepared_run import Prepared
from pfmon.library.preparing.standard_streams import DEVNULL, Files
from pfmon.library.results.result_tables import Annotated
from pfmon.library.results.run_result import Run
from pfmon.needed_modules import import_needed
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.report.count_text import count_lines
from pfmon.session.run.monitoring import Interval
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.cli.output.baseline_check import BaselineOptions
    from pfmon.cli.output.html_report import HtmlReport
    from pfmon.cli.output.sample_output import SampleOutput
    from pfmon.cli.output.task_samples import TaskSamples
    from pfmon.report.profile_tables import ProfileLine
    from pfmon.session.run.followed_tasks import Taker


def run(config: CommandConfig, command: Sequence[str]) -> int:
    """Run ``command``, or a recording, and return the exit status. Raises PfmonError before the program starts."""
    files = Files(None, DEVNULL, DEVNULL) if config.no_cmd_output else Files()
    check_crash_report(config)
    heard: list[str] = []

    def on_notice(notice: str) -> None:
        heard.append(notice)
        print_notice(notice)

    # A signal ends the run after its time, also waits that a thread cannot end.
    with Prepared(config, command, files, on_notice, timed=False) as prepared:
        return _run(config, prepared, heard)


def _run(config: CommandConfig, prepared: Prepared, heard: Sequence[str]) -> int:
    """Run what is prepared; ``heard``: gets what is said meanwhile."""
    early = [*prepared.notes, *prepared.inexact]
    for warning in prepared.notes if config.verbose else early:
        print_notice(warning)
    comparing = _comparing(config, prepared)
    html = _html(config, prepared)
    results = ResultOutput(config.outfile, config.append, structured=config.json)
    if prepared.usual:
        print_notice(_default_events_text(prepared.options))
    if config.verbose and prepared.session.counting:
        results.said(programmed(prepared))
    if config.print_syms:
        results.early(_symbols(config, prepared))
    import_text_modules(config)
    if not gc.isenabled():  # __main__.command(): all is loaded now
        gc.freeze()
        gc.enable()
    with stopping(prepared.stop, config.session_timeout):
        samples: SampleOutput | TaskSamples | None = None
        outputs = Outputs()
        try:
            with _shown(config, prepared):
                if config.follows:
                    of_tasks = samples = _task_samples(config, prepared, results)
                    done = _run_followed(prepared, of_tasks, html, outputs)
                else:
                    samples = alone = _samples(config, prepared, results)
                    on_interval, on_samples = _interval_printer(config, prepared, results), _takers(alone, html)
                    done = prepared.run(on_interval, on_samples, on_unrecorded=outputs.add_error)
        except BaseException:
            if samples:
                samples.abandon()
            raise
    print_exit(done, [note for note in done.notes[len(early) :] if note not in heard])
    if (death := done.death) is not None:
        outputs.write(lambda: write_crash_report(config.crash_report, death.report))
    if samples:
        outputs.write(lambda: samples.finish(done))
    outputs.write(lambda: results.write(_text(config, done, early, prepared.usual)))
    if html:
        outputs.write(lambda: html.write(done))
    status = outputs.write(lambda: comparing.finish(done)) if comparing else done.status
    return outputs.status(status)


def import_text_modules(config: CommandConfig) -> None:
    """Import what prints the results that these options ask for, before the program starts."""
    profile = wants_profile(config)
    import_needed(
        {
            "pfmon.program.source_texts": config.annotate,
            "pfmon.report.cpi_report": config.report == "cpi",
            "pfmon.report.derived_report": config.report == "derived",
            "pfmon.report.count_text": config.true_values or config.show_time,
            "pfmon.report.header": config.with_header,
            "pfmon.report.profile_tables": profile,
            "pfmon.report.task_report": config.follows or config.per_thread,
        }
    )


def _symbols(config: CommandConfig, prepared: Prepared) -> str:
    """--print-syms. PfmonError: the results are JSON, or the program has none."""
    if config.json:
        raise PfmonError("--print-syms is text, and --json prints one object: leave one of them out")
    from pfmon.report.symbol_list import symbol_lines

    found = prepared.objects().own[0].table.symbols()
    if not found:
        program = prepared.command[0]
        raise PfmonError(f"--print-syms: {program} has no symbols; --symbol-file=FILE has those of a stripped one")
    return symbol_lines(found, config.demangle)


def _default_events_text(options: Options) -> str:
    """Return the message naming the events that are counted by default."""
    instructions = options.events[-1]
    why = f"; -e {instructions} alone takes a fraction of the time" if len(options.events) > 1 else ""
    return f"no events given: counting {' and '.join(options.events)} of {options.pmu}{why}"


def programmed(prepared: Prepared) -> str:
    """Return the text that --verbose prints before the run."""
    from pfmon.report.programmed_text import programmed_text, trigger_text

    session = prepared.session
    parts = [
        programmed_text([] if number else said, one.plan, one.programming)
        for group, said in zip(session.groups, prepared.said, strict=True)
        for number, one in enumerate(group.sets)
    ]
    return "".join([*parts, trigger_text(session.plan.controls.triggers)])


def _shown(config: CommandConfig, prepared: Prepared) -> AbstractContextManager[None]:
    """Return a context that shows progress, if it is requested or standard error is a terminal."""
    wanted = config.live or config.progress
    if not wanted and (config.progress is False or sys.stderr is None or not sys.stderr.isatty()):
        return nullcontext()
    from pfmon.cli.output.progress_display import progress, shows_progress

    return progress(config, prepared) if shows_progress(config) else nullcontext()


def _comparing(config: CommandConfig, prepared: Prepared) -> BaselineOptions | None:
    """Return the comparison with a baseline, None without one."""
    if not (config.baseline or config.save_baseline):
        return None
    from pfmon.cli.output.baseline_check import BaselineOptions

    return BaselineOptions(config, prepared)


def _samples(config: CommandConfig, prepared: Prepared, results: ResultOutput) -> SampleOutput | None:
    """Return the consumer of samples; None: there are none, or they are kept for JSON."""
    if prepared.session.plan.sampling is None or config.json:
        return None
    from pfmon.cli.output.sample_output import SampleOutput

    return SampleOutput(config, prepared, results.early)


def _task_samples(config: CommandConfig, prepared: Prepared, results: ResultOutput) -> TaskSamples | None:
    """The same of tasks that are followed."""
    if prepared.session.plan.sampling is None or config.json:
        return None
    from pfmon.cli.output.task_samples import TaskSamples

    return TaskSamples(config, prepared, results.early)


def _run_followed(prepared: Prepared, samples: TaskSamples | None, html: HtmlReport | None, outputs: Outputs) -> Run:
    """Run a program with all that it starts; the samples of each task go where they belong."""
    if samples is None:
        return prepared.run(on_unrecorded=outputs.add_error)  # they are kept, if there are any
    page = html.begin if html else None
    if page is None:
        return prepared.run(on_task=samples.begin, on_unrecorded=outputs.add_error)
    from pfmon.session.run.followed_tasks import Taker

    def on_task(task: Task, objects: LoadedObjects) -> Taker:
        modules, tree = samples.begin(task, objects), page(task, objects)

        def both(buffer: Sequence[Sample]) -> None:
            modules.take(buffer)
            tree.take(buffer)

        return Taker(both, modules.ended)

    return prepared.run(on_task=on_task, on_unrecorded=outputs.add_error)


def _html(config: CommandConfig, prepared: Prepared) -> HtmlReport | None:
    """Return the writer of --report=html:FILE, None without it."""
    if not config.html_report:
        return None
    from pfmon.cli.output.html_report import HtmlReport

    return HtmlReport(config, prepared)


def _takers(samples: SampleOutput | None, html: HtmlReport | None) -> Callable[[Sequence[Sample]], None] | None:
    """Return the function that consumes a buffer of samples; None: samples are kept in the result."""
    takes = html.takes if html else None
    if samples is None or takes is None:
        return samples.take if samples else None
    modules = samples.take

    def both(buffer: Sequence[Sample]) -> None:
        modules(buffer)
        takes(buffer)

    return both


def _interval_printer(
    config: CommandConfig, prepared: Prepared, results: ResultOutput
) -> Callable[[Interval], None] | None:
    """Return the function that prints an interval's counts at once; None: they are kept for JSON."""
    if config.print_interval is None or config.json:
        return None
    from pfmon.report.interval_table import IntervalTable

    table = IntervalTable(prepared.options.events, config.number_style)
    return lambda interval: results.early(table.lines(interval))


def print_death(death: ExitReport, whose: str) -> None:
    """Print which signal killed a program, and where."""
    name = signal.Signals(death.signal).name if death.signal in list(signal.Signals) else ""
    where = f", at {death.where}" if death.where else ""
    print_notice(f"{whose} was killed by signal {death.signal} ({name}): {death.text}{where}")


def print_exit(done: Run, notes: Sequence[str]) -> None:
    """Print how the run ended, and notes on its results."""
    if done.death:
        print_death(done.death, "the program")
    elif done.stopped:
        print_notice(stop_notice(done.stopped, "the program"))
    for note in notes:
        print_notice(note)


def _text(config: CommandConfig, done: Run, notes: Sequence[str], usual: bool = False) -> str:
    """Return the results in the requested format; ``notes`` describe the setup; ``usual``: see `counted_text`."""
    if config.json:
        return json.dumps(done.to_dict(_occasion(config))) + "\n"
    text = ""
    if config.with_header:
        from pfmon.report.header import header

        text += header(done.pmu, done.command, done.programming, notes)
    if config.show_time:
        from pfmon.report.count_text import times_line

        text += times_line(done.times)
    if done.tasks is not None and not config.aggregate_results and not _is_sampled_alone(config, done):
        from pfmon.report.task_report import task_text

        text += task_text(done.tasks, config.number_style)
    if done.threads is not None and not config.aggregate_results:
        from pfmon.report.task_report import thread_text

        text += thread_text(done.threads, config.number_style)
    return text + counted_text(config, done, usual)


def _occasion(config: CommandConfig) -> Mapping[str, str] | None:
    """Return the date and the host of --with-header, None without it."""
    if not config.with_header:
        return None
    from pfmon.report.header import occasion

    return occasion()


def _is_sampled_alone(config: CommandConfig, done: Run) -> bool:
    """Whether the samples are all that is shown."""
    return done.sampled and not config.smpl_print_counts


def counted_text(config: CommandConfig, done: Run, usual: bool = False) -> str:
    """Return the counts in the requested format; ``usual``: default events, whose ratio is printed too."""
    text = ""
    if _is_sampled_alone(config, done):
        return text
    if config.true_values:
        from pfmon.report.count_text import estimate_lines

        text += estimate_lines(done.counts, config.number_style)
    elif done.derived is None:
        text += count_lines(done.counts, config.number_style)
    if usual and len(done.counts) > 1:
        from pfmon.report.count_text import cpi_line

        cycles, instructions = (count.value for count in done.counts)
        text += cpi_line(cycles, instructions, config.number_style)
    return text + _profiles(config, done) + _report(config, done)


def _lines(rows: Annotated) -> list[ProfileLine]:
    """Return a function's instructions with the text of their source lines, if available."""
    from pfmon.program.source_texts import SourceTexts
    from pfmon.report.profile_tables import ProfileLine, origin_text

    texts = SourceTexts("", rows.folder)
    return [
        ProfileLine(
            row.address | row.slot,
            row.text,
            row.counts,
            origin_text(row.file, row.line, row.inlined, texts.line(row.file, row.line)),
        )
        for row in rows
    ]


def _report(config: CommandConfig, done: Run) -> str:
    """Return the text of --report."""
    if done.derived is not None:
        from pfmon.report.derived_report import derived_text

        return derived_text(done.derived, config.number_style)
    if done.cpi is None:
        return ""
    from pfmon.report.cpi_report import cpi_text

    return cpi_text(done.cpi, config.number_style)


def _profiles(config: CommandConfig, done: Run) -> str:
    """Return the tables of --per-function, --per-block and --annotate, separated by empty lines."""
    if done.functions is None and done.blocks is None and done.annotated is None:
        return ""
    from pfmon.report.profile_tables import annotated, block_table, function_table

    style, tables = config.number_style, []
    if done.functions is not None:
        tables.append(function_table(done.counts.names, done.functions, style))
    if done.blocks is not None:
        tables.append(block_table(done.counts.names, done.blocks, style))
    if done.annotated is not None:
        tables.append(annotated(done.counts.names, done.annotated.function, _lines(done.annotated), style))
    return "".join(f"\n{table}" for table in tables)
