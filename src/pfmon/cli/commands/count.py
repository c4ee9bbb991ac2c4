"""The main command: run a program and print its counts."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from pfmon.cli.commands.run_termination import stop_notice, stopping
from pfmon.cli.output.printing import print_notice
from pfmon.cli.output.result_output import Outputs, ResultOutput, check_crash_report, write_crash_report
from pfmon.cli.output.result_text import import_text_modules, result_text
from pfmon.cli.output_options import OutputOptions
from pfmon.engine.api import ExitReport, Task
from pfmon.errors import PfmonError
from pfmon.library.options.run_options import Options
from pfmon.library.preparing.plan import RunContext
from pfmon.library.preparing.prepared_run import Prepared, prepare_run
from pfmon.library.preparing.standard_streams import DEVNULL, Files
from pfmon.library.results.run_result import Run
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.session.run.monitoring import Interval
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.cli.output.baseline_check import BaselineOptions
    from pfmon.cli.output.call_exports import CallExports
    from pfmon.cli.output.html_report import HtmlReport
    from pfmon.cli.output.sample_output import SampleOutput
    from pfmon.cli.output.task_samples import TaskSamples
    from pfmon.session.run.followed_tasks import Taker


def run(options: Options, output: OutputOptions, command: Sequence[str]) -> int:
    """Run ``command``, or a recording, as often as is asked for, and return the exit status. Raises PfmonError before
    the program starts."""
    check_crash_report(output.crash_report, two_programs=False)
    earlier: list[Run] = []
    heard: list[str] = []
    while (status := _run_once(options, output, command, earlier, heard)) is None:
        continue
    return status


def _run_once(
    options: Options, output: OutputOptions, command: Sequence[str], earlier: list[Run], heard: list[str]
) -> int | None:
    """Run it once more; the exit status after the last run, None before it. ``earlier``: gets a run that is not the
    last one; ``heard``: what was said meanwhile."""

    def on_notice(notice: str) -> None:
        if notice not in heard or not earlier:
            print_notice(notice)
        heard.append(notice)

    # A signal ends the run after its time, also waits that a thread cannot end.
    context = RunContext(
        _files(output),
        on_notice,
        on_detail=print_notice if output.verbose else lambda _: None,
        timed=False,
        watched=output.watches,
        stacks=bool(output.exports),
        edges=_exports_branches(output),
    )
    with prepare_run(options, command, context) as prepared:
        comparing = _comparing(options, output, prepared)
        return _run(output, prepared, comparing, options.session_timeout, heard, earlier)


def _exports_branches(output: OutputOptions) -> bool:
    """Return whether an export is made of branches."""
    if not output.exports:
        return False
    from pfmon.report.exports import OF_LAST_BRANCHES

    return any(name in OF_LAST_BRANCHES for name, _ in output.exports)


def _files(output: OutputOptions) -> Files:
    silent, out = program_output(output)
    return Files(None, out, silent)


def program_output(output: OutputOptions) -> tuple[int | None, int | None]:
    """Return the standard error and the standard output of a program: nothing that it prints stands among results for
    programs to read."""
    if output.no_cmd_output:
        return DEVNULL, DEVNULL
    if output.parted:
        return None, DEVNULL if sys.stderr is None else 2
    return None, None


def _run(
    output: OutputOptions,
    prepared: Prepared,
    comparing: BaselineOptions | None,
    timeout: float | None,
    heard: Sequence[str],
    earlier: list[Run],
) -> int | None:
    """Run what is prepared, for ``timeout`` seconds at most; ``heard``: gets what is said meanwhile; ``earlier``:
    gets a run that is not the last one, of which None is returned."""
    early = [*prepared.notes, *prepared.inexact]
    for warning in prepared.notes if output.verbose else early:
        if not earlier:
            print_notice(warning)
    html = _html(output, prepared)
    exported = _call_exports(output, prepared)
    results = ResultOutput(output.outfile, output.append, structured=output.json or output.csv)
    if output.verbose and prepared.session.counting and not earlier:
        results.said(programmed(prepared))
    if output.print_syms and not earlier:
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
    if len(earlier) + 1 < output.repeat and not done.stopped:
        earlier.append(done)
        return None
    print_exit(done, [note for note in done.notes[len(early) :] if note not in heard])
    if (death := done.death) is not None:
        outputs.write(lambda: write_crash_report(output.crash_report, death.report))
    if samples:
        outputs.write(lambda: samples.finish(done))
    shown, before = (earlier[-1], earlier[:-1]) if done.stopped and earlier else (done, earlier)  # whole runs
    outputs.write(lambda: results.write(result_text(output, shown, early, prepared, before)))
    if html:
        outputs.write(lambda: html.write(done))
    if exported:
        outputs.write(lambda: exported.write(done))
    status = outputs.write(lambda: comparing.finish(done)) if comparing else done.status
    return outputs.status(status)


def _symbols(output: OutputOptions, prepared: Prepared) -> str:
    """--print-syms. PfmonError: the results are JSON, or the program has none."""
    if output.json or output.csv:
        other = "--json prints one object" if output.json else "--csv prints a table"
        raise PfmonError(f"--print-syms is text, and {other}: leave one of them out")
    from pfmon.report.symbol_list import symbol_lines

    found = prepared.objects().own[0].table.symbols()
    if not found:
        program = prepared.command[0]
        raise PfmonError(f"--print-syms: {program} has no symbols; --symbol-file=FILE has those of a stripped one")
    return symbol_lines(found, prepared.results.demangle)


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

    return SampleOutput(output, prepared, results.early, silent=output.only_exports)


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


def _call_exports(output: OutputOptions, prepared: Prepared) -> CallExports | None:
    """Return the writer of exports without samples, None without them."""
    if not (output.exports and prepared.session.plan.collect_calls):
        return None
    from pfmon.cli.output.call_exports import CallExports

    if prepared.events and not prepared.usual:
        print_notice(
            "--export has the cycles and instructions of all calls, not the events of -e; --long-smpl-periods=PERIOD "
            "samples these"
        )
    return CallExports(output, prepared)


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
