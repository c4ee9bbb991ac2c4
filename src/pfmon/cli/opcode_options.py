"""Options of the opcode matchers: count instructions by encoding (pfmon on Itanium 2, section 4)."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import PfmonError
from pfmon.library.matcher_options import MATCHERS

TOPIC = "opcodes"
TITLE = "Opcode matchers"


OPTIONS = [
    Option(
        name,
        f"count instructions of a mnemonic, or by {matcher.bits} bits ({', '.join(matcher.pmus)})",
        "[mifb:]MNEMONIC|[mifb]:MATCH:MASK",
        pmus=matcher.pmus,
        of_set=True,
    )
    for name, matcher in MATCHERS.items()
]


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    if given.name in config.sets[-1].opcode_matches:
        raise PfmonError(f"--{given.name} is given twice{config.for_one_set}; a matcher has one pattern")
    config.sets[-1].opcode_matches[given.name] = given.value or ""
