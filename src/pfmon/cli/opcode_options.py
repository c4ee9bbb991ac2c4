"""Which instructions are counted, by their encoding (pfmon on Itanium 2, section 4)."""

from typing import NamedTuple

from pfmon.cli.config import Config
from pfmon.cli.options import Given, Option
from pfmon.errors import PfmonError

TITLE = "Opcode matchers"


class Matcher(NamedTuple):
    """One option: the PMUs that have it, which of their two matchers it is, the width of match and mask."""

    pmus: tuple[str, ...]
    number: int
    bits: int


MATCHERS = {
    "opc-match8": Matcher(("itanium", "itanium2"), 0, 27),
    "opc-match9": Matcher(("itanium", "itanium2"), 1, 27),
    "opc-match32": Matcher(("montecito",), 0, 41),
    "opc-match34": Matcher(("montecito",), 1, 41),
}
OPTIONS = [
    Option(
        name,
        f"count instructions of a mnemonic, or by {matcher.bits} bits ({', '.join(matcher.pmus)})",
        "[mifb:]MNEMONIC|[mifb]:MATCH:MASK",
    )
    for name, matcher in MATCHERS.items()
]


def apply(config: Config, given: Given) -> None:
    """Take one option's value."""
    if given.name in config.opcode_matches:
        raise PfmonError(f"--{given.name} is given twice; a matcher has one pattern")
    config.opcode_matches[given.name] = given.value or ""
