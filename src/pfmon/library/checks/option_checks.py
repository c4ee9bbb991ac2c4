"""Rules for combinations of options: exclusions and requirements. Each rule is the function of its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pfmon.errors import PfmonError, RuleError, refuse
from pfmon.library.checks.trigger_checks import check_triggers
from pfmon.library.options.needs import NEEDS, given, refuse_unmet
from pfmon.library.options.run_options import Options
from pfmon.library.options.set_options import SetOptions
from pfmon.library.resolving.default_events import counts_default_events
from pfmon.library.resolving.machine_selection import pmu_named
from pfmon.pmu.model.request import is_precise
from pfmon.session.run.run_plan import MACHINE


def check(options: Options, asks: bool = False) -> None:
    """Raise PfmonError for options that do not go together. ``asks``: no program is run."""
    for rule in rules(options, asks):
        rule()


def rules(options: Options, asks: bool = False) -> list[Callable[[], None]]:
    """Return the rules of `check`, to be called in order."""
    return [
        *(_of_set(rule, one) for one in options.sets for rule in OF_A_SET),
        lambda: machine_has_the_pmu(options),
        lambda: check_triggers(options, asks),
        lambda: _check_regions(options),
        lambda: event_sets_take_turns(options, asks),
        lambda: insecure_is_for_programs(options),
        lambda: sets_are_not_counted_otherwise(options),
        lambda: there_is_something_to_count(options, asks),
        lambda: _check_recordings(options),
        lambda: sampling_counts_as_it_can(options),
        lambda: precise_events_have_no_skid(options),
        lambda: _check_following(options),
        lambda: confinement_is_to_a_directory(options),
        lambda: one_has_the_pmu(options),
        lambda: _check_system(options),
    ]


def machine_has_the_pmu(options: Options) -> None:
    """A machine has the PMU of its processor."""
    pmu_named(options)


def confinement_is_to_a_directory(options: Options) -> None:
    """A confined program sees only files below --sysroot."""
    if options.confine and not options.sysroot:
        raise PfmonError("--confine needs a directory: give --sysroot DIR").about("--confine", "--sysroot")


def _check_regions(options: Options) -> None:
    if options.region or options.per_region:
        from pfmon.library.checks.region_checks import each_region_is_counted_alone, regions_are_of_one_program

        regions_are_of_one_program(options)
        each_region_is_counted_alone(options)


def _check_system(options: Options) -> None:
    if options.system or given("a system", options):
        from pfmon.library.checks.system_checks import systems_run_alone

        systems_run_alone(options)


def _check_following(options: Options) -> None:
    if options.follows or options.follow_exec_exclude or options.per_thread:
        from pfmon.library.checks.follow_checks import following_goes_alone, threads_go_alone

        following_goes_alone(options)
        threads_go_alone(options)


def checkpoint_excludes_irange(options: SetOptions) -> None:
    """A checkpoint is a code range of one bundle (pfmon on Itanium 2, section 8.6)."""
    if options.checkpoint_func and (options.irange or options.inverse_irange):
        raise RuleError(
            "checkpoint_excludes_irange",
            "--checkpoint-func is a code range of its own: neither --irange nor --inverse-irange goes with it",
            "pfmon on Itanium 2, section 8.6",
        ).about("--checkpoint-func", "--irange", "--inverse-irange")


def range_modifiers_need_irange(options: SetOptions) -> None:
    """There must be a code range to be inverted or limited to some fetches (pfmon on Itanium 2, section 8.4)."""
    modifiers = given("a code range", options)
    if modifiers and not (options.irange or (options.checkpoint_func and options.inverse_irange)):
        raise RuleError(
            "range_modifiers_need_irange",
            NEEDS["a code range"].message.replace("{}", modifiers[0]),
            "pfmon on Itanium 2, section 8.4",
        ).about(modifiers[0], *NEEDS["a code range"].others)


def ranges_exclude_levels_of_events(options: SetOptions) -> None:
    """A range is for all events of a set, so these have no levels of their own beside it (pfmon on Itanium 2, section
    8.3)."""
    if options.priv_levels and (options.drange or options.code_range):
        raise RuleError(
            "ranges_exclude_levels_of_events",
            "--priv-levels does not go with a range, which holds for all events; -u, -k and -0 to -3 do",
            "pfmon on Itanium 2, section 8.3",
        ).about("--priv-levels")


def sets_are_not_counted_otherwise(options: Options) -> None:
    """Event sets that take turns are estimates, which are not split."""
    if options.several_sets:
        refuse(
            {
                "--unlimited": options.unlimited,
                "--per-function, --per-block, --per-line and --annotate": options.splits,
                "--print-interval": options.print_interval is not None,
            },
            "{}: several event sets are estimates; give all events in one -e, with --unlimited",
            "--events",
            "--unlimited",
        )


def there_is_something_to_count(options: Options, asks: bool) -> None:
    """Options that concern counts need events."""
    if not (asks or options.events or counts_default_events(options)):
        refuse_unmet("events", options)


def interrupts_are_excluded_or_alone(options: SetOptions) -> None:
    """Interrupt-triggered execution is included alone or excluded, in each event set (pfmon on Itanium 2, section
    10)."""
    if "excl-intr" in options.interrupts and {"intr-only", "incl-intr"} & set(options.interrupts):
        raise RuleError(
            "interrupts_are_excluded_or_alone",
            "--excl-intr and --intr-only exclude each other",
            "pfmon on Itanium 2, section 10",
        ).about("--excl-intr", "--intr-only")


def event_sets_take_turns(options: Options, asks: bool) -> None:
    """Several event sets need a time after which the next one counts."""
    several = options.several_sets
    if several and options.switch_timeout is None and not asks:
        raise PfmonError(
            "several event sets (-e) take turns on the PMU: give --switch-timeout=MILLISECONDS, or --unlimited and "
            "one -e to count all at once"
        ).about("--events", "--switch-timeout", "--unlimited")
    if not several:
        refuse_unmet("event sets", options)
    if options.true_values and len({one.drange for one in options.sets}) > 1:
        raise PfmonError(
            "--true-values counts all event sets all the time, and accesses are held against one --drange: give all "
            "sets the same one"
        ).about("--true-values", "--drange")


def insecure_is_for_programs(options: Options) -> None:
    """A program starts and stops user monitors (PSR.up); privileged ones follow PSR.pp (section 9)."""
    if options.insecure and options.system_wide:
        raise RuleError(
            "insecure_is_for_programs",
            "--insecure does not go with --system-wide: the program's sum and rum start and stop user monitors",
            "pfmon on Itanium 2, section 9",
        ).about("--insecure", "--system-wide")


def _check_recordings(options: Options) -> None:
    if not (options.replay or options.smt_replay):
        refuse_unmet("a recording", options)
    if options.replay:
        refuse_unmet("a program", options)


def options_of_samples_need_some(options: SetOptions) -> None:
    """There must be samples of an event set that something is said about."""
    if not options.sampled:
        refuse_unmet("samples of the set", options)


def precise_events_have_no_skid(options: Options) -> None:
    """Perf's modifier p wants samples of the instruction at which the event happened (perf-list(1))."""
    precise = [name for name in options.events if is_precise(name)]
    if options.smpl_skid and precise:
        raise PfmonError(
            f"{precise[0]} wants samples without a skid, and --smpl-skid={options.smpl_skid} gives them one"
        ).about("--smpl-skid", "--events")


def sampling_counts_as_it_can(options: Options) -> None:
    """Sampling excludes some options."""
    if not options.sampled:
        refuse_unmet("samples", options)
        return
    if not options.events:
        raise PfmonError("--long-smpl-periods: there is nothing to sample: give -e EVENT,... too").about(
            "--long-smpl-periods", "--events"
        )
    refuse(
        {
            "--unlimited": options.unlimited,
            "--per-function, --per-block, --per-line and --annotate": options.splits,
            "--print-interval": options.print_interval is not None,
            "--true-values": options.true_values,
            "--smpl-truth of several event sets (-e)": options.smpl_truth and options.several_sets,
        },
        "sampling does not go with {} in this version",
    )


OF_A_SET = (
    checkpoint_excludes_irange,
    range_modifiers_need_irange,
    ranges_exclude_levels_of_events,
    interrupts_are_excluded_or_alone,
    options_of_samples_need_some,
)
"""Rules of what belongs to one event set."""


def _of_set(rule: Callable[[SetOptions], None], options: SetOptions) -> Callable[[], None]:
    return lambda: rule(options)


def no_program_is_given(options: Options, command: Sequence[str]) -> None:
    """--replay takes no program: it replays the recorded one."""
    if options.replay and command:
        raise PfmonError(f"{command[0]}: --replay={options.replay} runs what was recorded, and takes no program").about(
            "--replay"
        )


def images_run_alone(options: Options, command: Sequence[str]) -> None:
    """The image of a system is all that runs, unless it is a Linux kernel."""
    if options.system:
        from pfmon.library.checks.system_checks import kernels_alone_run_programs

        kernels_alone_run_programs(options, command)


def one_has_the_pmu(options: Options) -> None:
    """Either pfmon or the program uses the PMU; a system has it beside the counts of a whole run."""
    if not options.guest_pmu:
        return
    user = "system" if options.system else "program, and pfmon counts nothing"
    refuse(
        {
            "-e": bool(options.events) and not options.system,
            f"--report={options.report or 'html'}": bool(options.report) or options.collect_report,
            "--timeline": options.timeline is not None,
            "--record": bool(options.record),
            "--replay": bool(options.replay),
            "--insecure": options.insecure,
            "--dont-start": options.dont_start,
            "--follow-...": options.follows,
            "--slow": options.slow and options.guest_pmu == MACHINE,
        },
        f"--guest-pmu gives the PMU to the {user}: leave {{}} out",
        "--guest-pmu",
    )
    refuse(
        {
            "several event sets (-e)": options.several_sets,
            "samples": options.sampled,
            "--unlimited": options.unlimited,
            "--per-function, --per-block, --per-line and --annotate": options.splits,
            "--print-interval": options.print_interval is not None,
            "triggers": bool(options.triggers or options.trigger_event or options.stop_event),
        },
        "--guest-pmu gives the PMU to the system, and beside it whole runs are counted: leave {} out",
        "--guest-pmu",
    )
