"""Options of reports: cycle breakdown and the manual's formulas as text, or the whole run as an HTML page."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import PfmonError
from pfmon.library.option_checks import report_is_known

TOPIC = "reports"
TITLE = "Reports"
OPTIONS = [
    Option(
        "report",
        "instead of counts: cpi (where the cycles went, for the run and by function), derived (the formulas of the "
        "PMU's manual, by its tables, with what each needs); besides: html:FILE (everything in a page)",
        "NAME",
    )
]


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    name, _, path = (given.value or "").partition(":")
    if report_is_known(name) == "html":
        if not path:
            raise PfmonError("--report=html wants a file: --report=html:FILE")
        config.html_report, config.collect_report = path, True
    elif path:
        raise PfmonError(f"--report={name} is printed with the counts and takes no file: --outfile={path}")
    else:
        config.report = name
