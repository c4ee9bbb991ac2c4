"""Options that restrict counting to address ranges (pfmon on Itanium 2, section 8)."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import BadValueError
from pfmon.library.option_checks import MODIFIERS
from pfmon.pmu import IA64
from pfmon.pmu.targets import having

TOPIC = "ranges"
TITLE = "Address ranges (numbers in hexadecimal or decimal, or symbols of the program)"


def filtering(name: str) -> tuple[str, ...]:
    """Return the PMUs whose code ranges can be restricted so."""
    return having(lambda target: name in target.range_filters)


OPTIONS = [
    option._replace(of_set=True)
    for option in (
        Option(
            "irange",
            "count what instructions in this range do; its end is exclusive",
            "START-END|CODE-SYMBOL",
            pmus=IA64,
        ),
        Option("inverse-irange", "count what instructions outside of --irange do", pmus=filtering("inverse")),
        Option(
            "drange", "count accesses to data in this range; its end is exclusive", "START-END|DATA-SYMBOL", pmus=IA64
        ),
        Option("checkpoint-func", "count the executions of one bundle", "ADDRESS|CODE-SYMBOL", pmus=IA64),
        Option("irange-demand-fetch", "Montecito: --irange holds for demand fetches", pmus=filtering("demand_fetch")),
        Option("irange-prefetch-match", "Montecito: --irange holds for prefetches", pmus=filtering("prefetch_match")),
    )
]


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    if given.name in MODIFIERS:
        setattr(config.sets[-1], MODIFIERS[given.name], True)
        return
    if not given.value:
        raise BadValueError(f"--{given.name} wants a range: START-END or a symbol")
    config.take_of_set(given, given.name.replace("-", "_"), "one range: there is one of a kind in an event set")
