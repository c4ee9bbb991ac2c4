"""The comment lines that --with-header puts before the counts."""

import platform
import shlex
from collections.abc import Sequence
from datetime import datetime

from pfmon.pmu.programming import Programming
from pfmon.version import VERSION

LEVELS = "k12u"
"""Letters of the privilege levels 0 to 3."""


def header(pmu: str, command: Sequence[str], sets: Sequence[Sequence[Programming]]) -> str:
    """What was run when and where, and which counter counts what; ``sets``: what each event set programmed."""
    lines = [
        f"date: {datetime.now().astimezone():%a %b %d %H:%M:%S %Y %z}",
        f"hostname: {platform.node()}",
        f"system: {platform.system()} {platform.release()} {platform.machine()}",
        f"pfmon version: {VERSION}",
        f"pmu: {pmu}",
        f"command: {shlex.join(command)}",
    ]
    for number, programmings in enumerate(sets):
        which = f"set {number} " if len(sets) > 1 else ""
        for monitor in (monitor for programming in programmings for monitor in programming.monitors):
            levels = "".join(letter for level, letter in enumerate(LEVELS) if monitor.plm >> level & 1)
            lines.append(f"{which}PMD{monitor.pmd}: {monitor.event.name}, plm={levels}")
    return "".join(f"# {line}\n" for line in lines)
