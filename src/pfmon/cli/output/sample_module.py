"""The sampling module that prints samples: its options, and the parameters of the run that it gets."""

from __future__ import annotations

from pfmon.cli.output.result_output import check_can_be_written
from pfmon.cli.output_options import OutputOptions
from pfmon.errors import PfmonError
from pfmon.library.preparing.prepared_run import Prepared
from pfmon.pmu.capture.captures import captures_of
from pfmon.program.compilation_units import import_line_reader
from pfmon.report.sampling import MODULES
from pfmon.report.sampling.sampling_module import ModuleContext, SamplingModule
from pfmon.session.profile.code_profile import FunctionNames


def wants_names(output: OutputOptions) -> bool:
    """Return whether samples are shown with names of code."""
    return _resolves(output) or bool(output.exports)


def _resolves(output: OutputOptions) -> bool:
    """Return whether the sampling module prints names."""
    return output.resolve_addresses or bool(output.smpl_show_func)


def sampling_module(
    output: OutputOptions, prepared: Prepared, process_id: int, names: FunctionNames | None
) -> SamplingModule:
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
        prepared.session.machine is not None,
        plan.sampling.truth,
    )
    module = MODULES[name](context)
    return MODULES["raw"](context) if output.smpl_save_raw else module


def check_module(output: OutputOptions, prepared: Prepared) -> None:
    """PfmonError for a module, or an export, that does not go with the options."""
    sampling_module(output, prepared, 0, None)
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
