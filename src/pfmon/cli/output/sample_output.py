"""Output of samples while the program runs: by a sampling module, and as exports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pfmon.atomic_write import WholeFile
from pfmon.cli.output.printing import print_notice
from pfmon.cli.output.result_output import Outputs
from pfmon.cli.output.sample_module import sampling_module, wants_names
from pfmon.cli.output_options import OutputOptions
from pfmon.errors import LostError, PfmonError, reason
from pfmon.library.preparing.prepared_run import Prepared
from pfmon.library.results.run_result import Run
from pfmon.pmu.capture.captures import captures_of
from pfmon.pmu.capture.last_branches import LastBranchStack
from pfmon.pmu.capture.precise_loads import PreciseLoads
from pfmon.program.compilation_units import import_line_reader
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.session.profile.code_profile import FunctionNames
from pfmon.session.run.monitored_run import Session
from pfmon.session.run.supported import PROCESSORS
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.cli.output.export_files import ExportFile, JoinedExport
    from pfmon.report.exports.sample_export import ExportSubject


class Owner(NamedTuple):
    """The owner of samples: the run, or a followed task. ``name_of``: what a file is called that a
    task has for itself; ``add`` gets what goes to one that an option asks for and all tasks have together."""

    command: Sequence[str]
    process_id: int
    objects: Callable[[], LoadedObjects]
    name_of: Callable[[str], str] = str
    add: Callable[[str, bytes], None] | None = None


def _exports(
    output: OutputOptions, prepared: Prepared, owner: Owner, names: FunctionNames | None
) -> list[ExportFile | JoinedExport]:
    if not output.exports or names is None:
        return []
    from pfmon.cli.output.export_files import export_files

    return export_files(output.exports, _subject(prepared, owner, names), owner.name_of, owner.add)


class SampleOutput:
    """Passes samples to a sampling module and writes its output to a file or among the results."""

    def __init__(
        self,
        output: OutputOptions,
        prepared: Prepared,
        print_early: Callable[[str], object],
        owner: Owner | None = None,
        silent: bool = False,
    ) -> None:
        """``print_early``: gets what goes to no file; ``owner``: None: the run; ``silent``: nothing but exports is
        wanted. PfmonError when the file cannot be written."""
        wanted = wants_names(output)
        session = prepared.session
        owner = owner or Owner(prepared.command, session.plan.settings.process_id, prepared.objects)
        if wanted:
            import_line_reader()
        names = (
            FunctionNames(owner.objects(), session.plan.demangle, session.engine.instruction_set) if wanted else None
        )
        self._module = sampling_module(output, prepared, owner.process_id, names)
        self._exports = _exports(output, prepared, owner, names)
        self._print_early = print_early
        self._path, self._eager = owner.name_of(output.smpl_outfile), output.smpl_eager_save
        self._kept = False
        self._silent = silent
        self._errors: dict[object, LostError] = {}
        try:
            self._whole = WholeFile(self._path, at_once=self._eager) if self._path else None
        except (OSError, ValueError) as error:
            raise PfmonError(f"--smpl-outfile={self._path}: {reason(error)}").about("--smpl-outfile") from None

    def take(self, samples: Sequence[Sample]) -> None:
        """Process a buffer of samples. An output that cannot be written takes no more; `ended` raises its error."""
        for export in self._exports:
            self._attempt(export, partial(export.take, samples))
        self._attempt(self._module, lambda: self._write(self._module.take(samples)))

    def _attempt(self, output: object, write: Callable[[], None]) -> None:
        """Write to an output that has not failed before."""
        if output in self._errors:
            return
        try:
            write()
        except LostError as error:
            self._errors[output] = error

    def finish(self, done: Run) -> None:
        """Finish the samples of a run. LostError when they could not be written."""
        self.ended(done.exact, done.exact_edges)

    def ended(self, exact: Mapping[int, int] | None, edges: Mapping[tuple[int, int], int] | None) -> None:
        """All samples have come; ``exact``: how often the event happened where; ``edges``: how often branches were
        taken, by source and target. LostError when they could not be written."""
        if edges is not None:
            self._module.take_exact_edges(edges)
        outputs = Outputs()
        for error in self._errors.values():
            outputs.add_error(error)
        if self._module not in self._errors:
            outputs.write(lambda: self._finish(exact))
        for export in self._exports:
            if export not in self._errors:
                outputs.write(export.finish)
        try:
            outputs.status(0)
        except BaseException:
            self.abandon()
            raise

    def _finish(self, exact: Mapping[int, int] | None) -> None:
        self._write(self._module.finish(exact))
        try:
            if self._whole:
                self._whole.finish(keep=True)
                self._kept = True
        except OSError as error:
            raise self._failed(error) from None

    def abandon(self) -> None:
        """End the output of a failed run: discard exports, keep the samples already written."""
        for export in self._exports:
            export.abandon()
        where = self._keep()
        if where:
            print_notice(f"--smpl-outfile={self._path}{where}")

    def _keep(self) -> str:
        """Let what was written be found, and what was there before stay: where it is."""
        if self._whole is None or self._kept:
            return ""
        self._kept = True
        where = self._whole.keep()
        if not where:
            return ""
        return f"; the samples up to there are in {'it' if where == self._whole.place else where}"

    def _write(self, content: str | bytes) -> None:
        if not content:
            return
        if self._whole is None:
            assert isinstance(content, str)  # _check_module
            if not self._silent:
                self._print_early(content)
            return
        try:
            self._whole.file.write(content.encode(errors="surrogateescape") if isinstance(content, str) else content)
            if self._eager:
                self._whole.file.flush()
        except OSError as error:
            raise self._failed(error) from None

    def _failed(self, error: Exception) -> LostError:
        return LostError(f"--smpl-outfile={self._path}: {reason(error)}{self._keep()}")


def _subject(prepared: Prepared, owner: Owner, names: FunctionNames) -> ExportSubject:
    """Return what exports are told of the run."""
    from pfmon.report.exports.sample_export import ExportSubject

    plan, machine = prepared.session.plan, prepared.session.machine
    loads, _, branches, _ = captures_of(plan.model, prepared.session.sets[0].programming.writes)
    return ExportSubject(
        names,
        owner.command,
        owner.process_id,
        {
            (number, monitor.pmd): monitor.event.name
            for number, counting in enumerate(prepared.session.sets)
            for monitor in counting.programming.monitors
        },
        _registers(prepared.session),
        plan.settings.nanoseconds_per_instruction,
        plan.settings.epoch,
        int(machine["machine.frequency"]) if machine else 0,
        architecture=architecture_of(prepared),
        branches=branches if isinstance(branches, LastBranchStack) else None,
        loads=isinstance(loads, PreciseLoads),
    )


def architecture_of(prepared: Prepared) -> str:
    """Return the architecture of a program's instructions."""
    return PROCESSORS[prepared.session.engine.instruction_set].instruction_set


def _registers(session: Session) -> list[int]:
    """Return the PMDs that samples can hold: counters without a period, capture registers, and --extra-smpl-pmds."""
    sampling = session.plan.sampling
    assert sampling is not None
    found: set[int] = set()
    for counting, own in zip(session.sets, sampling.sets, strict=True):
        monitors = counting.programming.monitors
        periods = counting.by_monitor(own.periods)
        sampled = {monitor.pmd for monitor, period in zip(monitors, periods, strict=True) if period}
        found |= {*own.extra, *counting.programming.pmds, *(monitor.pmd for monitor in monitors)} - sampled
    return sorted(found)
