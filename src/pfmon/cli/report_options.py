"""Reports that need no events: where the cycles went."""

from pfmon.cli.config import Config
from pfmon.cli.options import Given, Option
from pfmon.errors import UnknownNameError

TITLE = "Reports"
REPORTS = ("cpi",)
OPTIONS = [Option("report", "print where the cycles went, for the run and by function: cpi", "NAME")]


def apply(config: Config, given: Given) -> None:
    """Take one option's value."""
    text = given.value or ""
    if text not in REPORTS:
        raise UnknownNameError("report", text, REPORTS)
    config.report = text
