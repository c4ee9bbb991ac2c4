"""Rules for combinations of options that the command line alone has. Each rule is the function of its name."""

from __future__ import annotations

from pfmon.cli.output_options import OutputOptions
from pfmon.errors import PfmonError, refuse
from pfmon.library.options.needs import given, refuse_unmet
from pfmon.library.options.run_options import Options


def check_command(options: Options, output: OutputOptions) -> None:
    """Raise PfmonError for options that do not go together."""
    for rule in RULES:
        rule(options, output)


def samples_are_printed(options: Options, output: OutputOptions) -> None:
    """Raise PfmonError for options about samples when none are taken or printed."""
    if not options.sampled:
        refuse_unmet("samples", output)
    elif output.json:
        exported = ["--export"] * bool(output.exports)
        printed = [*exported, *given("samples", output), *["--smpl-truth"] * options.smpl_truth]
        refuse(dict.fromkeys(printed, True), "{} applies to printed samples: --json has them unformatted", "--json")


def exports_are_of_one_run(options: Options, output: OutputOptions) -> None:
    """Raise PfmonError for exports of all calls where several programs run, or nothing does."""
    if output.exports and not options.sampled:
        refuse(
            {
                "--follow-...": options.follows,
                "a second program": options.two_programs,
                "--guest-pmu": bool(options.guest_pmu),
                "--slow": options.slow,
            },
            "--export: all calls are exported without samples, of one program on a machine: leave {} out, or give "
            "--long-smpl-periods=PERIOD,... too",
            "--export",
        )


def baselines_are_of_whole_counts(options: Options, output: OutputOptions) -> None:
    """PfmonError for options that do not go together."""
    if not output.baseline:
        refuse_unmet("a baseline", output)
    option = "--baseline" if output.baseline else "--save-baseline" if output.save_baseline else ""
    if not option or output.action:
        return
    if not options.events:
        raise PfmonError(f"{option}: there is nothing to compare: give -e EVENT,... too").about(option, "--events")
    if options.several_sets:
        raise PfmonError(
            f"{option}: several event sets are estimates; give all events in one -e, with --unlimited"
        ).about(option, "--events", "--unlimited")
    for other, used in {"sampling": options.sampled, "--partial": options.partial}.items():
        if used:
            raise PfmonError(f"{option} wants the counts of a whole run, and does not go with {other}").about(option)


def results_are_added_up(options: Options, output: OutputOptions) -> None:
    """Raise PfmonError for --aggregate-results where there is nothing to add up, or not only counts."""
    if not output.aggregate_results:
        return
    if not options.follows and not options.per_thread:
        refuse_unmet("children", output)
    if options.follows and options.sampled:
        raise PfmonError("--aggregate-results: samples are of each task; leave it out, or the periods").about(
            "--aggregate-results"
        )


def live_shows_progress(options: Options, output: OutputOptions) -> None:
    """PfmonError for options that do not go together."""
    if output.live and output.progress is False:
        raise PfmonError("--live shows how the run goes, and does not go with --no-progress").about(
            "--live", "--no-progress"
        )


def two_programs_go_together(options: Options, output: OutputOptions) -> None:
    """Raise PfmonError for options that exclude two programs, or that need them; two programs need Montecito's PMU."""
    if not options.two_programs:
        _two_programs_are_given(options, output)
        return
    if options.smt_name == "beside" and options.cores == 1:
        raise PfmonError(
            "--beside applies to two cores: give --cores=2 too, or --smt for two threads of one core"
        ).about("--beside", "--cores", "--smt")
    if options.smt_name == "smt" and options.cores > 1:
        raise PfmonError("--smt applies to the threads of one core: with --cores=2 give --beside").about(
            "--smt", "--cores", "--beside"
        )
    if options.cores > 2:
        raise PfmonError(f"--cores={options.cores}: an Itanium has two").about("--cores")
    if options.smt_threads:
        _one_program_is_given(options, output)
    if options.smt and options.smt_replay:
        raise PfmonError("--smt and --smt-replay exclude each other: thread 0 runs one of them").about(
            "--smt", "--smt-replay"
        )
    if output.smt_output and options.smt_replay:
        raise PfmonError("--smt-output is of a program that runs: a recorded one writes nothing").about("--smt-output")
    from pfmon.library.checks.coupled_checks import NOT_WITH_TWO, check_two_programs

    refuse(
        {
            "--baseline": output.baseline,
            "--save-baseline": output.save_baseline,
            "--live": output.live,
            "--progress": output.progress,
        },
        NOT_WITH_TWO,
    )
    check_two_programs(options)


def _one_program_is_given(options: Options, output: OutputOptions) -> None:
    refuse(
        {
            f"--{options.smt_name}": bool(options.smt),
            "--smt-replay": bool(options.smt_replay),
            "--smt-output": bool(output.smt_output),
            "--record": bool(options.record),
        },
        "--smt-threads is of one program: leave {} out",
        "--smt-threads",
    )


def _two_programs_are_given(options: Options, output: OutputOptions) -> None:
    refuse_unmet("two programs", output)
    refuse_unmet("two programs", options)


def a_page_is_opened(options: Options, output: OutputOptions) -> None:
    """Raise PfmonError for --open without a page."""
    if not output.html_report:
        refuse_unmet("a page", output)


def csv_is_of_whole_counts(options: Options, output: OutputOptions) -> None:
    """Raise PfmonError for --csv beside what is more than the counts of a run."""
    if output.csv:
        refuse(
            {"--json": output.json, "--with-header": output.with_header, "--show-time": output.show_time}
            | _more_than_counts(options),
            "--csv prints the counts of the whole run: leave {} out, or print all by --json",
            "--csv",
        )


def repeated_runs_are_counted(options: Options, output: OutputOptions) -> None:
    """Raise PfmonError for several runs beside what is of one."""
    if output.repeat > 1:
        refuse(
            {
                "--record": options.record,
                "--baseline": output.baseline,
                "--save-baseline": output.save_baseline,
                "--report=html": options.collect_report,
                "--crash-report": output.crash_report,
            }
            | _more_than_counts(options),
            "--repeat: counts are of all runs, and {} is of one: leave one of them out",
            "--repeat",
        )


def _more_than_counts(options: Options) -> dict[str, object]:
    """Return the options that have more than a count of each event."""
    return {
        "--report": options.report,
        "sampling": options.sampled,
        "--per-function": options.per_function,
        "--per-block": options.per_block,
        "--per-line": options.per_line,
        "--annotate": options.annotate,
        "--timeline": options.timeline is not None,
        "--print-interval": options.print_interval is not None,
        "--per-thread": options.per_thread,
        "--per-region": options.per_region,
        "--true-values": options.true_values,
        "--follow-...": options.follows,
        "a second program": options.two_programs,
    }


RULES = (
    a_page_is_opened,
    csv_is_of_whole_counts,
    repeated_runs_are_counted,
    samples_are_printed,
    exports_are_of_one_run,
    baselines_are_of_whole_counts,
    live_shows_progress,
    two_programs_go_together,
    results_are_added_up,
)
"""In the order of their report."""
