"""Rules for two programs on one core. Each rule is the function of its name."""

from __future__ import annotations

from pfmon.errors import PfmonError, RuleError, refuse
from pfmon.library.options.matcher_options import TWO_THREADS
from pfmon.library.options.run_options import Options
from pfmon.machine.config.machine_figures import MachineFigures

NOT_WITH_TWO = "{}: not with two programs on one core"

SNOOP_STALLS = "BUS_SNOOP_STALL_CYCLES"


def check_two_programs(options: Options) -> None:
    """Raise PfmonError for options that exclude two programs on one core."""
    pmu_is_montecitos(options)
    the_core_is_not_stopped(options)
    delays_of_answers_are_modelled(options)
    samples_are_of_one_thread(options)


def pmu_is_montecitos(options: Options) -> None:
    """Montecito is the only Itanium with two cores, of two hardware threads each (Montecito manual 2.4, 2.5)."""
    if options.pmu and options.pmu not in TWO_THREADS:
        one = there_is_one(options.cores)
        raise PfmonError(f"{options.pmu} has one {one}: two programs at the same time need {TWO_THREADS[0]}'s PMU")


def the_core_is_not_stopped(options: Options) -> None:
    """Options that read or switch counters during the run would have to stop both threads at one point; one thread's
    stream cannot be held while the other's is in the middle of a block."""
    refuse(
        {
            "several event sets (-e)": options.several_sets,
            "--print-interval": options.print_interval is not None,
            "--trigger-... and --stop-event": bool(options.triggers or options.trigger_event or options.stop_event),
            "--insecure": options.insecure,
            "--dont-start": options.dont_start,
            "--guest-pmu": bool(options.guest_pmu),
            "--per-thread": options.per_thread,
            "--follow-...": options.follows,
            "--slow": options.slow,
            "--report=html": options.collect_report,
            "--report=c2c": options.report == "c2c",
            "--timeline": options.timeline is not None,
        },
        NOT_WITH_TWO,
    )


def delays_of_answers_are_modelled(options: Options) -> None:
    """The cores answer each other's snoop requests in time; the permitted delays are not published."""
    if options.cores == 1:
        return
    for name in options.events:
        if name.upper().startswith(SNOOP_STALLS):
            raise PfmonError(f"{name.upper()} is not modelled for two cores; SI_SCB_LIVE_REQ_LO_SELF is")


def samples_are_of_one_thread(options: Options) -> None:
    """A counter of both threads (.all) overflows when their sum does, which is known only after both have ended."""
    if options.sampled and options.all_threads:
        raise RuleError(
            "samples_are_of_one_thread",
            "--all-threads counts two programs on one core together when both have ended: not with --long-smpl-periods",
        ).about("--all-threads", "--long-smpl-periods")


def machine_is_montecitos(figures: MachineFigures, cores: int) -> None:
    """Raise PfmonError if the machine has no second hardware thread, or no second core."""
    if "smt.policy" not in figures:
        raise PfmonError(f"{figures['machine.name']} has one {there_is_one(cores)}; montecito has two")


def there_is_one(cores: int) -> str:
    """Return the name of the unit that other processors lack a second one of, for so many cores."""
    return "hardware thread a core" if cores == 1 else "core"
