"""The text of --verbose: requested ranges, formulas, registers, programmed ranges."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.pmu.model.derived import DerivedPlan, load_derived
from pfmon.pmu.model.describe import programming_text
from pfmon.pmu.model.pmu_model import get
from pfmon.pmu.model.programming import Programming
from pfmon.session.run.controls import Trigger


def programmed_text(said: Sequence[str], plan: DerivedPlan, programming: Programming) -> str:
    """Return the lines of the request in ``said``, then derived events, registers and breakpoint pairs."""
    lines = [*said, *_formulas(plan, programming), programming_text(programming)]
    return "".join(f"{line.rstrip(chr(10))}\n" for line in lines if line)


def monitors_text(said: Sequence[str], plan: DerivedPlan, programming: Programming) -> str:
    """Return the short form: ``said``, derived events, and each counter's event."""
    model = get(programming.pmu)
    lines = [*said, *_formulas(plan, programming)]
    lines += [f"{model.data_name(monitor.pmd)} {monitor.event.name}" for monitor in programming.monitors]
    return "".join(f"  {line}\n" for line in lines)


def _formulas(plan: DerivedPlan, programming: Programming) -> list[str]:
    return [
        f"{name} = {load_derived(programming.pmu)[name].formula}"
        for number, name in enumerate(plan.names)
        if plan.is_derived(number)
    ]


def trigger_text(triggers: Sequence[Trigger]) -> str:
    """Return a line for each trigger: its effect, kind and address."""
    accesses = {(True, True): "read-write", (True, False): "read-only", (False, True): "write-only"}
    return "".join(
        f"{'start' if one.starts else 'stop'} {'data ' + accesses[one.reads, one.writes] if one.data else 'code'} "
        f"trigger{', until the call returns' if one.whole_call else ''}{', every time' if one.repeats else ''} "
        f"@{one.address:#x} ({one.text})\n"
        for one in triggers
    )
