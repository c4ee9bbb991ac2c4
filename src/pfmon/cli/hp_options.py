"""Options of HP's pfmon that this pfmon lacks, and their replacements (option table of pfmon 3.x)."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.errors import PfmonError, nearest_names
from pfmon.library.options.table import OPTIONS

ONE_PROCESSOR = "a program runs on one modelled processor here: leave it out"
NO_GUESTS = "no program runs in a virtual machine here: leave it out"

INSTEAD = {
    **{name: f"use --{option.long}" for option in OPTIONS.values() for name in option.hp},
    "attach-task": "the processor is modelled, and cannot take over a process that runs on another one; run the "
    "program from its start, pfmon PROGRAM, and count from where it matters: --trigger-code-start-addresses=FUNCTION",
    "cpu-mask": ONE_PROCESSOR,
    "cpu-set-relative": ONE_PROCESSOR,
    "demangle-java": "there is nothing in its place",
    "exec-split-results": "--follow-exec prints what each executed program did by itself",
    "guest-mask": NO_GUESTS,
    "host-mask": NO_GUESTS,
    "info": "use --pmu-info, and --help samples for the sampling modules",
    "no-una-detect": "no register is taken by others here: leave it out",
    "pin-command": ONE_PROCESSOR,
    "restart-wait": "the program stands still while a buffer is emptied: leave it out",
    "smpl-compact": "use --smpl-module=compact",
    "smpl-ignore-pids": "samples of a run are of one process: leave it out",
    "smpl-module-info": "use --help samples",
    "smpl-output-info": "use --help samples",
    "smpl-raw": "use --smpl-module=raw",
    "trigger-start-delay": "use --trigger-event=EVENT:N, or --trigger-code-start-addresses",
}
"""By option; those that are here by another name have it in the table."""

LETTERS = {"S": "smpl-module-info", "p": "attach-task"}
"""Options of one letter."""


def unknown(typed: str, known: Sequence[str]) -> PfmonError:
    """Return the error for an unknown option; ``known``: the existing long options."""
    name = _long_name(typed)
    if old := _old_option(name):
        return PfmonError(f"{typed}: HP's pfmon had this option, this one does not; {INSTEAD[old]}")
    near = nearest_names(name, known) if name else []
    hint = f"; nearest: {', '.join(f'--{other}' for other in near)}" if near else "; pfmon --help-all lists all"
    return PfmonError(f"unknown option {typed}{hint}")


def takes_no_program(typed: str) -> bool:
    """Whether HP's pfmon wanted no program beside this option: it attached to a running process."""
    return _old_option(_long_name(typed)) == "attach-task"


def _long_name(typed: str) -> str:
    """Return the name of a long option, "" for an unknown letter."""
    return LETTERS.get(typed[1:], "") if not typed.startswith("--") else typed[2:]


def _old_option(name: str) -> str:
    """Return the option of HP's pfmon with this name or abbreviation, "" if there is none."""
    had = [old for old in INSTEAD if name and old.startswith(name)]
    return name if name in INSTEAD else had[0] if len(had) == 1 else ""
