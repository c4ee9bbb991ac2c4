"""Which instruction set's execution is counted (pfmon on Itanium 2, section 7; PMC.ism)."""

from __future__ import annotations

from pfmon.cli.options import Option
from pfmon.errors import PfmonError
from pfmon.pmu import IA64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.cli.config import Config
    from pfmon.cli.options import Given

TOPIC = "instruction-sets"
TITLE = "Instruction sets"
OPTIONS = [
    Option("ia32", "count IA-32 execution only", pmus=IA64),
    Option("ia64", "count IA-64 execution only", pmus=IA64),
    Option("insn-sets", "the set of each event, ia32, ia64 or both, in the order of -e", "SET,...", pmus=IA64),
]


def apply(config: Config, given: Given) -> None:
    """Take one option's value."""
    if given.name == "insn-sets":
        if config.insn_sets:
            raise PfmonError("--insn-sets is given twice; it takes one value an event: --insn-sets=ia32,ia64")
        config.insn_sets = given.value or ""
    elif config.insn_set not in ("both", given.name):
        raise PfmonError("--ia32 and --ia64 exclude each other; both sets are counted without them")
    else:
        config.insn_set = given.name
