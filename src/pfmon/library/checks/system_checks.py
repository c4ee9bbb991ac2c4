"""Rules for options of a system image. Each rule is the function of its name."""

from __future__ import annotations

from pfmon.errors import refuse
from pfmon.library.options.needs import refuse_unmet
from pfmon.library.options.option import OF_RUN
from pfmon.library.options.run_options import Options
from pfmon.library.options.table import rows

OF_PROGRAMS = (
    "sysroot",
    "confine",
    "net",
    "env",
    "host-env",
    "host-clock",
    "host-random",
    "host-ids",
    "seed",
    "quantum",
    "schedule-seed",
    "memory-limit",
    "engine",
    "mask-cpuid",
    "follow-exec-exclude",
    "follow-pthread",
    "follow-limit",
    "per-thread",
    "detach-children",
    "insecure",
    "dont-start",
    "ia32",
)
"""Options about a program under Linux, its children and its threads."""


def systems_run_alone(options: Options) -> None:
    """A system image is no program under Linux, and has a machine of its own."""
    if not options.system:
        refuse_unmet("a system", options)
        return
    refuse(
        {"--replay": options.replay, "a second program": options.two_programs, "--cores": options.cores > 1},
        "--system runs one image on one processor: leave {} out",
        "--system",
    )
    given = {one.long for one in rows(OF_RUN) if one.is_given(options)}
    refuse(
        {"--follow-...": options.follows} | {f"--{name}": name in given for name in OF_PROGRAMS},
        "{} is about a program under Linux; with --system there is none: leave it out",
        "--system",
    )
