"""The comment lines that --with-header puts before the counts."""

from __future__ import annotations

import platform
import shlex
from datetime import datetime

from pfmon.report.programming_record import programming_lines
from pfmon.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.report.programming_record import Record


def occasion() -> dict[str, str]:
    """When and where a run was: date, hostname, system."""
    return {
        "date": f"{datetime.now().astimezone():%a %b %d %H:%M:%S %Y %z}",
        "hostname": platform.node(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def header(pmu: str, command: Sequence[str], record: Record, notes: Sequence[str] = ()) -> str:
    """What was run when, where and on which machine, which counter counts what, and the registers that make it so;
    ``notes`` say what of the options is not, or not exactly, in force."""
    return occasion_lines() + run_lines(pmu, command, record, notes)


def occasion_lines() -> str:
    """When and where it was, and by which pfmon."""
    lines = [*(f"{name}: {text}" for name, text in occasion().items()), f"pfmon version: {VERSION}"]
    return _lines(lines)


def run_lines(pmu: str, command: Sequence[str], record: Record, notes: Sequence[str] = ()) -> str:
    """What was run, and what counted it."""
    command_line = f"command: {shlex.join(command)}"
    return _lines([f"pmu: {pmu}", command_line, *programming_lines(record), *(f"note: {note}" for note in notes)])


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"# {line}\n" for line in lines)
