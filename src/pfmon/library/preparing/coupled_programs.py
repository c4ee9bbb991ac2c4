"""Run and count two programs on the two hardware threads of a core."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pfmon.errors import PfmonError
from pfmon.library.checks.coupled_checks import check_two_programs, machine_is_montecitos
from pfmon.library.options.matcher_options import TWO_THREADS
from pfmon.library.options.run_options import Options
from pfmon.library.preparing.plan import RunContext
from pfmon.library.preparing.prepared_run import Prepared, prepare_run
from pfmon.library.preparing.standard_streams import Files
from pfmon.library.resolving.machine_selection import pmu_named
from pfmon.library.resolving.run_parts import Processor
from pfmon.library.results.run_result import Run
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.session.coupled.coupled_run import THREADS, CoupledRun, SharedCore, ThreadCycles, TwoCores, all_cycles
from pfmon.session.run.monitored_run import FAILED
from pfmon.session.sampling.sampling_period import Sample
from pfmon.stream._stream import InstructionSet
from pfmon.worker import Worker

OnSamples = Callable[[Sequence[Sample]], None] | None


MAX_JOIN_SECONDS = 0.2
"""Maximum delay in seconds of a signal that arrives just before the wait."""


def _no_one(_: int, __: str) -> None:
    pass


class CoreRun:
    """The results of two programs on one core. ``threads``: the Run of each; ``cycles``: each one's cycles of the core
    (session.core.ThreadCycles)."""

    def __init__(self, threads: tuple[Run, Run], cycles: Sequence[ThreadCycles]) -> None:
        self.threads = threads
        self.cycles = tuple(cycles)

    def __repr__(self) -> str:
        return f"<CoreRun of {' beside '.join(run.command[0] for run in self.threads)}: {self.core_cycles} cycles>"

    @property
    def core_cycles(self) -> int:
        """Cycles of the core, or of the core that ran longer, until both programs had ended."""
        return all_cycles(self.cycles)

    def to_dict(self, header: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the object that --json prints. Keys: pfmon (version), core (cycles; threads: ThreadCycles.to_dict of
        each), threads (Run.to_dict of each)."""
        from pfmon.version import VERSION

        return {
            "pfmon": VERSION,
            "core": {"cycles": self.core_cycles, "threads": [one.to_dict() for one in self.cycles]},
            "threads": [one.to_dict(header) for one in self.threads],
        }

    def to_pandas(self) -> Any:
        """Return the counts as a DataFrame: a row for each event, a column for each thread."""
        from pfmon.session.profile.dataframes import frame

        events = {"event": self.threads[0].counts.names}
        counts = {f"thread {number}": [count.value for count in run.counts] for number, run in enumerate(self.threads)}
        return frame({**events, **counts}, "event")


class PreparedCore:
    """Two programs, or recordings, ready to be run once on the two hardware threads of a core.

    Each thread has a PMU of its own; ``options`` apply to both. Recordings are written to one file per thread
    (`of_thread`). The constructor raises PfmonError for all mistakes.
    """

    def __init__(
        self,
        options: Options,
        commands: Sequence[Sequence[str]],
        files: Sequence[Files | None] = (None, None),
        replays: Sequence[str] = ("", ""),
        on_notice: Callable[[int, str], None] = _no_one,
        timed: bool = True,
        stacks: bool = False,
    ) -> None:
        """``commands``: of thread 0 and thread 1 (the same one with Options.smt_threads), empty where ``replays`` names
        a recording; ``on_notice`` is called with a thread's number and a message during the run;
        ``timed``, ``stacks``: as in RunContext."""
        self.threads: list[Prepared] = []
        try:
            check_two_programs(options)
            named = pmu_named(options)
            processor = Processor(
                named if named in TWO_THREADS else TWO_THREADS[0], options.machine, options.machine_settings
            )
            figures = processor.figures()
            machine_is_montecitos(figures, options.cores)
            self.core = _together(options, figures)
            self.core.on_failure = partial(self.stop, FAILED)
            for number, (command, its) in enumerate(zip(commands, files, strict=True)):
                hardware_thread = self.core.hardware_threads[number]
                own = _options(options, number, processor.pmu, replays[number])
                context = RunContext(
                    its, partial(on_notice, number), hardware_thread=hardware_thread, timed=timed, stacks=stacks
                )
                self.threads.append(prepare_run(own, command, context))
                _runs_ia64_code(self.threads[-1])
        except BaseException:
            for of in files:
                if of:
                    of.close()
            self.close()
            raise

    def run(self, on_samples: Sequence[OnSamples] = (None, None)) -> CoreRun:
        """Run both to their end, or until `stop`. ``on_samples``: as for Prepared.run, by thread. Raises the first
        thread's exception that occurred."""
        runs: list[Run | None] = [None] * THREADS
        errors: list[BaseException] = []

        def run(number: int) -> None:
            try:
                runs[number] = self.threads[number].run(on_samples=self._taker(on_samples[number]))
            except BaseException as error:  # raised below, after the other thread has ended
                errors.append(error)
                self.core.abandon(number)
                self.threads[1 - number].stop(FAILED)

        # Neither runs in this thread: a signal's handler can stop both whatever one of them waits for.
        at_work: list[Worker] = []
        try:
            for number in range(THREADS):
                at_work.append(Worker(partial(run, number)))
        except MemoryError as error:
            errors.append(error)
            self.core.abandon(len(at_work))
            self.stop(FAILED)
        try:
            for worker in at_work:
                while not worker.wait(MAX_JOIN_SECONDS):
                    continue
        except BaseException:  # KeyboardInterrupt
            self.stop()
            raise
        if errors:
            raise errors[0]
        first, other = runs
        assert first and other  # no exception occurred
        cycles = self.core.cycles()
        self.core.release()
        return CoreRun((first, other), cycles)

    def _taker(self, take: OnSamples) -> OnSamples:
        """Return the consumer of a thread's samples; if it fails, both programs are stopped."""
        if take is None:
            return None

        def take_or_stop(samples: Sequence[Sample]) -> None:
            try:
                take(samples)
            except BaseException:
                self.stop(FAILED)
                raise

        return take_or_stop

    def stop(self, why: str = "stop") -> None:
        """End both programs soon, keeping the counts so far; callable from any thread or a signal handler."""
        for one in self.threads:
            one.stop(why)

    def close(self) -> None:
        """Release host resources without running."""
        for one in self.threads:
            one.close()


def of_thread(path: str, number: int) -> str:
    """Return a thread's file for an option that names one per thread: FILE.0 and FILE.1."""
    return f"{path}.{number}" if path else ""


def _options(options: Options, number: int, pmu: str, replay: str) -> Options:
    """Return one thread's options."""
    record = "" if replay else of_thread(options.record, number)
    return options.replaced(replay=replay, record=record, pmu=pmu)


def _together(options: Options, figures: MachineFigures) -> CoupledRun:
    """Return the coupled machine that runs both threads."""
    if options.smt_threads:
        from pfmon.session.coupled.threaded_program import ThreadedProgramOnCore, ThreadedProgramOnTwoCores

        return ThreadedProgramOnTwoCores(figures) if options.cores > 1 else ThreadedProgramOnCore(figures)
    return TwoCores(figures) if options.cores > 1 else SharedCore(figures)


def _runs_ia64_code(prepared: Prepared) -> None:
    """Raise PfmonError for IA-32 code, whose machine has no hardware threads."""
    if prepared.session.engine.instruction_set != InstructionSet.IA64:
        raise PfmonError(f"{prepared.command[0]} is no IA-64 program: two programs on one core are")
