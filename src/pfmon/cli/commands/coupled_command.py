"""Run two programs on the two hardware threads of one core; print each one's counts and its share of the core."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import TYPE_CHECKING

from pfmon.atomic_write import WholeFile
from pfmon.cli.command_config import CommandConfig
from pfmon.cli.commands.count import counted_text, import_text_modules, print_death, programmed
from pfmon.cli.commands.run_termination import stop_notice, stopping
from pfmon.cli.output.printing import print_notice
from pfmon.cli.output.result_output import (
    Outputs,
    ResultOutput,
    check_can_be_written,
    check_crash_report,
    write_crash_report,
)
from pfmon.errors import LostError, reason
from pfmon.library.preparing.coupled_programs import CoreRun, OnSamples, PreparedCore, of_thread
from pfmon.library.preparing.prepared_run import Prepared
from pfmon.library.preparing.standard_streams import DEVNULL, Files
from pfmon.library.results.run_result import Run
from pfmon.report.count_text import times_line
from pfmon.report.coupled_report import core_text, cpi_text, thread_line
from pfmon.report.header import occasion, occasion_lines, run_lines
from pfmon.session.run.run_plan import Times

if TYPE_CHECKING:
    from pfmon.cli.output.sample_output import SampleOutput


def run(config: CommandConfig, command: Sequence[str]) -> int:
    """Run the program of --smt beside ``command``; either may be a recording. Return the exit status of ``command``.
    Raises PfmonError before the programs start."""
    check_crash_report(config)
    with _output(config.smt_output) as output:
        silent = DEVNULL if config.no_cmd_output else None
        first = Files(DEVNULL, silent if output is None else output, silent)
        files = (Files(None, silent, silent), Files()) if config.smt_threads else (first, Files(None, silent, silent))
        ends = _RunNotices(config)
        commands, replays = [config.smt, command], [config.smt_replay, config.replay]
        if config.smt_threads:
            commands, replays = [command, command], [config.replay, config.replay]
        prepared = PreparedCore(config, commands, files, replays, ends.on_notice, timed=False)  # a signal ends both
        try:
            results = ResultOutput(config.outfile, config.append, structured=config.json)
            samples = [_ThreadSamples(config, one, number) for number, one in enumerate(prepared.threads)]
        except BaseException:
            prepared.close()
            raise
        ends.begin(prepared.threads, results)
        import_text_modules(config)
        if not gc.isenabled():  # __main__.command() disabled it; all modules are loaded now
            gc.freeze()
            gc.enable()
        try:
            with stopping(prepared.stop, config.session_timeout):
                done = prepared.run([one.take for one in samples])
        except BaseException:
            for one in samples:
                one.abandon()
            prepared.close()
            raise
    ends.print_results(done.threads)
    outputs = Outputs()
    for number, of in enumerate(done.threads):
        outputs.write(partial(_write_crash_report, config, number, of))
    for one, of in zip(samples, done.threads, strict=True):
        outputs.write(partial(one.finish, of))
    outputs.write(lambda: results.write(_text(config, done, samples, ends.notes, prepared.threads[0].usual)))
    return outputs.status(done.threads[1].status)


def _write_crash_report(config: CommandConfig, number: int, run: Run) -> None:
    """The report on a thread's program, if a signal killed it. LostError: it cannot be written."""
    if run.death is not None:
        write_crash_report(of_thread(config.crash_report, number), run.death.report)


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

    def __init__(self, config: CommandConfig, prepared: Prepared, number: int) -> None:
        self._texts: list[str] = []
        self._samples: SampleOutput | None = None
        self.take: OnSamples = None
        if prepared.session.plan.sampling is None or config.json:
            return
        from pfmon.cli.output.sample_output import SampleOutput

        own = copy(config)
        own.smpl_outfile = of_thread(config.smpl_outfile, number)
        own.exports = [(name, of_thread(path, number)) for name, path in config.exports]
        self._samples = SampleOutput(own, prepared, self._texts.append)
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

    def __init__(self, config: CommandConfig) -> None:
        self._config = config
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
        verbose = self._config.verbose
        _print_each([one.notes for one in threads] if verbose else self.notes)
        if threads[0].usual:
            events = " and ".join(event.name for event in threads[0].session.plan.requests[0].events)
            print_notice(f"no events given: counting {events} of {threads[0].session.plan.model.name}")
        for number, one in enumerate(threads):
            if verbose and one.session.counting:
                results.said(f"# thread {number}\n{programmed(one)}")

    def print_results(self, threads: Sequence[Run]) -> None:
        """Print the messages about the threads' ends."""
        for number, run in enumerate(threads):
            if run.death:
                print_death(run.death, f"thread {number}'s program")
            elif run.status and not run.stopped and not number and not self._config.smt_threads:
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
    config: CommandConfig, done: CoreRun, samples: Sequence[_ThreadSamples], notes: Sequence[Sequence[str]], usual: bool
) -> str:
    """Return the results in the format that the options select."""
    if config.json:
        return json.dumps(done.to_dict(occasion() if config.with_header else None)) + "\n"
    text = occasion_lines() if config.with_header else ""
    if config.show_time:
        text += times_line(Times(*map(max, *(run.times for run in done.threads))))
    unit = "core" if config.cores > 1 else "thread"
    lines = [thread_line(number, run.command, run.status, run.signal, unit) for number, run in enumerate(done.threads)]
    reports = [run.cpi for run in done.threads if run.cpi]
    for number, run in enumerate(done.threads):
        body = run_lines(run.pmu, run.command, run.programming, notes[number]) if config.with_header else ""
        body += samples[number].text
        body += "" if reports else counted_text(config, run, usual)
        text += f"{lines[number]}{body}" if body or (run.sampled and not config.smpl_outfile) else ""
    if reports:
        return text + cpi_text(done.cycles, reports, lines, config.number_style)
    printed = not done.threads[0].sampled or config.smpl_print_counts
    return text + core_text(done.cycles, config.number_style) if printed else text
