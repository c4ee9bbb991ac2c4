"""pfmon: a performance-monitoring unit in software.

>>> import pfmon
>>> pfmon.pmu("montecito").events["LOADS_RETIRED"].set
'L1D:3'

`run` runs a program and counts events, `smt` runs two programs on one core; `prepare` returns a run that can be
inspected and stopped; `record` and `replay` write and count recordings, `read_samples` reads sample files, `diff`
compares two results, `check` says whether counts grew, `sweep` counts programs on many machines. See docs/library.md.
Each public name is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from pfmon.errors import AssignmentError, BadValueError, LostError, PfmonError, RuleError, UnknownNameError

if TYPE_CHECKING:
    from pfmon import pmu
    from pfmon.library.preparing.prepared_run import Prepared
    from pfmon.library.preparing.standard_streams import DEVNULL
    from pfmon.library.results.result_check import check
    from pfmon.library.results.result_files import diff
    from pfmon.library.results.run_result import Run
    from pfmon.library.results.samples import read_samples
    from pfmon.library.run_api import events, prepare, record, replay, run
    from pfmon.library.smt import smt, smt_threads
    from pfmon.library.sweep.sweep_api import sweep
    from pfmon.session.run.programmed_pmu import Count


__all__ = [
    "DEVNULL",
    "AssignmentError",
    "BadValueError",
    "Count",
    "LostError",
    "PfmonError",
    "Prepared",
    "RuleError",
    "Run",
    "UnknownNameError",
    "check",
    "diff",
    "events",
    "pmu",
    "prepare",
    "read_samples",
    "record",
    "replay",
    "run",
    "smt",
    "smt_threads",
    "sweep",
]

_HOMES = {
    "pfmon.errors": (
        "AssignmentError",
        "BadValueError",
        "LostError",
        "PfmonError",
        "RuleError",
        "UnknownNameError",
    ),
    "pfmon.library.run_api": ("events", "prepare", "record", "replay", "run"),
    "pfmon.library.preparing.standard_streams": ("DEVNULL",),
    "pfmon.library.preparing.prepared_run": ("Prepared",),
    "pfmon.library.results.result_check": ("check",),
    "pfmon.library.results.result_files": ("diff",),
    "pfmon.library.results.run_result": ("Run",),
    "pfmon.library.results.samples": ("read_samples",),
    "pfmon.library.smt": ("smt", "smt_threads"),
    "pfmon.library.sweep.sweep_api": ("sweep",),
    "pfmon.session.run.programmed_pmu": ("Count",),
}
"""Module -> its public names."""


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name == "pmu":
        return import_module("pfmon.pmu")
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'pfmon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
