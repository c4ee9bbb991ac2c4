"""The first words of a command line that say what to do, and the module of each, which is imported when it is typed.

A program of such a name runs after ``--``.
"""

from __future__ import annotations

VERBS = {
    "stat": "pfmon.cli.commands.stat",
    "record": "pfmon.cli.commands.record",
    "report": "pfmon.cli.commands.report",
    "annotate": "pfmon.cli.commands.annotate",
}
"""perf's verbs: pfmon's own options in other words (verb.py); a module has VERB."""
SUBCOMMANDS = {
    "diff": "pfmon.cli.commands.diff",
    "check": "pfmon.cli.commands.check",
    "demo": "pfmon.cli.commands.demo",
    "sweep": "pfmon.cli.commands.sweep_command",
}
"""Commands with options of their own (subcommand.py); a module has run and OPTIONS."""
