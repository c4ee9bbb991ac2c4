"""Every event that is modelled is produced by something, and nothing is produced that no event counts."""

import pytest
from grids import each

from pfmon.counting.totals import system_events
from pfmon.counting.totals.cycle_records import MARKED
from pfmon.counting.totals.record_query import names
from pfmon.machine._machine import Occurrence
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import ITANIUMS
from pfmon.pmu import get
from pfmon.pmu import names as pmus
from pfmon.session.profile.cpi_stack import RATIOS
from pfmon.signals import machine_signals, signal_terms
from pfmon.stream._stream import BlockTable

FOR_TESTS = {"DTLB_FILLED", "ITLB_FILLED", "LFETCH_DROPPED", "L2_WRITE_BACK"}
"""Occurrences that no event counts."""
OF_MARKS = {name for found in MARKED.values() for name in found}
"""Occurrences of signals that architecture decides, in their cycles."""


def counted(pmu: str) -> set[str]:
    """The signals of the events that can be counted."""
    return {event.signal for event in get(pmu).events if event.fidelity != "unmodelled"}


@each("pmu", [*ITANIUMS, "intel_v1", "intel_v2", "ppc604e", "ibm1994"])
def test_every_modelled_signal_is_produced(pmu: str) -> None:
    assert counted(pmu) - signal_terms.available() - set(machine_signals.meanings()) == set()


@pytest.mark.parametrize("pmu", ["intel_v2", "ppc604e", "ibm1994"])
def test_what_other_machines_say_is_an_occurrence_of_an_out_of_order_core(pmu: str) -> None:
    """Signals of the machine are shared with the Itaniums: each has to have a part that an out-of-order machine
    records, or be of cycles."""
    for signal in counted(pmu) & set(machine_signals.meanings()):
        meaning = machine_signals.meanings()[signal]
        found = machine_signals.select(signal, names("occurrence")) if meaning.kind == "occurrence" else frozenset()
        parts = {name for name, number in names("occurrence").items() if number in found}
        assert meaning.kind == "cycle" or any(part.startswith("CORE_") for part in parts), signal


def test_every_signal_of_the_machine_is_counted_by_some_event() -> None:
    used = {
        term
        for meaning in machine_signals.meanings().values()
        for term in meaning.terms
        if term in machine_signals.meanings()
    }
    used |= {signal for of_core in RATIOS.values() for ratio in of_core.values() for signal in ratio[:2]}
    used |= set(system_events.SIGNALS.values())
    everything = set().union(*map(counted, pmus()))
    assert set(machine_signals.meanings()) - everything - used == set()


def test_every_occurrence_is_part_of_some_signal_or_for_the_tests_of_its_mechanism() -> None:
    found: set[int] = set()
    for signal, meaning in machine_signals.meanings().items():
        if meaning.kind == "occurrence":
            found |= machine_signals.select(signal, names("occurrence"))
    left = {name for name, number in names("occurrence").items() if number not in found}
    assert left == {"NOTHING_HAPPENED", "OCCURRENCES", *FOR_TESTS, *OF_MARKS}
    assert len(Occurrence.__members__) > 100


@pytest.mark.parametrize("machine_name", ITANIUMS)
def test_every_level_that_a_signal_reads_is_there(machine_name: str) -> None:
    from pfmon.machine._machine import Machine

    levels = Machine(load(machine_name), BlockTable()).levels()
    wanted = {
        machine_signals.level_function(term).level
        for signal in counted(machine_name)
        if signal in machine_signals.meanings() and machine_signals.meanings()[signal].kind == "level"
        for term in machine_signals.meanings()[signal].terms
    }
    assert wanted - set(levels) == set()
