"""--report derived: count all countable derived events of a PMU in one run, and evaluate them."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.counting.totals.countable import check_countable
from pfmon.errors import PfmonError
from pfmon.library.resolving.run_parts import Processor
from pfmon.library.results.event_counts import Counts
from pfmon.pmu.model.derived import load_derived, plan
from pfmon.pmu.model.options import event_options
from pfmon.pmu.model.pmu_model import IA64, PmuModel
from pfmon.pmu.model.request import Request
from pfmon.report.derived_report import DerivedReport, DerivedValue, FormulaNeeds
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.programmed_pmu import Value

LATENCY = "MEMORY_LATENCY"
LITTLE = "Little's law: outstanding requests summed over cycles, divided by requests, are the mean cycles of one"


def events_of_formulas(model: PmuModel) -> list[str]:
    """Return the events of all derived events that can be counted. PfmonError: the PMU has no derived events."""
    names = _countable(model)[0]
    if not names:
        raise PfmonError(f"--report=derived: {model.name} has no derived events; {', '.join(IA64)} have")
    return list(dict.fromkeys(event for name in names for event in _asked_for(model, name)))


def _countable(model: PmuModel) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the derived events that can be counted, and the others with the reason."""
    names, left_out = [], []
    for name in load_derived(model.name):
        try:
            for event in plan(model.events, [name]).events:
                check_countable(model, model.events[event.name])
        except PfmonError as error:
            left_out.append((name, str(error)))
        else:
            names.append(name)
    return names, left_out


def _asked_for(model: PmuModel, name: str) -> list[str]:
    """Return the events to count for a formula, possibly more than a PMU has counters; a formula with an opcode match
    sets the matchers for all its events, and is itself the event to count."""
    wanted = plan(model.events, [name])
    if any(wanted.opcodes):
        return [name]
    return [f"{event.name}:{event.mesi}" if event.mesi else event.name for event in wanted.events]


def derived_report(processor: Processor, counts: Counts) -> DerivedReport:
    """Return the report of a run that counted the events of `events_of_formulas`."""
    model, figures = processor.model, processor._replace(ia32=False).figures()
    counted = dict(zip(events_of_formulas(model), (count.value for count in counts), strict=True))
    values, (names, left_out) = [], _countable(model)
    for name in names:
        one, asked = load_derived(model.name)[name], _asked_for(model, name)
        value = counted[name] if asked == [name] else _computed(model, name, [counted[event] for event in asked])
        note = _latency_note(model, value, int(figures["machine.frequency"])) if name == LATENCY else ""
        needs = _needs(model, name, asked)
        values.append(DerivedValue(name, value, one.formula, one.description, one.source, needs, note))
    return DerivedReport(str(figures["machine.name"]), values, left_out)


def _computed(model: PmuModel, name: str, counts: Sequence[Value]) -> Value:
    """Return a formula's value; counts of measured events are integers."""
    return plan(model.events, [name]).compute(int(count or 0) for count in counts)[0]


def _needs(model: PmuModel, name: str, asked: Sequence[str]) -> FormulaNeeds:
    """Return the hardware that a formula needs: its events, on as many PMUs as they require."""
    wanted = plan(model.events, [name])
    events = [model.events[event.name] for event in wanted.events]
    requests = tuple(event_options(asked))
    runs = len(EventSets(model, Request(requests), unlimited=True).sets)
    return FormulaNeeds(len(events), runs, any(wanted.opcodes), all(event.fidelity == "exact" for event in events))


def _latency_note(model: PmuModel, cycles: Value, megahertz: int) -> str:
    """Return a note on the latency's derivation and its value in time (Montecito manual section 4.11.2)."""
    time = "" if cycles is None else f"{1000 * cycles / megahertz:.4g} ns at {megahertz} MHz. "
    notes = [LITTLE, *filter(None, [model.target.notes.get(LATENCY)])]
    return time + "; ".join(notes)
