"""Options that restrict counting to an instruction set (pfmon on Itanium 2, section 7; PMC.ism)."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.pmu import IA64

TOPIC = "instruction-sets"
TITLE = "Instruction sets"
OPTIONS = [
    Option("ia32", "count IA-32 execution only; with --ia64 both, as without either", pmus=IA64),
    Option("ia64", "count IA-64 execution only; with --ia32 both, as without either", pmus=IA64),
    Option(
        "insn-sets", "the set of each event, ia32, ia64 or both, in the order of -e", "SET,...", pmus=IA64, of_set=True
    ),
]


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    if given.name == "insn-sets":
        config.take_of_set(given, "insn_sets", "one value an event: --insn-sets=ia32,ia64")
    else:
        config.instruction_sets.add(given.name)
