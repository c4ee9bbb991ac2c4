"""Reports that need no events: where the cycles went."""

from __future__ import annotations

from pfmon.cli.options import Option
from pfmon.library.checks import report_is_known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.cli.config import Config
    from pfmon.cli.options import Given

TITLE = "Reports"
OPTIONS = [Option("report", "print where the cycles went, for the run and by function: cpi", "NAME")]


def apply(config: Config, given: Given) -> None:
    """Take one option's value."""
    config.report = report_is_known(given.value or "")
