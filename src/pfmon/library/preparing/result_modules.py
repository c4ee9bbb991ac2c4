"""The modules that a run's results are made with."""

from __future__ import annotations

from pfmon.library.checks.option_checks import wants_profile
from pfmon.library.options.run_options import Options
from pfmon.needed_modules import import_needed


def import_result_modules(options: Options) -> None:
    """Import what `Run` needs after a run with these options."""
    import_needed(
        {
            "pfmon.library.results.derived_run": options.report == "derived",
            "pfmon.library.results.result_tables": wants_profile(options) or options.print_interval is not None,
            "pfmon.library.results.samples": options.sampled,
            "pfmon.report.html.run_page": options.collect_report,
            "pfmon.report.html.tasks_page": options.collect_report and options.follows,
            "pfmon.report.task_report": options.collect_report and options.follows,
            "pfmon.version": True,
        }
    )
