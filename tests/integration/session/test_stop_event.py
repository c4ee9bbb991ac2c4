"""Counting that stops when another event has happened so often: IBM's question of what happens between two of them."""

from functools import cache
from pathlib import Path

import pytest
from grids import first_quick
from host_programs import needs
from ppc_programs import PPC_ASSEMBLER, QEMU_PPC64, ppc_program

import pfmon
from pfmon.errors import PfmonError

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
COMMAND = [str(EXAMPLES / "ia64" / "hashmap"), "60"]
EVENTS = "ia64_inst_retired,loads_retired,nops_retired"

TWO_SYNCS = """
        lis 9, 0x1002
        .rept 7
        nop
        .endr
        sync
        lwz 5, 0(9)
        nop
        lwz 6, 8192(9)
        nop
        nop
        sync
        .rept 9
        lwz 7, 0(9)
        .endr
        li 0, 1
        li 3, 0
        sc
"""
BETWEEN, LOADS = 5, 2


@QEMU_PPC64
@PPC_ASSEMBLER
@pytest.mark.parametrize("pmu", first_quick(["ppc604e", "ibm1994"]))
def test_what_happens_between_two_syncs_is_one_run(pmu: str, tmp_path: Path) -> None:
    """IPCOM000113677D: how many cache misses occurred between two SYNC instructions. The second one counts, too."""
    run = pfmon.run(
        [str(ppc_program(tmp_path, TWO_SYNCS))],
        pmu=pmu,
        events="SYNC_COMPLETED,INSTRUCTIONS_COMPLETED,LOADS_COMPLETED,DCACHE_MISSES",
        unlimited=True,
        trigger_event="SYNC_COMPLETED:1",
        stop_event="SYNC_COMPLETED:1",
    )
    assert [count.value for count in run.counts] == [1, BETWEEN + 1, LOADS, LOADS]  # two lines that nobody had
    assert not run.notes


@cache
def at(event: str) -> list[int]:
    """How many instructions had retired whenever an event happened."""
    run = pfmon.run(COMMAND, events=event, long_smpl_periods=1, stdout=pfmon.DEVNULL)
    return [sample.stamp for sample in run.samples or ()]


@pytest.mark.parametrize(
    ("start", "stop"),
    [("loads_retired:3", "loads_retired:1"), ("nops_retired:50", "stores_retired:20"), ("", "loads_retired:77")],
)
def test_counts_are_those_of_between_the_events(start: str, stop: str) -> None:
    first = 0
    if start:
        event, _, times = start.partition(":")
        first = at(event)[int(times) - 1]
    event, _, times = stop.partition(":")
    last = [stamp for stamp in at(event) if stamp > first][int(times) - 1]
    options = {"trigger_event": start} if start else {}
    run = pfmon.run(COMMAND, events=EVENTS, stop_event=stop, stdout=pfmon.DEVNULL, **options)
    wanted = [sum(first < stamp <= last for stamp in at(event)) for event in EVENTS.split(",")]
    assert [count.value for count in run.counts] == wanted
    with_machine = pfmon.run(COMMAND, events=f"{EVENTS},cpu_cycles", stop_event=stop, stdout=pfmon.DEVNULL, **options)
    assert [count.value for count in with_machine.counts][:3] == wanted


@needs("qemu-x86_64")
@pytest.mark.parametrize(
    ("start", "stop"),
    [("LLC_REFERENCES:10", "LLC_REFERENCES:4"), ("BRANCH_INSTRUCTIONS_RETIRED:99", "BRANCH_MISSES_RETIRED:7")],
)
def test_events_of_the_machine_stop_at_their_instruction(start: str, stop: str) -> None:
    command = [str(EXAMPLES / "x86_64" / "sort"), "50"]
    instructions = "INSTRUCTIONS_RETIRED"

    def happened(event: str) -> list[int]:
        """Instructions before each that it happened to."""
        run = pfmon.run(command, events=[event, instructions], long_smpl_periods="1", stdout=pfmon.DEVNULL)
        return [dict(sample.pmds)[32] for sample in run.samples or ()]

    event, _, times = start.partition(":")
    of_branches = event.startswith("BRANCH_I")  # which retire when it happens
    first = happened(event)[int(times) - 1] + (not of_branches)
    event, _, times = stop.partition(":")
    last = [before + 1 for before in happened(event) if before + 1 > first][int(times) - 1]
    run = pfmon.run(command, events=instructions, trigger_event=start, stop_event=stop, stdout=pfmon.DEVNULL)
    assert run.counts[0].value == last - first


def test_event_that_never_stops_counting_is_told() -> None:
    run = pfmon.run(COMMAND, events="loads_retired", stop_event="loads_retired:123456789", stdout=pfmon.DEVNULL)
    assert any("never reached, so all counted to the end" in note for note in run.notes)


def test_stop_event_beside_addresses_that_start_is_refused() -> None:
    with pytest.raises(PfmonError, match="--stop-event counts from --trigger-event on"):
        pfmon.run(COMMAND, events="loads_retired", stop_event="loads_retired:1", trigger_code_start_addresses="main")


def test_stop_event_wants_a_number() -> None:
    with pytest.raises(PfmonError, match="--stop-event=loads_retired: EVENT:N"):
        pfmon.run(COMMAND, events="loads_retired", stop_event="loads_retired", stdout=pfmon.DEVNULL)
