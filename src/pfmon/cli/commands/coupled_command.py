"""Run two programs on the two hardware threads of one core; print each one's counts and its share of the core."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from pfmon.atomic_write import WholeFile
from pfmon.cli.commands.count import print_death, program_output, programmed
from pfmon.cli.commands.run_termination import stop_notice, stopping
from pfmon.cli.output.printing import print_notice
from pfmon.cli.output.result_output import (
    Outputs,
    ResultOutput,
    check_can_be_written,
    check_crash_report,
    write_crash_report,
)
from pfmon.cli.output.result_text import counted_text, import_text_modules
from pfmon.cli.output_options import OutputOptions
from pfmon.errors import LostError, reason
from pfmon.library.options.run_options import Options
from pfmon.library.preparing.coupled_programs import CoreRun, OnSamples, PreparedCore, of_thread
from pfmon.library.preparing.prepared_run import Prepared
from pfmon.library.preparing.standard_streams import DEVNULL, Files
from pfmon.library.results.run_result import Run
from pfmon.report.count_text import times_line
from pfmon.report.coupled_report import core_text, cpi_text, thread_line
from pfmon.report.header import occasion, occasion_lines, run_lines
from pfmon.session.run.run_outcome import Times

if TYPE_CHECKING:
    from pfmon.cli.output.sample_output import SampleOutput


def run(options: Options, output: OutputOptions, command: Sequence[str]) -> int:
    """Run the program of --smt beside ``command``; either may be a recording. Return the exit status of ``command``.
    Raises PfmonError before the programs start."""
    check_crash_report(output.crash_report, two_programs=True)
    with _output(output.smt_output) as file:
        ends = _RunNotices(output, threads_of_one=options.smt_threads)
        commands, replays = _programs(options, command)
        prepared = PreparedCore(
            *(options, commands, _files(options.smt_threads, output, file), replays, ends.on_notice),
            timed=False,  # a signal ends both
            stacks=bool(output.exports),
        )
        try:
            results = ResultOutput(output.outfile, output.append, structured=output.json)
            samples = [_ThreadSamples(output, one, number) for number, one in enumerate(prepared.threads)]
        except BaseException:
            prepared.close()
            raise
        ends.begin(prepared.threads, results)
        import_text_modules(output, prepared.threads[0])
        if not gc.isenabled():  # __main__.command() disabled it; all modules are loaded now
            gc.freeze()
            gc.enable()
        try:
            with stopping(prepared.stop, options.session_timeout):
                done = prepared.run([one.take for one in samples])
        except BaseException:
            for one in samples:
                one.abandon()
            prepared.close()
            raise
    ends.print_results(done.threads)
    outputs = Outputs()
    for number, of in enumerate(done.threads):
        outputs.write(partial(_write_crash_report, output, number, of))
    for one, of in zip(samples, done.threads, strict=True):
        outputs.write(partial(one.finish, of))
    unit = "core" if options.cores > 1 else "thread"
    usual = prepared.threads[0].usual
    outputs.write(lambda: results.write(_text(output, done, samples, ends.notes, unit, usual)))
    return outputs.status(done.threads[1].status)


def _programs(options: Options, command: Sequence[str]) -> tuple[list[Sequence[str]], list[str]]:
    """Return the program, and the recording, of each thread."""
    if options.smt_threads:
        return [command, command], [options.replay, options.replay]
    return [options.smt, command], [options.smt_replay, options.replay]


def _files(threads_of_one: bool, output: OutputOptions, first: int | None) -> tuple[Files, Files]:
    """Return the standard files of each thread's program; ``first``: thread 0's standard output, if it has a file."""
    silent, out = program_output(output)
    if threads_of_one:
        return Files(None, out, silent), Files()
    return Files(DEVNULL, out if first is None else first, silent), Files(None, out, silent)


def _write_crash_report(output: OutputOptions, number: int, run: Run) -> None:
    """The report on a thread's program, if a signal killed it. LostError: it cannot be written."""
    if run.death is not None:
        write_crash_report(of_thread(output.crash_report, number), run.death.report)


@contextmanager
def _output(path: str) -> Iterator[int | None]:
    """Open the file of --smt-output, which keeps its content if the run fails; yield its descriptor, None without
    it."""
    if not path:
        yield None
        return
    check_can_be_written(path, f"--smt-output={path}")
    whole = WholeFile(path)
    try:
        yield whole.file.fileno()
    except BaseException:
        whole.abandon()
        raise
    try:
        whole.finish()
    except OSError as error:
        raise LostError(f"--smt-output={path}: {reason(error)}") from None


class _ThreadSamples:
    """Writes one thread's samples to its own files; keeps printed text until both threads have ended."""

    def __init__(self, output: OutputOptions, prepared: Prepared, number: int) -> None:
        self._texts: list[str] = []
        self._samples: SampleOutput | None = None
        self.take: OnSamples = None
        if prepared.session.plan.sampling is None or output.json:
            return
        from pfmon.cli.output.sample_output import SampleOutput

        own = output.replaced(
            smpl_outfile=of_thread(output.smpl_outfile, number),
            exports=[(name, of_thread(path, number)) for name, path in output.exports],
        )
        self._samples = SampleOutput(own, prepared, self._texts.append, silent=own.only_exports)
        self.take = self._samples.take

    def finish(self, done: Run) -> None:
        """End the output after the last sample."""
        if self._samples:
            self._samples.finish(done)

    def abandon(self) -> None:
        """Discard the output of a failed run."""
        if self._samples:
            self._samples.abandon()

    @property
    def text(self) -> str:
        """The text to print."""
        return "".join(self._texts)


class _RunNotices:
    """Prints a run's messages on standard error: before, during and after the run."""

    def __init__(self, output: OutputOptions, threads_of_one: bool) -> None:
        self._verbose, self._threads_of_one = output.verbose, threads_of_one
        self._heard: list[tuple[int, str]] = []
        self.notes: list[list[str]] = []
        """By thread: notes on its setup."""

    def on_notice(self, number: int, notice: str) -> None:
        """Print a thread's notice at once."""
        self._heard.append((number, notice))
        print_notice(f"thread {number}: {notice}")

    def begin(self, threads: Sequence[Prepared], results: ResultOutput) -> None:
        """Print the messages about the setup."""
        self.notes = [[*one.notes, *one.inexact] for one in threads]
        verbose = self._verbose
        _print_each([one.notes for one in threads] if verbose else self.notes)
        for number, one in enumerate(threads):
            if verbose and one.session.counting:
                results.said(f"# thread {number}\n{programmed(one)}")

    def print_results(self, threads: Sequence[Run]) -> None:
        """Print the messages about the threads' ends."""
        for number, run in enumerate(threads):
            if run.death:
                print_death(run.death, f"thread {number}'s program")
            elif run.status and not run.stopped and not number and not self._threads_of_one:
                print_notice(f"thread 0's program ended with exit status {run.status}")
        if stopped := threads[0].stopped or threads[1].stopped:
            print_notice(stop_notice(stopped, "the programs"))
        known = [{*own, *(text for of, text in self._heard if of == number)} for number, own in enumerate(self.notes)]
        _print_each([[note for note in run.notes if note not in of] for run, of in zip(threads, known, strict=True)])


def _print_each(notes: Sequence[Sequence[str]]) -> None:
    """Print each thread's notes; notes of both threads once."""
    both = [note for note in notes[0] if note in notes[1]]
    for note in both:
        print_notice(note)
    for number, own in enumerate(notes):
        for note in own:
            if note not in both:
                print_notice(f"thread {number}: {note}")


def _text(
    output: OutputOptions,
    done: CoreRun,
    samples: Sequence[_ThreadSamples],
    notes: Sequence[Sequence[str]],
    unit: str,
    usual: bool,
) -> str:
    """Return the results in the format that the options select; ``unit``: what each program has, "thread" or
    "core"."""
    if output.json:
        return json.dumps(done.to_dict(occasion() if output.with_header else None)) + "\n"
    text = occasion_lines() if output.with_header else ""
    if output.show_time:
        text += times_line(Times(*map(max, *(run.times for run in done.threads))))
    lines = [thread_line(number, run.command, run.status, run.signal, unit) for number, run in enumerate(done.threads)]
    reports = [run.cpi for run in done.threads if run.cpi]
    for number, run in enumerate(done.threads):
        body = run_lines(run.pmu, run.command, run.programming, notes[number]) if output.with_header else ""
        body += samples[number].text
        body += "" if reports else counted_text(output, run, usual)
        text += f"{lines[number]}{body}" if body or (run.sampled and not output.smpl_outfile) else ""
    if reports:
        return text + cpi_text(done.cycles, reports, lines, output.number_style)
    printed = not done.threads[0].sampled or output.smpl_print_counts or output.only_exports
    return text + core_text(done.cycles, output.number_style) if printed else text
