"""The main command: run a program and print its counts."""

from __future__ import annotations

import gc
import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from pfmon.cli.commands.run_termination import stop_notice, stopping
from pfmon.cli.output.printing import print_notice
from pfmon.cli.output.result_output import Outputs, ResultOutput, check_crash_report, write_crash_report
from pfmon.cli.output_options import OutputOptions
from pfmon.engine.api import ExitReport, Task
from pfmon.errors import PfmonError
from pfmon.library.options.run_options import Options
from pfmon.library.preparing.plan import RunContext
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


def run(options: Options, output: OutputOptions, command: Sequence[str]) -> int:
    """Run ``command``, or a recording, and return the exit status. Raises PfmonError before the program starts."""
    files = Files(None, DEVNULL, DEVNULL) if output.no_cmd_output else Files()
    check_crash_report(output.crash_report, two_programs=False)
    heard: list[str] = []

    def on_notice(notice: str) -> None:
        heard.append(notice)
        print_notice(notice)

    # A signal ends the run after its time, also waits that a thread cannot end.
    context = RunContext(files, on_notice, timed=False, watched=output.watches, stacks=bool(output.exports))
    with Prepared(options, command, context) as prepared:
        comparing = _comparing(options, output, prepared)
        return _run(output, prepared, comparing, options.session_timeout, heard)


def _run(
    output: OutputOptions,
    prepared: Prepared,
    comparing: BaselineOptions | None,
    timeout: float | None,
    heard: Sequence[str],
) -> int:
    """Run what is prepared, for ``timeout`` seconds at most; ``heard``: gets what is said meanwhile."""
    early = [*prepared.notes, *prepared.inexact]
    for warning in prepared.notes if output.verbose else early:
        print_notice(warning)
    html = _html(output, prepared)
    results = ResultOutput(output.outfile, output.append, structured=output.json)
    if prepared.usual:
        print_notice(_default_events_text(prepared.events, prepared.processor.pmu))
    if output.verbose and prepared.session.counting:
        results.said(programmed(prepared))
    if output.print_syms:
        results.early(_symbols(output, prepared))
    import_text_modules(output, prepared)
    if not gc.isenabled():  # __main__.command(): all is loaded now
        gc.freeze()
        gc.enable()
    with stopping(prepared.stop, timeout):
        samples: SampleOutput | TaskSamples | None = None
        outputs = Outputs()
        try:
            with _shown(output, prepared):
                if prepared.session.plan.following:
                    of_tasks = samples = _task_samples(output, prepared, results)
                    done = _run_followed(prepared, of_tasks, html, outputs)
                else:
                    samples = alone = _samples(output, prepared, results)
                    on_interval, on_samples = _interval_printer(output, prepared, results), _takers(alone, html)
                    done = prepared.run(on_interval, on_samples, on_unrecorded=outputs.add_error)
        except BaseException:
            if samples:
                samples.abandon()
            raise
    print_exit(done, [note for note in done.notes[len(early) :] if note not in heard])
    if (death := done.death) is not None:
        outputs.write(lambda: write_crash_report(output.crash_report, death.report))
    if samples:
        outputs.write(lambda: samples.finish(done))
    outputs.write(lambda: results.write(_text(output, done, early, prepared)))
    if html:
        outputs.write(lambda: html.write(done))
    status = outputs.write(lambda: comparing.finish(done)) if comparing else done.status
    return outputs.status(status)


def import_text_modules(output: OutputOptions, prepared: Prepared) -> None:
    """Import what prints the results that these options ask for, before the program starts."""
    results, plan = prepared.results, prepared.session.plan
    import_needed(
        {
            "pfmon.program.source_texts": results.annotate,
            "pfmon.report.cpi_report": results.report == "cpi",
            "pfmon.report.derived_report": results.report == "derived",
            "pfmon.report.count_text": plan.controls.true_values or output.show_time,
            "pfmon.report.header": output.with_header,
            "pfmon.report.profile_tables": results.split,
            "pfmon.report.task_report": plan.following or plan.controls.per_thread,
        }
    )


def _symbols(output: OutputOptions, prepared: Prepared) -> str:
    """--print-syms. PfmonError: the results are JSON, or the program has none."""
    if output.json:
        raise PfmonError("--print-syms is text, and --json prints one object: leave one of them out")
    from pfmon.report.symbol_list import symbol_lines

    found = prepared.objects().own[0].table.symbols()
    if not found:
        program = prepared.command[0]
        raise PfmonError(f"--print-syms: {program} has no symbols; --symbol-file=FILE has those of a stripped one")
    return symbol_lines(found, prepared.results.demangle)


def _default_events_text(events: Sequence[str], pmu: str) -> str:
    """Return the message naming the events that are counted by default."""
    why = f"; -e {events[-1]} alone takes a fraction of the time" if len(events) > 1 else ""
    return f"no events given: counting {' and '.join(events)} of {pmu}{why}"


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


def _shown(output: OutputOptions, prepared: Prepared) -> AbstractContextManager[None]:
    """Return a context that shows progress, if it is requested or standard error is a terminal."""
    wanted = output.live or output.progress
    if not wanted and (output.progress is False or sys.stderr is None or not sys.stderr.isatty()):
        return nullcontext()
    from pfmon.cli.output.progress_display import progress, shows_progress

    return progress(output, prepared) if shows_progress(output) else nullcontext()


def _comparing(options: Options, output: OutputOptions, prepared: Prepared) -> BaselineOptions | None:
    """Return the comparison with a baseline, None without one."""
    if not (output.baseline or output.save_baseline):
        return None
    from pfmon.cli.output.baseline_check import BaselineOptions

    return BaselineOptions(options, output, prepared)


def _samples(output: OutputOptions, prepared: Prepared, results: ResultOutput) -> SampleOutput | None:
    """Return the consumer of samples; None: there are none, or they are kept for JSON."""
    if prepared.session.plan.sampling is None or output.json:
        return None
    from pfmon.cli.output.sample_output import SampleOutput

    return SampleOutput(output, prepared, results.early)


def _task_samples(output: OutputOptions, prepared: Prepared, results: ResultOutput) -> TaskSamples | None:
    """The same of tasks that are followed."""
    if prepared.session.plan.sampling is None or output.json:
        return None
    from pfmon.cli.output.task_samples import TaskSamples

    return TaskSamples(output, prepared, results.early)


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


def _html(output: OutputOptions, prepared: Prepared) -> HtmlReport | None:
    """Return the writer of --report=html:FILE, None without it."""
    if not output.html_report:
        return None
    from pfmon.cli.output.html_report import HtmlReport

    return HtmlReport(output, prepared)


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
    output: OutputOptions, prepared: Prepared, results: ResultOutput
) -> Callable[[Interval], None] | None:
    """Return the function that prints an interval's counts at once; None: they are kept for JSON."""
    if prepared.session.plan.controls.interval is None or output.json:
        return None
    from pfmon.report.interval_table import IntervalTable

    table = IntervalTable(prepared.events, output.number_style)
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


def _text(output: OutputOptions, done: Run, notes: Sequence[str], prepared: Prepared) -> str:
    """Return the results in the requested format; ``notes`` describe the setup."""
    if output.json:
        return json.dumps(done.to_dict(_occasion(output))) + "\n"
    text = ""
    if output.with_header:
        from pfmon.report.header import header

        text += header(done.pmu, done.command, done.programming, notes)
    if output.show_time:
        from pfmon.report.count_text import times_line

        text += times_line(done.times)
    if done.tasks is not None and not output.aggregate_results and not _is_sampled_alone(output, done):
        from pfmon.report.task_report import task_text

        text += task_text(done.tasks, output.number_style)
    if done.threads is not None and not output.aggregate_results:
        from pfmon.report.task_report import thread_text

        text += thread_text(done.threads, output.number_style)
    return text + counted_text(output, done, prepared.usual, prepared.session.plan.controls.true_values)


def _occasion(output: OutputOptions) -> Mapping[str, str] | None:
    """Return the date and the host of --with-header, None without it."""
    if not output.with_header:
        return None
    from pfmon.report.header import occasion

    return occasion()


def _is_sampled_alone(output: OutputOptions, done: Run) -> bool:
    """Whether the samples are all that is shown."""
    return done.sampled and not output.smpl_print_counts


def counted_text(output: OutputOptions, done: Run, usual: bool = False, true_values: bool = False) -> str:
    """Return the counts in the requested format; ``usual``: default events, whose ratio is printed too;
    ``true_values``: estimates beside the counts of uninterrupted counting."""
    text = ""
    if _is_sampled_alone(output, done):
        return text
    if true_values:
        from pfmon.report.count_text import estimate_lines

        text += estimate_lines(done.counts, output.number_style)
    elif done.derived is None:
        text += count_lines(done.counts, output.number_style)
    if usual and len(done.counts) > 1:
        from pfmon.report.count_text import cpi_line

        cycles, instructions = (count.value for count in done.counts)
        text += cpi_line(cycles, instructions, output.number_style)
    return text + _profiles(output, done) + _report(output, done)


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


def _report(output: OutputOptions, done: Run) -> str:
    """Return the text of --report."""
    if done.derived is not None:
        from pfmon.report.derived_report import derived_text

        return derived_text(done.derived, output.number_style)
    if done.cpi is None:
        return ""
    from pfmon.report.cpi_report import cpi_text

    return cpi_text(done.cpi, output.number_style)


def _profiles(output: OutputOptions, done: Run) -> str:
    """Return the tables of --per-function, --per-block and --annotate, separated by empty lines."""
    if done.functions is None and done.blocks is None and done.annotated is None:
        return ""
    from pfmon.report.profile_tables import annotated, block_table, function_table

    style, tables = output.number_style, []
    if done.functions is not None:
        tables.append(function_table(done.counts.names, done.functions, style))
    if done.blocks is not None:
        tables.append(block_table(done.counts.names, done.blocks, style))
    if done.annotated is not None:
        tables.append(annotated(done.counts.names, done.annotated.function, _lines(done.annotated), style))
    return "".join(f"\n{table}" for table in tables)
