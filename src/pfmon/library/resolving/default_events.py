"""Default events: cycles and instructions (`Target.default_events`) of the program's processor.

Counting cycles needs the machine model and takes several times as long as counting instructions alone; the command says
so when it counts the default events.
"""

from __future__ import annotations

from pfmon.library.options.run_options import Options
from pfmon.pmu.targets import targets

OF_SETS = (
    *("event_thresholds", "priv_levels", "insn_sets", "invert", "edge", "irange", "drange", "checkpoint_func"),
    *("opcode_matches", "branch_filters", "ip_ear", "long_smpl_periods", "short_smpl_periods"),
)
OF_EVENTS = (
    *("levels", "system_wide", "all_threads", "controls", "preload"),
    *("insecure", "dont_start", "report", "collect_report", "record", "guest_pmu"),
)
"""Options that qualify events, or that imply other events or none: they disable the default events."""


def counts_default_events(options: Options) -> bool:
    """Whether cycles and instructions are counted because nothing else was asked for."""
    if options.events or not options.use_default_events or options.instruction_sets or options.gives(*OF_SETS):
        return False
    return all(getattr(options, name) in ("", None, False, [], {}) for name in OF_EVENTS)


def take_default_events(options: Options) -> None:
    """Set the events to the default ones; with --slow, which has no machine, to instructions alone."""
    cycles, instructions = targets()[options.pmu].default_events
    options.sets[0].events = [instructions] if options.slow else [cycles, instructions]
    options.use_default_events = True
