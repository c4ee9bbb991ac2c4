"""The modules that the results of a command are printed with."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.library.option_checks import wants_profile
from pfmon.needed_modules import import_needed


def import_text_modules(config: CommandConfig) -> None:
    """Import what prints the results that these options ask for, before the program starts."""
    profile = wants_profile(config)
    import_needed(
        {
            "pfmon.program.source_texts": config.annotate,
            "pfmon.report.cpi_report": config.report == "cpi",
            "pfmon.report.derived_report": config.report == "derived",
            "pfmon.report.count_text": config.true_values or config.show_time,
            "pfmon.report.header": config.with_header,
            "pfmon.report.profile_tables": profile,
            "pfmon.report.task_report": config.follows or config.per_thread,
        }
    )
