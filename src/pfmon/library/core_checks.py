"""What does not go with two programs on one core. A rule is a function of its name."""

from __future__ import annotations

from pfmon.errors import PfmonError, RuleError, refuse
from pfmon.library.values import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.library.options import Options
    from pfmon.machine.config import MachineFigures

MONTECITO = "montecito"
"""Whose cores have two hardware threads (Montecito manual 2.4)."""

NOT_WITH_TWO = "{}: not with two programs on one core"

NO_AGENT = "no other bus agent"
"""Of the reasons why events are 0 on one core."""


def check_two_programs(options: Options) -> None:
    """PfmonError: the options cannot be in force for two programs on one core."""
    if options.cores == 1:
        montecito_has_two_threads(options)
    the_core_is_not_stopped(options)
    answers_of_other_caches_are_modelled(options)
    samples_are_of_one_thread(options)


def montecito_has_two_threads(options: Options) -> None:
    """Montecito is the only Itanium whose cores have two hardware threads (Montecito manual 2.4)."""
    if options.pmu_given and options.pmu != MONTECITO:
        raise PfmonError(f"{options.pmu} has one hardware thread a core: two programs on one core need montecito's PMU")


def the_core_is_not_stopped(options: Options) -> None:
    """One thread's stream cannot be held where the other's is in the middle of a block: what looks at counters, or
    switches them, while the programs run would have to."""
    refuse(
        {
            "several event sets (-e)": len(options.set_sizes) > 1,
            "--print-interval": options.print_interval is not None,
            "--trigger-...": bool(options.triggers or options.trigger_event),
            "--insecure": options.insecure,
            "--dont-start": options.dont_start,
            "--guest-pmu": bool(options.guest_pmu),
            "--per-thread": options.per_thread,
            "--follow-...": options.follows,
            "--slow": options.slow,
            "--report=html": options.survey,
        },
        NOT_WITH_TWO,
    )


def answers_of_other_caches_are_modelled(options: Options) -> None:
    """Two cores that share memory answer each other's requests; events of what is answered, and of the queues for it,
    are not modelled."""
    if not options.smt_threads or options.cores == 1:
        return
    from pfmon.pmu import get  # as below: two cores of one program are rare
    from pfmon.signals.zero import never_because

    events = get(MONTECITO).events
    for name in options.events:
        if (
            name.upper() in events
            and NO_AGENT in never_because(events[name.upper()].signal)
            and "_IO" not in name.upper()
        ):
            raise PfmonError(
                f"{name.upper()} is not modelled for two cores that share memory; BUS_HITM_SELF and its like are"
            )


def samples_are_of_one_thread(options: Options) -> None:
    """A counter of both threads overflows when their sum does, which is known when both have ended."""
    if options.sampled and options.all_threads:
        raise RuleError(
            "samples_are_of_one_thread",
            "--all-threads counts two programs on one core together when both have ended: not with --long-smpl-periods",
        )


def number_of_cores(option: str, text: str) -> int:
    """One or two."""
    return whole_number(option, text, 1, 2)


def core_has_two_threads(figures: MachineFigures) -> None:
    """PfmonError: the machine has no second hardware thread."""
    if "smt.policy" not in figures:
        raise PfmonError(f"{figures['machine.name']} has one hardware thread a core; montecito has two")
