"""Default events: cycles and instructions of the program's processor.

Counting cycles needs the machine model and takes several times as long as counting instructions alone; the command says
so when it counts the default events.
"""

from __future__ import annotations

from pfmon.library.run_options import Options

USUAL = {
    "itanium": ("CPU_CYCLES", "IA64_INST_RETIRED"),
    "itanium2": ("CPU_CYCLES", "IA64_INST_RETIRED"),
    "montecito": ("CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED"),
    "intel_v1": ("UNHALTED_CORE_CYCLES", "INSTRUCTIONS_RETIRED"),
    "intel_v2": ("UNHALTED_CORE_CYCLES", "INSTRUCTIONS_RETIRED"),
    "ppc604e": ("PROCESSOR_CYCLES", "INSTRUCTIONS_COMPLETED"),
    "ibm1994": ("PROCESSOR_CYCLES", "INSTRUCTIONS_COMPLETED"),
}
"""The default events by PMU. The PMU is that of --pmu, of the machine, or of the program."""

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
    cycles, instructions = USUAL[options.pmu]
    options.sets[0].events = [instructions] if options.slow else [cycles, instructions]
    options.use_default_events = True
