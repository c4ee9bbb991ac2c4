"""The comment lines of --with-header before the counts."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence
from datetime import datetime

from pfmon.report.programming_record import ProgrammingRecord, programming_lines
from pfmon.version import VERSION


def occasion() -> dict[str, str]:
    """Return date, hostname and system of a run."""
    return {
        "date": f"{datetime.now().astimezone():%a %b %d %H:%M:%S %Y %z}",
        "hostname": platform.node(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def header(pmu: str, command: Sequence[str], record: ProgrammingRecord, notes: Sequence[str] = ()) -> str:
    """Return the lines with time, host, command and machine, the event of each counter, and the registers' values;
    ``notes``: options without, or with approximate, effect."""
    return occasion_lines() + run_lines(pmu, command, record, notes)


def occasion_lines() -> str:
    """Return the lines with time, host and pfmon's version."""
    lines = [*(f"{name}: {text}" for name, text in occasion().items()), f"pfmon version: {VERSION}"]
    return _lines(lines)


def run_lines(pmu: str, command: Sequence[str], record: ProgrammingRecord, notes: Sequence[str] = ()) -> str:
    """Return the lines with the command and the programming."""
    command_line = f"command: {shlex.join(command)}"
    return _lines([f"pmu: {pmu}", command_line, *programming_lines(record), *(f"note: {note}" for note in notes)])


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"# {line}\n" for line in lines)
