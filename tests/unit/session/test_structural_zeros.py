"""What one core with one thread, alone on its bus, cannot do is answered with 0; what two cores share is its own."""

import re

import pytest
from grids import each
from guests import tallied
from machine_runs import EXAMPLES

import pfmon
from pfmon.counting._counting import Tally
from pfmon.pmu import get
from pfmon.pmu.model.describe import event_text
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.session.run.programmed_pmu import ProgrammedPmu, RunData
from pfmon.signals.machine_signals import meanings
from pfmon.signals.signal_names import never_because
from pfmon.stream._stream import BlockTable

PMUS = ("itanium", "itanium2", "montecito")
SILENT = re.compile(
    r"_IO(_(ANY|SELF|EITHER|IO))?$"  # another agent, the port space (Montecito manual 3.2.3, table 4-37)
    r"|(?<!SI_SCB_INSERTS_)(?<!SI_SCB_SIGNOFFS_)(HITM|BUS_RD_HIT)(_IO)?$|BUS_SNOOP|SI_IOQ_COLLISIONS"  # other caches
    r"|^L2D_OZQ_CANCELS0_RECIRC$|^ER_(BKSNP_ME|REJECT_ALL)"  # recirculation, forward progress (2.3.3.2, table 4-37)
    r"|^BUS_LOCK|EXTERN_DP_PINS|_ECC_ERRORS_|^MEM_READ_CURRENT|^THREAD_SWITCH_(EVENTS_DBG|CYCLE_(?!TOTAL))"
)
"""Names of events of other agents, of IA-32 locks, pins, errors, and of what no switch of threads waits for."""

SWITCHES = re.compile("^THREAD_SWITCH_")
ANSWERS = re.compile("SI_SCB_|SNOOPQ|L[12]I_SNOOP|SI_(WAQ|CCQ)_COLLISIONS|HITM_(SELF|EITHER)$")
"""... of what another core of the processor asks, and answers."""


def matching(pmu: str, pattern: re.Pattern[str]) -> list[Event]:
    return [event for event in get(pmu).events if pattern.search(event.name)]


@pytest.fixture(scope="module")
def run() -> tuple[BlockTable, Tally]:
    return tallied("epic")


@pytest.mark.parametrize(("pmu", "least"), [("itanium", 28), ("itanium2", 53), ("montecito", 34 + 8 + 3)])
def test_what_nobody_else_is_there_to_do_is_zero_and_says_why(
    pmu: str, least: int, run: tuple[BlockTable, Tally]
) -> None:
    silent = matching(pmu, SILENT)
    assert len(silent) >= least
    for event in silent:
        assert event.fidelity == "modelled", event.name
        counting = ProgrammedPmu(get(pmu), Request((EventRequest(event.name),)))
        assert not counting.unit.wants_machine, event.name
        counting.take(RunData(*run))
        assert [count.value for count in counting.counts()] == [0], event.name
        assert f"Zero   : always; {never_because(event.signal)}" in event_text(event)


@pytest.mark.parametrize("happening", [SWITCHES, ANSWERS])
def test_one_thread_of_one_core_never_switches_and_nobody_asks_it(happening: re.Pattern[str]) -> None:
    """What a machine has to look for happens only when two threads share a core, or two cores memory."""
    names = [event.name for event in matching("montecito", happening) if not never_because(event.signal)]
    done = pfmon.run([str(EXAMPLES / "fib"), "12"], events=names, pmu="montecito", unlimited=True, capture=True)
    assert len(names) > 15
    assert {count.value for count in done.counts} == {0}


@each("event", matching("montecito", re.compile("_EITHER$")), ids=lambda event: event.name)
def test_what_either_core_does_is_what_the_one_core_does(event: Event) -> None:
    """The unit mask .EITHER counts both cores of the processor (Montecito manual section 2.1, 4.12): there is one."""
    own = get("montecito").events[event.name.replace("_EITHER", "_SELF")]
    if never_because(own.signal):
        assert never_because(event.signal) == never_because(own.signal)
    else:
        assert meanings()[event.signal] == meanings()[own.signal]


def test_what_is_not_published_stays_refused() -> None:
    refused = {event.name for event in get("itanium2").events if event.fidelity == "unmodelled"}
    assert {"L2_SYNTH_PROBE", "FP_FALSE_SIRSTALL", "BUS_OOQ_LIVE_REQ_LO"} <= refused


@pytest.mark.parametrize("pmu", PMUS)
def test_an_event_that_can_happen_does_not_say_that_it_is_zero(pmu: str) -> None:
    assert "Zero" not in event_text(get(pmu).events["CPU_CYCLES" if pmu != "montecito" else "CPU_OP_CYCLES_ALL"])
