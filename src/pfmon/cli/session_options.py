"""Options of sessions: when to count, and event set switching (pfmon on Itanium 2, sections 9 and 10)."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.library.option_values import milliseconds
from pfmon.pmu import IA64

TOPIC = "sessions"
TITLE = "Sessions (milliseconds are of the program's processor time, one nanosecond an instruction)"
OPTIONS = [
    Option("switch-timeout", "with several -e: switch to the next event set after this time", "MILLISECONDS"),
    Option(
        "true-values", "with several -e: print the counts of uninterrupted counting, and the error, beside estimates"
    ),
    Option("print-interval", "print the counts of every interval of this length", "MILLISECONDS"),
    Option("insecure", "let the program start and stop counting (sum, rum) and read counters (mov =pmd)", pmus=IA64),
    Option("dont-start", "do not start counting; with --insecure the program does it", pmus=IA64),
    Option("excl-intr", "leave out what interrupts cause; programs run without interrupts", pmus=IA64, of_set=True),
    Option(
        "intr-only",
        "kernel level: count what interrupts cause only; programs run without interrupts",
        pmus=IA64,
        of_set=True,
    ),
    Option("incl-intr", "the same as --intr-only", pmus=IA64, of_set=True),
    Option("exclude-idle", "leave out the idle task; a program's run has none", pmus=IA64, of_set=True),
]
TIMES = {"switch-timeout": "switch_timeout", "print-interval": "print_interval"}
FLAGS = {"true-values": "true_values", "insecure": "insecure", "dont-start": "dont_start"}


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    if given.name in TIMES:
        setattr(config, TIMES[given.name], milliseconds(given.name, given.value or ""))
    elif given.name in FLAGS:
        setattr(config, FLAGS[given.name], True)
    else:
        config.sets[-1].interrupts.append(given.name)
