"""Counts as JSON: one object a run, on one line."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pfmon.report.programming_record import Record, machine_json, programming_json
from pfmon.session.monitoring import Interval
from pfmon.session.run import Outcome
from pfmon.version import VERSION


def counts_json(
    pmu: str,
    command: Sequence[str],
    outcome: Outcome,
    intervals: Sequence[Interval] = (),
    profile: dict[str, Any] | None = None,
    report: dict[str, Any] | None = None,
    record: Record | None = None,
    notes: Sequence[str] = (),
    header: Mapping[str, str] | None = None,
) -> str:
    """Keys: pfmon (version), pmu, command, exit_status, signal, stopped (null, "timeout" or "interrupt"),
    instructions, seconds (real, user, system), events (name, pmd, plm, count, formula). A derived event has a
    formula and no pmd, a measured one a pmd and no formula (null); count is null where a formula divides by
    zero. Events of several sets have an estimate (set, share of the time, raw, true), others null there;
    intervals (null without --print-interval) are [end in nanoseconds of processor time, counts]; notes are texts: what
    of the options is not, or not exactly, in force, and ``outcome``'s; profile is null or as profile_json has it,
    report null or as cpi_json. ``record`` says how the run was set up: machine is as machine_json has it, programming
    as programming_json (both null without it). header is null, or has date, hostname and system (--with-header)."""
    return (
        json.dumps(
            {
                "pfmon": VERSION,
                "pmu": pmu,
                "command": list(command),
                "exit_status": outcome.status,
                "signal": outcome.death.signal if outcome.death else None,
                "stopped": outcome.stopped or None,
                "instructions": outcome.retired,
                "seconds": outcome.times._asdict(),
                "events": [
                    {
                        "name": count.name,
                        "pmd": count.pmd,
                        "plm": count.plm,
                        "count": count.value,
                        "formula": count.formula or None,
                        "estimate": count.estimate._asdict() if count.estimate else None,
                    }
                    for count in outcome.counts
                ],
                "intervals": list(intervals) or None,
                "header": dict(header) if header else None,
                "machine": machine_json(record.machine) if record else None,
                "programming": programming_json(record) if record else None,
                "notes": [*notes, *outcome.notes],
                "profile": profile,
                "report": report,
            }
        )
        + "\n"
    )
