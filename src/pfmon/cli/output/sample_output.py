"""Output of samples while the program runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pfmon.atomic_write import WholeFile
from pfmon.cli.output.printing import print_notice
from pfmon.cli.output.result_output import Outputs, check_can_be_written
from pfmon.cli.output_options import OutputOptions
from pfmon.errors import LostError, PfmonError, reason
from pfmon.library.preparing.prepared_run import Prepared
from pfmon.library.results.run_result import Run
from pfmon.pmu.capture.captures import captures_of
from pfmon.program.compilation_units import import_line_reader
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.report.sampling import MODULES
from pfmon.report.sampling.sampling_module import ModuleContext, SamplingModule
from pfmon.session.profile.code_profile import FunctionNames
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.cli.output.export_files import ExportFile, JoinedExport


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

    return export_files(output, prepared, owner, names)


def wants_names(output: OutputOptions) -> bool:
    """Return whether samples are shown with names of code."""
    return _resolves(output) or bool(output.exports)


def _resolves(output: OutputOptions) -> bool:
    """Return whether the sampling module prints names."""
    return output.resolve_addresses or bool(output.smpl_show_func)


def _module(output: OutputOptions, prepared: Prepared, process_id: int, names: FunctionNames | None) -> SamplingModule:
    """The module that the options want. PfmonError: it does not go with them, or with what is sampled."""
    plan = prepared.session.plan
    name = output.smpl_module or next(iter(MODULES))
    _check_module(output, name, truth=plan.sampling is not None and plan.sampling.truth)
    sets = prepared.session.sets
    made = [one.programming for one in sets]
    if len(made) > 1 and MODULES[name].is_of_one_set:
        raise PfmonError(f"--smpl-module={name} reads what one event set captures: give one -e").about(
            "--smpl-module", "--events"
        )
    assert plan.sampling
    periods = [
        period for one, own in zip(sets, plan.sampling.sets, strict=True) for period in one.by_monitor(own.periods)
    ]
    monitors = [monitor for one in made for monitor in one.monitors]
    context = ModuleContext(
        process_id,
        names if _resolves(output) else None,
        bool(output.smpl_show_func),
        output.smpl_show_top,
        output.smpl_view,
        plan.model,
        captures_of(plan.model, made[0].writes),
        tuple(monitor.event for monitor, period in zip(monitors, periods, strict=True) if period),
        prepared.processor.figures,
        tuple(captures_of(plan.model, one.writes) for one in made),
        output.smpl_cum_threshold,
        output.smpl_sort,
    )
    module = MODULES[name](context)
    return MODULES["raw"](context) if output.smpl_save_raw else module


def check_module(output: OutputOptions, prepared: Prepared) -> None:
    """PfmonError for a module, or an export, that does not go with the options."""
    _module(output, prepared, 0, None)
    if wants_names(output):
        import_line_reader()
    if output.smpl_outfile:
        check_can_be_written(output.smpl_outfile, f"--smpl-outfile={output.smpl_outfile}")
    for name, path in output.exports:
        check_can_be_written(path, f"--export={name}:{path}")


def _check_module(output: OutputOptions, name: str, truth: bool) -> None:
    """Raise PfmonError for an option that the module lacks, or a missing option that it needs."""
    module = MODULES[name]
    for option, used in {
        "--smpl-show-func": bool(output.smpl_show_func),
        "--smpl-show-top": output.smpl_show_top,
        "--smpl-cum-threshold": output.smpl_cum_threshold,
        "--smpl-save-raw": output.smpl_save_raw,
        f"--smpl-sort-by{output.smpl_sort}": output.smpl_sort,
        "--smpl-truth": truth,
        f"--smpl-{output.smpl_view}-view": output.smpl_view,
    }.items():
        if used and option not in module.options:
            others = " and ".join(other for other, one in MODULES.items() if option in one.options)
            typed = output.smpl_show_func if option == "--smpl-show-func" else option
            raise PfmonError(f"{typed} is of --smpl-module={others}; {name} does not have it").about("--smpl-module")
    if (module.is_binary or output.smpl_save_raw) and not output.smpl_outfile:
        what = "--smpl-save-raw" if output.smpl_save_raw else f"--smpl-module={name}"
        raise PfmonError(f"{what} is binary: give --smpl-outfile=FILE too").about("--smpl-outfile")
    if output.smpl_eager_save and not output.smpl_outfile:
        raise PfmonError("--smpl-eager-save applies to the file of samples: give --smpl-outfile=FILE too").about(
            "--smpl-eager-save", "--smpl-outfile"
        )
    if output.smpl_eager_save and module.is_histogram and not output.smpl_save_raw:
        raise PfmonError(f"--smpl-eager-save: {name} has nothing to save before all samples have come").about(
            "--smpl-eager-save"
        )


class SampleOutput:
    """Passes samples to a sampling module and writes its output to a file or among the results."""

    def __init__(
        self,
        output: OutputOptions,
        prepared: Prepared,
        print_early: Callable[[str], object],
        owner: Owner | None = None,
    ) -> None:
        """``print_early``: gets what goes to no file; ``owner``: None: the run. PfmonError when the file cannot be
        written."""
        wanted = wants_names(output)
        session = prepared.session
        owner = owner or Owner(prepared.command, session.plan.settings.process_id, prepared.objects)
        if wanted:
            import_line_reader()
        names = (
            FunctionNames(owner.objects(), session.plan.demangle, session.engine.instruction_set) if wanted else None
        )
        self._module = _module(output, prepared, owner.process_id, names)
        self._exports = _exports(output, prepared, owner, names)
        self._print_early = print_early
        self._path, self._eager = owner.name_of(output.smpl_outfile), output.smpl_eager_save
        self._kept = False
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
        self.ended(done.exact)

    def ended(self, exact: Mapping[int, int] | None) -> None:
        """All samples have come; ``exact``: how often the event happened where. LostError when they could not be
        written."""
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
