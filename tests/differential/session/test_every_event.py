"""Every exact event of every IA-64 PMU can be counted, and its counter holds its signal's total."""

import re

import pytest
from guests import tallied
from totals import signal_totals

from pfmon.counting._counting import Tally
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.session.run.programmed_pmu import ProgrammedPmu, RunData
from pfmon.stream._stream import BlockTable

PMUS = ("itanium", "itanium2", "montecito")


@pytest.fixture(scope="module")
def run() -> tuple[BlockTable, Tally]:
    """A finished run of epic: blocks and totals."""
    return tallied("epic")


@pytest.mark.parametrize("pmu", PMUS)
def test_every_exact_event_counts_its_signal(pmu: str, run: tuple[BlockTable, Tally]) -> None:
    table, tally = run
    model = get(pmu)
    exact = [event for event in model.events if event.fidelity == "exact"]
    assert len(exact) >= 30
    for event in exact:
        counting = ProgrammedPmu(model, Request((EventRequest(event.name),)))
        counting.take(RunData(table, tally))
        total = signal_totals([event.signal], table, tally)[event.signal]
        assert [count.value for count in counting.counts()] == [total], event.name
        assert not counting.unit.wants_machine, event.name


@pytest.mark.parametrize("pmu", PMUS)
def test_every_event_that_is_not_modelled_is_refused_with_its_reason(pmu: str) -> None:
    model = get(pmu)
    others = [event for event in model.events if event.fidelity == "unmodelled"]
    assert others
    for event in others:
        with pytest.raises(PfmonError, match=re.escape(f"{event.name} is not modelled: {event.reason}")):
            ProgrammedPmu(model, Request((EventRequest(event.name),)))
