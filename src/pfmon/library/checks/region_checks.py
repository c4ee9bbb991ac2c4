"""Rules for regions. Each rule is the function of its name."""

from __future__ import annotations

from pfmon.errors import refuse
from pfmon.library.options.run_options import Options


def regions_are_of_one_program(options: Options) -> None:
    """Marks are those of a user program; two on one core are read by one machine."""
    if not (options.region or options.per_region):
        return
    refuse(
        {
            "--system": options.system,
            "two programs on one core": options.two_programs,
            "--guest-pmu": options.guest_pmu,
            "--report=c2c": options.report == "c2c",
        },
        "{}: counts no regions; leave out --region and --per-region",
        "--region",
    )


def each_region_is_counted_alone(options: Options) -> None:
    """Raise PfmonError for options that count the run as a whole, which exclude --per-region."""
    if not options.per_region:
        return
    refuse(
        {
            "--follow-fork and --follow-exec": options.follows,
            "--per-thread": options.per_thread,
            "--long-smpl-periods and --short-smpl-periods": options.sampled,
            "--per-function, --per-block, --per-line and --annotate": options.splits,
            "--report": options.report,
            "--report=html": options.collect_report,
            "--print-interval": options.print_interval is not None,
            "several event sets (-e)": options.several_sets,
        },
        "{}: of the run as a whole; leave out --per-region, which counts each region by itself, and give --region=NAME "
        "to have one alone",
        "--per-region",
    )
