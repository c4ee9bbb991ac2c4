"""What is counted when nobody says what: cycles and instructions, of the processor that the program is for.

Cycles take the model of the machine, which takes several times as long as counting instructions alone; the command says
so when it counts them unasked.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.library.options import Options

USUAL = {
    "itanium": ("CPU_CYCLES", "IA64_INST_RETIRED"),
    "itanium2": ("CPU_CYCLES", "IA64_INST_RETIRED"),
    "montecito": ("CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED"),
    "intel_v1": ("UNHALTED_CORE_CYCLES", "INSTRUCTIONS_RETIRED"),
    "intel_v2": ("UNHALTED_CORE_CYCLES", "INSTRUCTIONS_RETIRED"),
    "ppc604e": ("PROCESSOR_CYCLES", "INSTRUCTIONS_COMPLETED"),
    "ibm1994": ("PROCESSOR_CYCLES", "INSTRUCTIONS_COMPLETED"),
}
"""Cycles and instructions, by PMU. The PMU is that of --pmu, of the machine, or of the program."""

OF_SETS = (
    *("event_thresholds", "priv_levels", "insn_sets", "invert", "edge", "irange", "drange", "checkpoint_func"),
    *("opcode_matches", "branch_filters", "ip_ear", "long_smpl_periods", "short_smpl_periods"),
)
OF_EVENTS = (
    *("levels", "system_wide", "all_threads", "controls", "preload"),
    *("insecure", "dont_start", "report", "survey", "record", "guest_pmu"),
)
"""Options that say how events count, or that want others or none: with them nothing is counted unasked."""


def counts_the_usual(options: Options) -> bool:
    """Whether cycles and instructions are counted because nothing else was asked for."""
    if options.events or not options.usual_events or options.instruction_sets or options.gives(*OF_SETS):
        return False
    return all(getattr(options, name) in ("", None, False, [], {}) for name in OF_EVENTS)


def take_the_usual(options: Options) -> None:
    """Make them what is asked for. With --slow, which the machine cannot time, instructions alone."""
    cycles, instructions = USUAL[options.pmu]
    options.sets[0].events = [instructions] if options.slow else [cycles, instructions]
    options.usual_events = True
