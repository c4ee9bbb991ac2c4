"""Every exact event of every IA-64 PMU can be counted, and its counter holds its signal's total."""

import re

import pytest
from guests import guest, quiet

from pfmon.engine.ia64.core.processor import Processor
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.pmu.request import EventRequest, Request
from pfmon.session.counting import Counting, signal_totals
from pfmon.stream.tally import Tally

PMUS = ("itanium", "itanium2", "montecito")


@pytest.fixture(scope="module")
def run() -> tuple[Processor, Tally]:
    """A finished run of epic: blocks and totals."""
    program = guest("epic")
    tally = Tally(program.processor.shapes)
    with quiet():
        program.run(tally)
    program.close()
    return program.processor, tally


@pytest.mark.parametrize("pmu", PMUS)
def test_every_exact_event_counts_its_signal(pmu: str, run: tuple[Processor, Tally]) -> None:
    blocks, tally = run
    model = get(pmu)
    exact = [event for event in model.events if event.fidelity == "exact"]
    assert len(exact) > 30
    for event in exact:
        counting = Counting(model, Request((EventRequest(event.name),)))
        counting.take(blocks, tally)
        total = signal_totals([event.signal], blocks, tally)[event.signal]
        assert [count.value for count in counting.counts()] == [total], event.name
        assert not counting.wants_machine, event.name


@pytest.mark.parametrize("pmu", PMUS)
def test_every_event_that_is_not_modelled_is_refused_with_its_reason(pmu: str) -> None:
    model = get(pmu)
    others = [event for event in model.events if event.fidelity == "unmodelled"]
    assert others
    for event in others:
        with pytest.raises(PfmonError, match=re.escape(f"{event.name} is not modelled: {event.reason}")):
            Counting(model, Request((EventRequest(event.name),)))
