"""Which code and which data is counted (pfmon on Itanium 2, section 8)."""

from pfmon.cli.config import Config
from pfmon.cli.options import Given, Option
from pfmon.errors import BadValueError, PfmonError, RuleError

TITLE = "Address ranges (numbers in hexadecimal or decimal, or symbols of the program)"
OPTIONS = [
    Option("irange", "count what instructions in this range do; its end is exclusive", "START-END|CODE-SYMBOL"),
    Option("inverse-irange", "count what instructions outside of --irange do"),
    Option("drange", "count accesses to data in this range; its end is exclusive", "START-END|DATA-SYMBOL"),
    Option("checkpoint-func", "count the executions of one bundle", "ADDRESS|CODE-SYMBOL"),
    Option("irange-demand-fetch", "Montecito: --irange holds for demand fetches"),
    Option("irange-prefetch-match", "Montecito: --irange holds for prefetches"),
]
FLAGS = {
    "inverse-irange": "inverse_irange",
    "irange-demand-fetch": "irange_demand_fetch",
    "irange-prefetch-match": "irange_prefetch_match",
}


def apply(config: Config, given: Given) -> None:
    """Take one option's value."""
    if given.name in FLAGS:
        setattr(config, FLAGS[given.name], True)
        return
    name = given.name.replace("-", "_")
    if getattr(config, name):
        raise PfmonError(f"--{given.name} is given twice; there is one range of a kind in a run")
    if not given.value:
        raise BadValueError(f"--{given.name} wants a range: START-END or a symbol")
    setattr(config, name, given.value)


def finish(config: Config) -> None:
    """Check what the options say together."""
    checkpoint_excludes_irange(config)
    range_modifiers_need_irange(config)
    ranges_exclude_levels_of_events(config)


def checkpoint_excludes_irange(config: Config) -> None:
    """A checkpoint is a code range of one bundle (pfmon on Itanium 2, section 8.6)."""
    if config.checkpoint_func and (config.irange or config.inverse_irange):
        raise RuleError(
            "checkpoint_excludes_irange",
            "--checkpoint-func is a code range of its own: neither --irange nor --inverse-irange goes with it",
            "pfmon on Itanium 2, section 8.6",
        )


def range_modifiers_need_irange(config: Config) -> None:
    """There must be a code range to be inverted or limited to some fetches (pfmon on Itanium 2, section 8.4)."""
    modifiers = [option for option, name in FLAGS.items() if getattr(config, name)]
    if modifiers and not config.irange:
        raise RuleError(
            "range_modifiers_need_irange",
            f"--{modifiers[0]} says something about a code range: give --irange too",
            "pfmon on Itanium 2, section 8.4",
        )


def ranges_exclude_levels_of_events(config: Config) -> None:
    """A range is for all events, so events have no levels of their own beside it (pfmon on Itanium 2, section 8.3)."""
    if config.priv_levels and (config.irange or config.drange or config.checkpoint_func):
        raise RuleError(
            "ranges_exclude_levels_of_events",
            "--priv-levels does not go with a range, which holds for all events; -u, -k and -0 to -3 do",
            "pfmon on Itanium 2, section 8.3",
        )
