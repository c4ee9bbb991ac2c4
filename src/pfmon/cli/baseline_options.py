"""Options that compare counts with those of an earlier run."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import PfmonError

TOPIC = "baselines"
TITLE = "Comparing with an earlier run"
OPTIONS = [
    Option("save-baseline", "keep the counts in a file, if the program succeeds", "FILE"),
    Option("baseline", "compare the counts with those in a file; exit status 3 if one grew", "FILE"),
    Option("tolerance", "increase that is accepted: 1% (the default), LLC_MISSES=5%", "[EVENT=]PERCENT,..."),
]


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    name, value = given.name.replace("-", "_"), given.value or ""
    if not value:
        raise PfmonError(f"--{given.name}: {'a percentage' if name == 'tolerance' else 'a file'} is wanted").about(
            f"--{given.name}"
        )
    if name == "tolerance" and config.tolerance:
        value = f"{config.tolerance},{value}"
    setattr(config, name, value)


def check(config: CommandConfig) -> None:
    """PfmonError for options that do not go together."""
    if config.tolerance and not config.baseline:
        raise PfmonError("--tolerance applies to a comparison: give --baseline=FILE too").about(
            "--tolerance", "--baseline"
        )
    option = "--baseline" if config.baseline else "--save-baseline" if config.save_baseline else ""
    if not option or config.action:
        return
    if not config.events:
        raise PfmonError(f"{option}: there is nothing to compare: give -e EVENT,... too").about(option, "--events")
    if config.several_sets:
        raise PfmonError(
            f"{option}: several event sets are estimates; give all events in one -e, with --unlimited"
        ).about(option, "--events", "--unlimited")
    for other, used in {"sampling": config.sampled, "--partial": config.partial}.items():
        if used:
            raise PfmonError(f"{option} wants the counts of a whole run, and does not go with {other}").about(option)
