"""Options that select privilege levels (pfmon on Itanium 2, section 8.3; PMC.plm, PMC.pm)."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.pmu import IA64

TOPIC = "levels"
TITLE = "Privilege levels"
OPTIONS = [
    Option("user-level", "count at the user level, 3 (the default when no level is given)", short="u"),
    Option("kernel-level", "count at the kernel level, 0", short="k"),
    Option("level-0", "count at privilege level 0", short="0"),
    Option("level-1", "count at privilege level 1", short="1", pmus=IA64),
    Option("level-2", "count at privilege level 2", short="2", pmus=IA64),
    Option("level-3", "count at privilege level 3", short="3"),
    Option(
        "priv-levels", "levels of each event, letters of u k 0 1 2 3, in the order of -e", "LEVELS,...", of_set=True
    ),
    Option("system-wide", "program privileged monitors (PMC.pm), which psr.pp starts", pmus=IA64),
]
LETTERS = {
    "user-level": "u",
    "kernel-level": "k",
    "level-0": "0",
    "level-1": "1",
    "level-2": "2",
    "level-3": "3",
}


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    if given.name in LETTERS:
        config.levels += LETTERS[given.name]
    elif given.name == "system-wide":
        config.system_wide = True
    else:
        config.take_of_set(given, "priv_levels", "one value an event: --priv-levels=u,k,uk")
