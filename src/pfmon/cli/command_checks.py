"""Rules for combinations of options that the command line alone has. Each rule is the function of its name."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.errors import PfmonError, refuse
from pfmon.library.checks.coupled_checks import TWO_THREADS

OF_TEXT = {
    "--export": "exports",
    "--smpl-module": "smpl_module",
    "--smpl-outfile": "smpl_outfile",
    "--smpl-eager-save": "smpl_eager_save",
    "--smpl-print-counts": "smpl_print_counts",
    "--smpl-show-top": "smpl_show_top",
    "--smpl-cum-threshold": "smpl_cum_threshold",
    "--smpl-save-raw": "smpl_save_raw",
    "--resolve-addresses": "resolve_addresses",
}
"""Options for printed samples, and their fields."""


def check_command(config: CommandConfig) -> None:
    """Raise PfmonError for options that do not go together."""
    for rule in RULES:
        rule(config)


def samples_are_printed(config: CommandConfig) -> None:
    """Raise PfmonError for options about samples when none are taken or printed."""
    given = [option for option, field in OF_TEXT.items() if getattr(config, field)]
    given += [config.smpl_show_func] if config.smpl_show_func else []
    given += [f"--smpl-{config.smpl_view}-view"] if config.smpl_view else []
    given += [f"--smpl-sort-by{config.smpl_sort}"] if config.smpl_sort else []
    if given and not config.sampled:
        raise PfmonError(f"{given[0]} applies to samples: give --long-smpl-periods=PERIOD,... too").about(
            given[0], "--long-smpl-periods"
        )
    given += ["--smpl-truth"] if config.smpl_truth else []
    if given and config.json and config.sampled:
        raise PfmonError(f"{given[0]} applies to printed samples: --json has them unformatted").about(
            given[0], "--json"
        )


def baselines_are_of_whole_counts(config: CommandConfig) -> None:
    """PfmonError for options that do not go together."""
    if config.tolerance and not config.baseline:
        raise PfmonError("--tolerance applies to a comparison: give --baseline=FILE too").about(
            "--tolerance", "--baseline"
        )
    option = "--baseline" if config.baseline else "--save-baseline" if config.save_baseline else ""
    if not option or config.action:
        return
    if not config.events:
        raise PfmonError(f"{option}: there is nothing to compare: give -e EVENT,... too").about(option, "--events")
    if config.several_sets:
        raise PfmonError(
            f"{option}: several event sets are estimates; give all events in one -e, with --unlimited"
        ).about(option, "--events", "--unlimited")
    for other, used in {"sampling": config.sampled, "--partial": config.partial}.items():
        if used:
            raise PfmonError(f"{option} wants the counts of a whole run, and does not go with {other}").about(option)


def live_shows_progress(config: CommandConfig) -> None:
    """PfmonError for options that do not go together."""
    if config.live and config.progress is False:
        raise PfmonError("--live shows how the run goes, and does not go with --no-progress").about(
            "--live", "--no-progress"
        )


def two_programs_go_together(config: CommandConfig) -> None:
    """Raise PfmonError for options that exclude two programs, or that need them; two programs need Montecito's PMU."""
    if not config.two_programs:
        _two_programs_are_given(config)
        return
    if not (config.pmu_given or config.machine):
        config.pmu, config.pmu_given = TWO_THREADS[0], True
    if config.smt_name == "beside" and config.cores == 1:
        raise PfmonError(
            "--beside applies to two cores: give --cores=2 too, or --smt for two threads of one core"
        ).about("--beside", "--cores", "--smt")
    if config.smt_name == "smt" and config.cores > 1:
        raise PfmonError("--smt applies to the threads of one core: with --cores=2 give --beside").about(
            "--smt", "--cores", "--beside"
        )
    if config.smt_threads:
        _one_program_is_given(config)
    if config.smt and config.smt_replay:
        raise PfmonError("--smt and --smt-replay exclude each other: thread 0 runs one of them").about(
            "--smt", "--smt-replay"
        )
    if config.smt_output and config.smt_replay:
        raise PfmonError("--smt-output is of a program that runs: a recorded one writes nothing").about("--smt-output")
    from pfmon.library.checks.coupled_checks import NOT_WITH_TWO, check_two_programs

    refuse(
        {
            "--baseline": config.baseline,
            "--save-baseline": config.save_baseline,
            "--live": config.live,
            "--progress": config.progress,
        },
        NOT_WITH_TWO,
    )
    check_two_programs(config)


def _one_program_is_given(config: CommandConfig) -> None:
    refuse(
        {
            f"--{config.smt_name}": bool(config.smt),
            "--smt-replay": bool(config.smt_replay),
            "--smt-output": bool(config.smt_output),
            "--record": bool(config.record),
        },
        "--smt-threads is of one program: leave {} out",
        "--smt-threads",
    )


def _two_programs_are_given(config: CommandConfig) -> None:
    if config.cores > 1:
        raise PfmonError('--cores=2: the second program is missing: give --beside "PROGRAM ARGUMENT..." too').about(
            "--cores", "--beside"
        )
    refuse(
        {"--smt-output": config.smt_output, "--no-smt-rules": not config.smt_rules},
        '{} applies to two programs on one core: give --smt "PROGRAM ARGUMENT..." too',
        "--smt",
    )


RULES = (samples_are_printed, baselines_are_of_whole_counts, live_shows_progress, two_programs_go_together)
"""In the order of their report."""
